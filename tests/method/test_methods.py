"""Every system on one interface: definitions, resets, settings, honest seconds."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from dga.methods import METHODS, Batch, build_method, build_methods
from dga.methods.memo import Memo, marginal_entropy
from dga.methods.tent import Tent, collect_affine, softmax_entropy
from torch import nn

from dga.corruptions import corrupt
from dga.images import to_tensor
from dga.networks.classifier import predict_proba, preprocess
from dga.networks.models import Models
from dga.pipeline import adapt
from dga.profiles import TentConfig

SIZE = 32


@pytest.fixture(scope="module")
def x() -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    small = torch.rand(6, 3, 8, 8, generator=generator) * 2 - 1
    smooth = torch.nn.functional.interpolate(small, size=SIZE, mode="bilinear")
    return (smooth * 127.5).round() / 127.5


@pytest.fixture
def batch(tiny_models: Models, x: torch.Tensor) -> Batch:
    return Batch(tiny_models, x, range(len(x)))


@pytest.mark.parametrize("name", METHODS)
def test_every_method_answers_for_every_picture(
    tiny_models: Models, batch: Batch, name: str
) -> None:
    outcome = build_method(tiny_models, name).predict(batch)
    assert outcome.probabilities.shape == (6, 16)
    torch.testing.assert_close(outcome.probabilities.sum(1), torch.ones(6))
    assert len(outcome.seconds) == len(outcome.depths) == len(outcome.crossed) == 6
    assert min(outcome.seconds) > 0


def test_guided_method_agrees_with_the_pipeline(tiny_models: Models, batch: Batch) -> None:
    """One picture through ``adapt`` and a batch on the bench: same t*, same answer."""
    outcome = build_method(tiny_models, "dga-guided").predict(batch)
    for i in range(len(batch)):
        pixels = ((batch.x[i] + 1) * 127.5).round().byte().movedim(0, -1).numpy()
        run = adapt(tiny_models, pixels, seed=i)
        assert outcome.depths[i] == run.t_star
        assert outcome.crossed[i] == run.stop.crossed
        top = run.reconstructions["dga-guided"].prediction
        label = tiny_models.profile.classifier.classes[int(outcome.probabilities[i].argmax())]
        assert label == top.label


def test_ensemble_averages_probabilities(tiny_models: Models, batch: Batch) -> None:
    p = {n: build_method(tiny_models, n).predict(batch).probabilities
         for n in ("source", "dda", "dda-ensemble")}  # fmt: skip
    torch.testing.assert_close(p["dda-ensemble"], (p["source"] + p["dda"]) / 2)
    assert not torch.allclose(p["dda"], p["source"])


def test_shared_work_is_charged_to_everyone_who_uses_it(tiny_models: Models, batch: Batch) -> None:
    method = build_method(tiny_models, "dga-guided:depth=7")
    first, second = method.predict(batch), method.predict(batch)
    assert second.depths == [7] * 6
    for early, late in zip(first.seconds, second.seconds, strict=True):
        assert late > early / 2


def test_fixed_depth_zero_is_source_only(tiny_models: Models, batch: Batch) -> None:
    zero = build_method(tiny_models, "dga:depth=0").predict(batch)
    source = build_method(tiny_models, "source").predict(batch)
    assert torch.equal(zero.probabilities, source.probabilities)


def test_curves_are_judged_only_as_deep_as_the_rule_may_go(
    tiny_models: Models, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dga.methods import batch as module

    seen: list[int] = []
    real = module.curve

    def counted(schedule, network, states):  # type: ignore[no-untyped-def]
        seen.append(len(states))
        return real(schedule, network, states)

    monkeypatch.setattr(module, "curve", counted)
    for name in ("dga:max_depth=9", "dga-guided:max_depth=4", "dga:tau=0.2:max_depth=7"):
        build_method(tiny_models, name).predict(batch)
    assert seen == [10] * 6


def test_a_horizon_leaves_hopeless_pictures_alone(tiny_models: Models, batch: Batch) -> None:
    left = build_method(tiny_models, "dga-guided:tau=0:max_depth=4:horizon=30").predict(batch)
    gone = build_method(tiny_models, "dga-guided:tau=0:max_depth=4:horizon=none").predict(batch)
    assert left.depths == [0] * 6
    assert gone.depths == [4] * 6
    assert not any(left.crossed)
    assert not any(gone.crossed)
    source = build_method(tiny_models, "source").predict(batch)
    assert torch.equal(left.probabilities, source.probabilities)


def test_settings_change_one_thing(tiny_models: Models) -> None:
    plain = build_method(tiny_models, "dga-guided").settings
    changed = build_method(tiny_models, "dga-guided:tau=0.3:scale=3:squared=true").settings
    assert changed.stopping == dataclasses.replace(plain.stopping, tau=0.3)
    together = build_method(tiny_models, "dga-plus:permute=noise:batch=4").settings
    assert (together.permute, together.batch) == ("noise", 4)  # either alone is refused
    assert changed.guidance == dataclasses.replace(plain.guidance, scale=3.0, squared=True)
    assert build_method(tiny_models, "dga:depth=8").settings.depth == 8


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("magic", "Unknown method 'magic'. Known: source, tent, memo"),
        ("dga:speed=3", "Unknown setting speed=3. This method's settings: depth, tau"),
        ("dga:scale=3", "Unknown setting scale=3"),
        ("source:tau=1", "settings: none"),
        ("dga:tau", "look like dga:tau=0.3"),
        ("dga:tau=high", "'high' is no value for the setting tau"),
        ("dga-plus:permute=magic", "'magic' is no value"),
        ("dga:depth=101", "between 0 and 100"),
        ("dga:tau=1.5", "tau is a number from 0 to 1"),
    ],
)
def test_bad_specs_say_what_is_allowed(tiny_models: Models, spec: str, words: str) -> None:
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        build_methods(tiny_models, [spec])
    with pytest.raises(ValueError, match="No method was named"):
        build_methods(tiny_models, [])


def test_tent_changes_only_its_copy_and_resets_to_the_bit(
    tiny_models: Models, batch: Batch
) -> None:
    before = {k: v.clone() for k, v in tiny_models.classifier.state_dict().items()}
    tent = Tent(tiny_models, TentConfig(lr=0.5, batch=6))
    fresh = {k: v.clone() for k, v in tent.model.state_dict().items()}
    first = tent.predict(batch).probabilities
    second = tent.predict(batch).probabilities
    assert not torch.equal(first, second)
    tent.reset()
    assert all(torch.equal(fresh[k], v) for k, v in tent.model.state_dict().items())
    assert torch.equal(tent.predict(batch).probabilities, first)
    after = tiny_models.classifier.state_dict()
    assert all(torch.equal(before[k], after[k]) for k in before)


def test_tent_trains_norms_alone_on_batch_statistics(tiny_models: Models, batch: Batch) -> None:
    tent = Tent(tiny_models, TentConfig(batch=6))
    trainable = {n for n, p in tent.model.named_parameters() if p.requires_grad}
    norms = {n for n, m in tent.model.named_modules() if isinstance(m, nn.BatchNorm2d)}
    assert {n.rsplit(".", 1)[0] for n in trainable} == norms
    p = tent.predict(batch).probabilities
    reference = Tent(tiny_models, TentConfig(batch=6)).model
    for module in reference.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.train()
    with torch.no_grad():
        logits = reference(preprocess(batch.x, tiny_models.profile.classifier))
    torch.testing.assert_close(p, logits.softmax(1))


def test_tent_lowers_entropy(tiny_models: Models, batch: Batch) -> None:
    tent = Tent(tiny_models, TentConfig(lr=0.05, batch=6))
    entropy = [float(softmax_entropy(tent.predict(batch).probabilities.log()).mean())
               for _ in range(8)]  # fmt: skip
    assert entropy[-1] < entropy[0]


def test_tent_refuses_a_model_without_norms() -> None:
    with pytest.raises(ValueError, match="norm layers"):
        collect_affine(nn.Sequential(nn.Flatten(), nn.Linear(3, 2)))


def test_tent_keeps_layer_norm_models_in_evaluation() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.Dropout(0.5)).train()
    assert len(collect_affine(model)) == 2
    assert not any(module.training for module in model.modules())


def test_memo_adapts_to_one_picture_and_forgets(tiny_models: Models, batch: Batch) -> None:
    settings = dataclasses.replace(tiny_models.profile.memo, views=4, lr=0.5)
    memo = Memo(tiny_models, settings)
    before = {k: v.clone() for k, v in memo.model.state_dict().items()}
    whole = memo.predict(batch).probabilities
    assert all(torch.equal(before[k], v) for k, v in memo.model.state_dict().items())
    alone = Batch(tiny_models, batch.x[3:4], [3])
    assert torch.equal(memo.predict(alone).probabilities[0], whole[3])
    source = predict_proba(tiny_models.classifier, batch.x, tiny_models.profile.classifier)
    assert not torch.allclose(whole, source)


def test_memo_steps_down_the_marginal_entropy(tiny_models: Models, batch: Batch) -> None:
    settings = dataclasses.replace(tiny_models.profile.memo, views=8, lr=0.05)
    memo = Memo(tiny_models, settings)
    views = memo.views(batch.x[0], seed=1)
    assert views.shape == (8, 3, SIZE, SIZE)
    assert torch.equal(views, memo.views(batch.x[0], seed=1))
    with torch.no_grad():
        start = marginal_entropy(memo.model(views))
    memo._adapt(views)
    with torch.no_grad():
        assert marginal_entropy(memo.model(views)) < start


def test_marginal_entropy_of_known_rows() -> None:
    sure = torch.tensor([[50.0, 0.0], [0.0, 50.0]])
    torch.testing.assert_close(marginal_entropy(sure), torch.tensor(2.0).log())
    assert marginal_entropy(sure[:1]) < 1e-6


def test_corrupted_and_shared_noise(tiny_models: Models, x: torch.Tensor) -> None:
    """A picture's answer does not depend on its company."""
    pixels = ((x[0] + 1) * 127.5).round().byte().movedim(0, -1).numpy()
    noisy = to_tensor(corrupt(pixels, "gaussian_noise", 3, seed=4))
    alone = Batch(tiny_models, noisy[None], [4])
    together = Batch(tiny_models, torch.cat([x, noisy[None]]), [9, 8, 7, 6, 5, 3, 4])
    for name in ("dga", "dga-guided", "dda", "diffpure"):
        a = build_method(tiny_models, name).predict(alone)
        b = build_method(tiny_models, name).predict(together)
        assert a.depths[0] == b.depths[-1]
        torch.testing.assert_close(a.probabilities[0], b.probabilities[-1], atol=1e-4, rtol=0)

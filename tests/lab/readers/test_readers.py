"""What systems answer for pictures that arrive together, and the readers that adapt."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

from dga.answers import Answer
from dga.images import to_tensor
from dga.lab.readers.memo import Memo
from dga.lab.readers.runner import answer, create_runners
from dga.lab.readers.systems import MemoConfig, TentConfig, parse, systems
from dga.lab.readers.tent import Tent
from dga.networks.classifier import predict_proba, preprocess
from dga.networks.models import Models
from dga.profiles import EVERYDAY16
from tests.fixtures.runs import column, counted

PAIRS = ("dga-plus+tent:batch=6", "dga-guided+memo:views=2", "dga-plus:permute=noise:batch=3")
ALL = (*systems(EVERYDAY16), *PAIRS)


@pytest.fixture(scope="module")
def x(pictures: np.ndarray) -> Tensor:
    return to_tensor(pictures)


def answers(
    models: Models, x: Tensor, *texts: str, seeds: Sequence[int] = (3, 4, 5, 6, 7, 8)
) -> dict[str, list[Answer]]:
    runners = create_runners(models, texts)
    return answer(runners, x, seeds)


@pytest.fixture(scope="module")
def together(choosy_models: Models, x: Tensor) -> dict[str, list[Answer]]:
    """What all systems answer beside each other."""
    return answers(choosy_models, x, *ALL)


@pytest.mark.parametrize("text", ALL)
def test_every_system_answers_for_every_picture(choosy_models, x, together, text):
    """Alone as beside others; without a reader that adapts, in any order."""
    told, beside = answers(choosy_models, x, text)[text], together[text]
    probabilities, depths = column(told, "probabilities"), column(told, "depth")
    assert probabilities.shape == (6, 16)
    torch.testing.assert_close(probabilities.sum(1), torch.ones(6))
    assert min(column(told, "seconds")) > 0
    system = parse(choosy_models.profile, text)
    assert (told[0].picture is None) == (system.repair is None and text != "denoise")
    assert bool(told[0].details) == ("plus" in text or text == "denoise")
    assert column(beside, "depth") == depths
    torch.testing.assert_close(column(beside, "probabilities"), probabilities, atol=1e-4, rtol=0)
    if not system.batch:
        other = answers(choosy_models, x.flip(0), text, seeds=(8, 7, 6, 5, 4, 3))[text]
        assert column(other, "depth") == depths[::-1]
        flipped = column(other, "probabilities").flip(0)
        torch.testing.assert_close(flipped, probabilities, atol=1e-4, rtol=0)


def test_a_denoiser_takes_noise_out(choosy_models, x):
    noisy = 0.3 * torch.randn(x.shape, generator=torch.manual_seed(0)).clamp(-3, 3)
    denoised = column(answers(choosy_models, noisy, "denoise")["denoise"], "picture")
    assert denoised.std() < 0.5 * noisy.std()


def test_what_systems_share_is_done_once(choosy_models, x):
    models = counted(choosy_models)
    answers(models, x, "dda")
    alone = models.denoiser.shown
    several = "dda", "dda-ensemble:share=0.3", "dda+tent:batch=6", "source", "tent:batch=6"
    told = answers(models, x, *several)
    assert models.denoiser.shown == 2 * alone
    assert models.discriminator.shown == 0
    assert list(told) == [*several]
    read = {name: column(answers, "probabilities") for name, answers in told.items()}
    mean = 0.3 * read["source"] + 0.7 * read["dda"]
    torch.testing.assert_close(read["dda-ensemble:share=0.3"], mean)
    (surer,) = answers(models, x, "dda-ensemble:trust=1e6").values()
    both = [read[name] for name in ("source", "dda")]
    least = min(both, key=lambda p: float(torch.special.entr(p).sum()))
    assert torch.equal(column(surer, "probabilities"), least)


@pytest.mark.parametrize("what", ["noise", "depth", "explanation"])
def test_pictures_exchange_what_was_found(choosy_models, x, what):
    """In a fixed order that is no picture's own; nothing else of the run is changed."""
    text = f"dga-plus:permute={what}:batch=6"
    own, permuted = answers(choosy_models, x, "dga-plus", text).values()
    again = answers(choosy_models, x, "dga-plus", text)[text]
    assert torch.equal(column(permuted, "picture"), column(again, "picture"))
    assert not torch.equal(column(permuted, "picture"), column(own, "picture"))
    beside = answers(choosy_models, x, f"dga:permute={what}:batch=6", text)[text]
    assert column(beside, "depth") == column(permuted, "depth")  # no other repair's
    order = torch.randperm(6, generator=torch.Generator().manual_seed(0)).tolist()

    def entries(answers: Sequence[Answer]) -> list[int]:
        return [one.details["entry"] for one in answers]

    def damages(answers: Sequence[Answer], is_whole: bool = True) -> list[str]:
        texts = [one.details["degradation"] for one in answers]
        return texts if is_whole else [t.split("noise")[0].strip(", ") or "none" for t in texts]

    theirs = [own[j] for j in order]
    if what == "depth":  # that is, what lies beyond one's own entry
        beyond = [own[j].depth - own[j].details["entry"] if own[j].depth else 0 for j in order]
        expected = [entry + more for entry, more in zip(entries(own), beyond, strict=True)]
        assert column(permuted, "depth") == expected
        assert damages(permuted) == damages(own)
    else:
        assert column(permuted, "depth") == [own[j].depth for j in order]
        assert entries(permuted) == entries(theirs)
    if what == "explanation":
        assert damages(permuted) == damages(theirs)
    if what == "noise":
        assert damages(permuted, False) == damages(own, False)


# Tent


def test_tent_changes_only_its_copy_and_resets_to_the_bit(tiny_models, x):
    before = {k: v.clone() for k, v in tiny_models.classifier.state_dict().items()}
    tent = Tent(tiny_models, TentConfig(lr=0.5, batch=6))
    fresh = {k: v.clone() for k, v in tent.model.state_dict().items()}
    first, second = tent.read(x, ()), tent.read(x, ())
    assert not torch.equal(first, second)
    tent.reset()
    assert all(torch.equal(fresh[k], v) for k, v in tent.model.state_dict().items())
    assert torch.equal(tent.read(x, ()), first)
    after = tiny_models.classifier.state_dict()
    assert all(torch.equal(before[k], after[k]) for k in before)


def test_tent_trains_norms_alone_on_batch_statistics(tiny_models, x):
    tent, reference = (Tent(tiny_models, TentConfig(lr=0.05, batch=6)) for _ in range(2))
    trainable = {n for n, p in tent.model.named_parameters() if p.requires_grad}
    norms = {n: m for n, m in reference.model.named_modules() if isinstance(m, nn.BatchNorm2d)}
    assert {n.rsplit(".", 1)[0] for n in trainable} == norms.keys()
    p = tent.read(x, ())
    for norm in norms.values():
        norm.train()
    with torch.no_grad():
        logits = reference.model(preprocess(x, tiny_models.profile.classifier))
    torch.testing.assert_close(p, logits.softmax(1))
    entropy = [float(Categorical(tent.read(x, ())).entropy().mean()) for _ in range(8)]
    assert entropy[-1] < entropy[0]


def test_a_pair_shows_its_reader_what_was_repaired_first(choosy_models, x):
    text = "dga-plus+tent:batch=6:lr=0.5:trust=0"
    told = answers(choosy_models, x, text)[text]
    tent = Tent(choosy_models, TentConfig(lr=0.5, batch=6))
    each = [tent.read(shown, ()) for shown in (column(told, "picture"), x)]
    torch.testing.assert_close(column(told, "probabilities"), (each[0] + each[1]) / 2)
    runners = create_runners(choosy_models, [text])
    for _ in range(2):
        again = column(answer(runners, x, range(3, 9))[text], "probabilities")
    assert not torch.equal(again, column(told, "probabilities"))  # it learned
    runners[text].reset()
    again = column(answer(runners, x, range(3, 9))[text], "probabilities")
    assert torch.equal(again, column(told, "probabilities"))


def test_tent_refuses_a_model_without_norms(tiny_models):
    without = nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 16))
    models = dataclasses.replace(tiny_models, classifier=without)
    for text in ("tent", "dga+tent"):
        with pytest.raises(ValueError, match="norm layers"):
            create_runners(models, [text])


# MEMO


def test_memo_adapts_to_one_picture_and_forgets(tiny_models, x):
    memo = Memo(tiny_models, MemoConfig(views=4, lr=0.5, min_area=0.4))
    before = {k: v.clone() for k, v in memo.model.state_dict().items()}
    whole = memo.read(x, range(6))
    assert all(torch.equal(before[k], v) for k, v in memo.model.state_dict().items())
    assert torch.equal(memo.read(x[3:4], [3])[0], whole[3])
    source = predict_proba(tiny_models.classifier, x, tiny_models.profile.classifier)
    assert not torch.allclose(whole, source)

"""The drop-in classifier and the repaired picture alone."""

import copy
import dataclasses
import threading
from collections.abc import Callable
from unittest import mock

import numpy as np
import pytest
import skimage.data
import torch
from PIL import Image
from torch import Tensor, nn

import dga
from dga.adapted_classifier import AdaptedClassifier, resize_to_square
from dga.images import to_pixels, to_square, to_tensor
from dga.lab.readers.runner import SystemRunner, answer
from dga.lab.readers.systems import parse
from dga.networks.unet import ConditionalDenoiser
from dga.photograph import content_seed, repair
from tests.fixtures.models import TINY_NETWORK
from tests.fixtures.runs import column

SIZE = 32
SPECS = ("source", "dga-guided:tau=0.6", "dga-plus")


@pytest.fixture(scope="module")
def x(pictures: np.ndarray) -> Tensor:
    """Six pictures, ``[6, 3, 32, 32]`` in [0, 1]."""
    return torch.tensor(pictures).movedim(-1, 1) / 255


def pixels_of(x: Tensor) -> np.ndarray:
    return (x * 255).round().byte().movedim(1, -1).numpy()


@pytest.mark.parametrize("spec", SPECS)
def test_it_is_the_method(choosy_models, x, spec):
    model = AdaptedClassifier(choosy_models, spec)
    logits = model(x)
    pixels = pixels_of(x)
    runners = {spec: SystemRunner(choosy_models, parse(choosy_models.profile, spec))}
    expected = answer(runners, to_tensor(pixels), list(map(content_seed, pixels)))[spec]
    torch.testing.assert_close(logits, column(expected, "probabilities").log())
    assert len(model.last) == len(x)
    for name in ("depth", "is_crossed"):
        assert column(model.last, name) == column(expected, name)
    assert not logits.requires_grad
    assert not any(module.training for module in model.train().modules())


def test_order_and_batches_do_not_matter(choosy_models, x):
    """Also of more pictures than are repaired at once."""
    model = AdaptedClassifier(choosy_models, "dga-guided:tau=0.6")
    whole, depths = model(x), column(model.last, "depth")
    assert max(depths) > 0
    many = model(x.flip(0).repeat(3, 1, 1, 1))
    torch.testing.assert_close(many, whole.flip(0).repeat(3, 1), atol=1e-4, rtol=0)
    assert column(model.last, "depth") == 3 * depths[::-1]


def test_other_sizes_are_read_as_files_are(choosy_models, cat):
    model = AdaptedClassifier(choosy_models, "source")
    large = np.concatenate([cat, cat[:, :16]], axis=1)  # 64 by 80
    small = to_pixels(to_square(Image.fromarray(large), SIZE))
    one, other = (
        model(torch.tensor(pixels)[None].movedim(-1, 1) / 255) for pixels in (large, small)
    )
    assert torch.equal(one, other)


class Own(nn.Module):
    """A classifier of somebody's own, with its own preprocessing and three classes."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Upsample(48), nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.LazyLinear(3)
        )

    def forward(self, x: Tensor) -> Tensor:
        self.shown = x
        return self.layers(x - 0.5)


class Answering(nn.Module):
    """A user's module; remembers what it was shown."""

    def __init__(self, answer: Callable[[Tensor], object]) -> None:
        super().__init__()
        self.answer = answer

    def forward(self, x: Tensor) -> object:
        self.shown = x
        return self.answer(x)


def test_any_module_can_be_the_classifier(choosy_models, x):
    own = Own()
    own(x)  # the lazy layer takes its shape
    model = AdaptedClassifier(choosy_models, "dga-guided:tau=0.6", classifier=own)
    log_probabilities = model(x)
    seen = own.shown  # what the method made of the pictures, in [0, 1]
    torch.testing.assert_close(seen, (column(model.last, "picture") + 1) / 2)
    expected = AdaptedClassifier(choosy_models, "dga-guided:tau=0.6")
    expected(x)
    assert torch.equal(column(model.last, "picture"), column(expected.last, "picture"))
    with torch.no_grad():
        torch.testing.assert_close(log_probabilities, own.eval()(seen).log_softmax(1))


def test_the_callers_module_keeps_its_mode(choosy_models, x):
    """Also where parts of it are frozen, and where it fails; it answers in evaluation mode."""
    own = Own()
    own(x)
    own.layers[2].eval()
    modes = [module.training for module in own.modules()]
    model = AdaptedClassifier(choosy_models, "source", own)
    first = model.train()(x)
    mean = own.layers[2].running_mean.clone()
    assert [module.training for module in own.modules()] == modes
    own.layers[2].train()
    assert torch.equal(model(x), first)
    assert torch.equal(own.layers[2].running_mean, mean)
    own.layers[4] = nn.Identity()
    own.layers[3] = nn.Unflatten(1, (5, 5))
    with pytest.raises(RuntimeError):
        model(x)
    assert own.layers[2].training


def test_threads_may_share_a_module_that_learns(choosy_models, x):
    """No thread ends the other's evaluation mode, and neither leaves it behind."""
    first_has_begun, second_has_begun = threading.Event(), threading.Event()
    modes = list[bool]()

    def answer(x: Tensor) -> Tensor:
        if threading.current_thread() is first:
            first_has_begun.set()
            second_has_begun.wait(0.3)  # in vain, where it has to wait for the first
        else:
            second_has_begun.set()
            first.join(10)
        modes.append(module.training)
        return 9 * x.mean((2, 3))

    module = Answering(answer).train()
    model = AdaptedClassifier(choosy_models, "source", module)
    first, second = (threading.Thread(target=model, args=(x,)) for _ in range(2))
    first.start()
    assert first_has_begun.wait(30)
    second.start()
    for thread in (first, second):
        thread.join(30)
    assert modes == [False, False]
    assert module.training


def test_a_module_may_have_any_precision(choosy_models, x):
    own = Own()
    own(x)
    expected = AdaptedClassifier(choosy_models, "source", own)(x)
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        said = AdaptedClassifier(choosy_models, "source", copy.deepcopy(own).to(dtype))(x)
        assert said.dtype == torch.float32
        torch.testing.assert_close(said, expected, atol=0.03, rtol=0)


def test_no_pictures_have_no_answers(choosy_models, x):
    for model in (
        AdaptedClassifier(choosy_models),
        AdaptedClassifier(choosy_models, "source", lambda x: 9 * x.mean((2, 3))),
        AdaptedClassifier(choosy_models, "dga-plus", lambda x: 9 * x.mean((2, 3)), size=80),
    ):
        classes = model(x[:1]).shape[1]
        assert model(x[:0]).shape == (0, classes)
        assert model.last == []


def test_several_labels_have_a_probability_each(choosy_models, x):
    """Of logits by their sigmoid; as they are where the classifier has done that itself."""
    scale = torch.tensor([-9.0, 3.0, 0.5, 7.0, -1.0, 2.0])
    logits = Answering(lambda x: x.mean((2, 3)).repeat(1, 2) * scale)
    x = x[::4]  # what DGA+ leaves alone
    expected = logits(x).sigmoid()
    for spec in ("source", "dga-plus-ensemble:share=0.3"):
        said = AdaptedClassifier(choosy_models, spec, logits, activation="sigmoid")(x)
        torch.testing.assert_close(said.exp(), expected, atol=0.05, rtol=0)
    shares = nn.Sequential(logits, nn.Sigmoid())
    said = AdaptedClassifier(choosy_models, "source", shares, activation="none")(x)
    torch.testing.assert_close(said.exp(), expected, atol=0.01, rtol=0)
    one = AdaptedClassifier(choosy_models, "source", lambda x: logits(x)[:, :1] - 1,
                            activation="sigmoid")  # fmt: skip
    assert one(x).shape == (len(x), 1)


def test_a_sigmoid_is_not_taken_for_logits(choosy_models, x):
    logits = Answering(lambda x: x.mean((2, 3)).repeat(1, 2) - 0.5)
    shares = nn.Sequential(logits, nn.Sigmoid())
    for activation in ("softmax", "sigmoid"):
        with pytest.raises(ValueError, match=r'activation="none"'):
            AdaptedClassifier(choosy_models, "source", shares, activation=activation)(x)
    with pytest.raises(ValueError, match="no probabilities"):
        AdaptedClassifier(choosy_models, "source", logits, activation="none")(x)
    with pytest.warns(UserWarning, match="as a sigmoid does"):  # may be logits by chance
        AdaptedClassifier(choosy_models, "source", lambda x: shares(x)[:, :3])(x)


def test_it_is_where_its_parameters_are(choosy_models, x):
    """The denoiser that sees the picture as well."""
    conditional = ConditionalDenoiser(TINY_NETWORK)
    models = dataclasses.replace(copy.deepcopy(choosy_models), conditional=conditional)
    model = AdaptedClassifier(models, "dga-plus")
    before = model(x)
    assert torch.equal(model.to("cpu")(x), before)
    assert model.to("meta").models.device == torch.device("meta")
    assert all(parameter.is_meta for parameter in conditional.parameters())
    with pytest.raises(ValueError, match="precision is chosen as they are loaded"):
        model.half()


BAD_PIXELS = [
    (lambda x: x[0], "of shape \\[B, 3, H, W\\]"),
    (lambda x: x[..., :0], "of shape \\[B, 3, H, W\\]"),
    (lambda x: (x * 255).byte(), "are floats"),
    (lambda x: x * 2 - 1, "in \\[0, 1\\], not from -1 to .*normalises them itself"),
    (lambda x: x * 255, "in \\[0, 1\\], not from 0 to 255"),
    (lambda x: x * float("nan"), "in \\[0, 1\\], not from nan"),
]
BAD_OPTIONS = [
    ({"method": "tent"}, "Unknown method 'tent'. Known: source"),
    ({"classifier": "resnet50"}, "module or a function .*, not a str"),
    ({"classifier": Own(), "activation": "relu"}, "Choose one of: softmax, sigmoid, none"),
    ({"activation": "sigmoid"}, "of your own: name one"),
]
BAD_MODULES = [
    (lambda x: x.mean((1, 2, 3))[:, None], "two classes"),
    (lambda x: x.mean((1, 2, 3)), "one row a picture"),
    (lambda x: x.mean((2, 3)).softmax(1), "probabilities"),
    (lambda x: {"logits": x.mean((2, 3))}, "dict"),
    (lambda x: (x.mean((2, 3)), None), "tuple"),
    (lambda x: x.mean((2, 3))[:1], "one row a picture"),
]


@pytest.mark.parametrize(("options", "words"), BAD_OPTIONS)
def test_what_cannot_be_is_said_before_any_picture(choosy_models, options, words):
    with pytest.raises(ValueError, match=words) as caught:
        AdaptedClassifier(choosy_models, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "classifier", "words"),
    [
        *((change, None, words) for change, words in BAD_PIXELS),
        *((lambda x: x, Answering(forward), words) for forward, words in BAD_MODULES),
    ],
)
def test_what_cannot_be_is_one_sentence(choosy_models, x, change, classifier, words):
    model = AdaptedClassifier(choosy_models, "source", classifier)
    with pytest.raises(ValueError, match=words) as caught:
        model(change(x))
    assert "\n" not in str(caught.value)


# The repaired picture alone


def test_repaired_pictures_are_of_the_kind_that_was_given(choosy_models, x):
    pixels = pixels_of(x)[1]
    model = AdaptedClassifier(choosy_models)
    model(x[1:2])
    array = repair(pixels, choosy_models)
    assert torch.equal(to_tensor(array), model.last[0].picture)
    picture = repair(Image.fromarray(pixels), choosy_models)
    assert isinstance(picture, Image.Image)
    assert np.array_equal(to_pixels(picture), array)


def test_what_is_wrong_is_said_before_models_are_loaded(cat):
    with mock.patch("dga.photograph.load_default_models", side_effect=AssertionError):
        for wrong in (cat / 255, cat[..., 0], cat[:0], [1, 2]):
            with pytest.raises(ValueError, match="A picture is"):
                repair(wrong)
    with (
        mock.patch("dga.adapted_classifier.load_models", side_effect=AssertionError),
        pytest.raises(ValueError, match="Unknown method 'magic'"),
    ):
        AdaptedClassifier(method="magic")


def test_the_shipped_models_are_the_usual_ones(cat):
    assert dga.repair(Image.fromarray(cat)).size == (64, 64)
    large = dga.to_pixels(dga.to_square(Image.fromarray(skimage.data.chelsea()), 224))
    probabilities = dga.AdaptedClassifier()(torch.tensor(large)[None].movedim(-1, 1) / 255).exp()
    classes = dga.get_profile("photo").classifier.classes
    assert "cat" in classes[int(probabilities.argmax())]


# A classifier of another size


def test_a_classifier_of_another_size_gets_pictures_of_its_size(choosy_models, cat):
    own, x = Answering(lambda x: 9 * x[:, :, 0, 0]), torch.tensor(cat)[None].movedim(-1, 1) / 255
    model = AdaptedClassifier(choosy_models, classifier=own, size=80)
    said = model(x)
    assert own.shown.shape == (1, 3, 80, 80)
    large = resize_to_square(cat[None], 80)
    photograph = dga.repair_photograph(choosy_models, large[0])
    assert [answer.is_crossed for answer in model.last] == [photograph.is_crossed]
    repaired = photograph.image
    assert np.array_equal(pixels_of(own.shown)[0], repaired)
    torch.testing.assert_close(said.exp(), own(to_tensor(repaired)[None] / 2 + 0.5).softmax(1))
    with pytest.raises(ValueError, match="At another size than 32 pixels dga-plus repairs"):
        AdaptedClassifier(choosy_models, "dga-guided", own, size=80)

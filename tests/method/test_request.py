"""What ``python -m dga adapt`` is asked for, checked before any model is loaded."""

import pytest

from dga.diffusion import ANCESTRAL
from dga.profiles import EVERYDAY16, IMAGENET, PROFILES
from dga.request import Request, choose_routes
from dga.sampling import FewSteps


def asked(profile=EVERYDAY16, **changes):
    return Request.of(profile, **({"severity": 3, "seed": 0} | changes))


@pytest.mark.parametrize("profile", PROFILES)
def test_nothing_asked_for_is_the_profile(profile):
    usual = PROFILES[profile]
    plain = asked(usual)
    assert plain.stopping(usual) == usual.stopping
    assert plain.routes(usual)[1].guidance == usual.guidance


def test_settings_reach_the_rule_and_the_guidance():
    request = asked(tau=0.3, paths=4, max_depth=30, scale=2.5)
    stopping = request.stopping(EVERYDAY16)
    assert (stopping.tau, stopping.paths, stopping.max_depth) == (0.3, 4, 30)
    assert stopping.horizon == EVERYDAY16.stopping.horizon
    scales = {route.name: route.guidance and route.guidance.scale
              for route in request.routes(EVERYDAY16)}  # fmt: skip
    own = {"dda": EVERYDAY16.dda_guidance.scale, "dga-plus": None}
    assert scales == {"dga": None, "dga-guided": 2.5} | own


def test_the_horizon_is_never_the_shallower():
    deepest = EVERYDAY16.schedule.steps
    assert asked(max_depth=deepest).stopping(EVERYDAY16).horizon == deepest
    assert (
        asked(IMAGENET, max_depth=deepest).stopping(IMAGENET).horizon is IMAGENET.stopping.horizon
    )


@pytest.mark.parametrize(
    ("changes", "allowed"),
    [
        ({"max_depth": 0}, "from 1 to 100, not 0"),
        ({"max_depth": 101}, "from 1 to 100, not 101"),
        ({"paths": 0}, "whole numbers from 1 up"),
        ({"scale": -1.0}, "from 0 up, not -1.0"),
        ({"scale": float("inf")}, "from 0 up, not inf"),
        ({"scale": float("nan")}, "from 0 up, not nan"),
        ({"tau": 1.5}, "from 0 to 1|between 0 and 1|tau"),
    ],
)
def test_bad_settings_name_what_is_allowed(changes, allowed):
    with pytest.raises(ValueError, match=allowed):
        asked(**changes)


def test_named_routes_and_their_steps():
    known = asked(scale=2.5).known_routes(EVERYDAY16)
    names = ["dga", "dga-guided", "dda"]
    ancestral = [f"{name}-ancestral" for name in names]
    assert [route.name for route in known] == [*names, "dga-plus", *ancestral]
    assert [route.guidance.scale for route in known if route.name.startswith("dga-guided")] == [
        2.5,
        2.5,
    ]
    (plain,) = choose_routes(known, ["dga-guided"])
    assert plain == known[1]
    (other,) = choose_routes(known, ["dga-guided"], 4, 0.5, True)
    assert (other.sampler, other.guidance.through_network) == (FewSteps(4, 0.5), True)
    every, free = choose_routes(known, ["dda", "dga"], "all")
    assert every.sampler == free.sampler == ANCESTRAL
    assert (every.guidance, free.guidance) == (EVERYDAY16.dda_guidance, None)
    (published,) = choose_routes(known, ["dda-ancestral"])
    assert published.guidance == EVERYDAY16.ancestral_guidance
    with pytest.raises(ValueError, match="dga-ancestral"):
        choose_routes(known, ["dga-full"])


def test_dga_plus_takes_the_same_options():
    known = asked().known_routes(EVERYDAY16)
    (plain,) = choose_routes(known, ["dga-plus"])
    assert plain.plus == EVERYDAY16.plus
    (other,) = choose_routes(known, ["dga-plus"], 4, 0.5, True)
    assert (other.plus.steps, other.plus.eta) == (4, 0.5)
    assert other.plus.guidance.through_network
    (every,) = choose_routes(known, ["dga-plus"], "all")
    assert every.plus.steps == EVERYDAY16.plus.stopping.max_depth

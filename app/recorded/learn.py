"""``python -m app.recorded.learn``: compute what page Learn shows, on photographs that ship."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dga
from app.recorded.store import FOLDER, write_recording
from app.runs.damage import damage_photo
from app.runs.pictures import to_data_url
from app.runs.samples import SAMPLES
from app.runs.sentences import describe_damage
from app.runs.settings import NONE, parse_settings
from app.runs.subject import read_pictures
from dga import adaptation, pipeline
from dga.images import Pixels, from_tensor
from dga.networks.models import Models, load_models
from dga.stopping import choose_depth, compute_confidence
from dga.systems import require_repair, systems

MAIN, GAME, REBUILT = "panda gaussian_noise 5", "panda shot_noise 2", "espresso glass_blur 2"
REPAIR_CASE = "goldfish shot_noise 4"
COMPARISONS = ("panda contrast 4", "panda gaussian_noise 5", "goldfish glass_blur 5")
FAILS = ("volleyball defocus_blur 5", "goldfish elastic_transform 3", "volleyball shot_noise 5")
ROUNDS, DEPTHS = (0, 4, 8, 12, 18, 24, 48), (0, 2, 4, 8, 12, 18, 24, 36, 48)
SYSTEMS = {"plus": "dga-plus", "paper": "dga", "fixed": "dda"}
QUALITY, NOISY = 76, 32  # of the pictures as WebP
Facts = dict[str, Any]


class Recorder:
    """Records the steps, each by a method of its own."""

    def __init__(self, models: Models) -> None:
        self.models = models

    def damage(self, case: str) -> Pixels:
        """The picture of a case."""
        photo, damage, strength = case.split()
        settings = parse_settings({"damage": damage, "strength": strength})
        return damage_photo(SAMPLES[photo].pixels(self.models.profile), settings)

    def read(self, pixels: Pixels, truth: str) -> Facts:
        (reading,) = read_pictures(self.models, pixels)
        return reading | {
            "image": to_data_url(pixels, quality=QUALITY),
            "is_right": reading["label"] == truth,
        }

    def compare(self, case: str, *names: str) -> Facts:
        """A case undamaged, damaged, and as some methods repair it."""
        photo, kind, severity = case.split()
        truth, pixels = SAMPLES[photo].label, self.damage(case)
        record: Facts = {"damage": kind, "strength": int(severity), "truth": truth}
        record["damaged"] = self.read(pixels, truth)
        record["original"] = self.read(self.damage(f"{photo} {NONE} 1"), truth)
        for name in names:
            run = dga.adapt(self.models, pixels, 0, [systems(self.models.profile)[SYSTEMS[name]]])
            record[name] = self.read(run.reconstructions[SYSTEMS[name]].image, truth)
            if run.plus:
                record["found"] = describe_damage(run.plus.start.explanation.degradation)
        return record

    def strengthen(self) -> Facts:
        """The first case at every strength."""
        record = self.compare(MAIN)
        cases = (f"{MAIN[:-1]}{strength}" for strength in range(1, 6))
        strengths = [self.read(self.damage(case), record["truth"]) for case in cases]
        return record | {"strengths": strengths}

    def judge(self, case: str, seed: int) -> tuple[pipeline.ForwardProcess, Facts]:
        """A case on its way into noise; the confidence at every depth, and where it stops."""
        x = adaptation.to_picture_tensor(self.models, self.damage(case))
        rule = self.models.profile.stopping
        process = pipeline.ForwardProcess(self.models, x, seed)
        path = process.path(pipeline.NO_EXPLANATION)
        list(path.judge(DEPTHS[-1] + 1))
        confidence, stop = compute_confidence(path.logits), choose_depth(path.logits, rule)
        facts = {"tau": rule.tau, "stop": stop.t_star, "is_crossed": stop.is_crossed}
        return process, facts | {"confidence": confidence.round(4).tolist()}

    def draw(self, process: pipeline.ForwardProcess, depth: int) -> str:
        state = process.path(pipeline.NO_EXPLANATION).forward_path.at(depth)
        return to_data_url(from_tensor(state), quality=NOISY if depth > 4 else QUALITY)

    def play(self) -> Facts:
        """Pairs at growing noise: undamaged and damaged, and how sure the network is of each."""
        pair = [self.judge(case, seed) for seed, case in enumerate((f"panda {NONE} 1", GAME))]
        rounds = []
        for depth in ROUNDS:
            sure = [facts["confidence"][depth] for _, facts in pair]
            images = [self.draw(process, depth) for process, _ in pair]
            rounds.append({"depth": depth, "images": images, "sure": sure})
        return {"rounds": rounds, "stop": pair[1][1]["stop"]}

    def rebuild(self) -> Facts:
        """The paper's methods from a number of depths, with the confidence on the way."""
        record, (process, facts) = self.compare(REBUILT), self.judge(REBUILT, 0)
        depths = sorted({*DEPTHS, facts["stop"]})
        states = {depth: {"depth": depth, "state": self.draw(process, depth)} for depth in depths}
        for name, system in (("free", "dga"), ("guided", "dga-guided")):
            repair = require_repair(systems(self.models.profile)[system])
            ways = {repair.with_depth(depth): depth for depth in depths}
            for event in pipeline.run(self.models, [process], list(ways)):
                if isinstance(event, pipeline.RepairResult):
                    image = from_tensor(event.image)
                    states[ways[event.start.repair]][name] = self.read(image, record["truth"])
        return record | facts | {"depths": [*states.values()]}


STEPS: dict[str, Callable[[Recorder], Any]] = {
    "trouble": Recorder.strengthen,
    "ours": lambda recorder: recorder.compare(REPAIR_CASE, "plus"),
    "compare": lambda recorder: [recorder.compare(case, *SYSTEMS) for case in COMPARISONS],
    "fails": lambda recorder: [recorder.compare(case, "plus") for case in FAILS],
    "game": Recorder.play,
    "noise": Recorder.rebuild,
}

if __name__ == "__main__":
    recorder = Recorder(load_models("photo"))
    for name, make in STEPS.items():
        write_recording(FOLDER.parent / "learn" / f"{name}.json", make(recorder))

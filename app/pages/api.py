"""The endpoints for programs, ``/adapt`` and ``/repair``, which are tools for assistants.

What goes wrong in them becomes a sentence where every function is called (``StrictBlocks``).
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr
from gradio.components.api_component import Api

from app.parts.pictures import encoded, picture_input
from app.runs.damage import NONE, Damage
from app.runs.photo import Photo, repair
from app.runs.session import Session
from app.runs.settings import check_settings
from app.runs.watch import News
from app.server.decoder import read_photograph
from app.server.upload_folder import kept
from app.words.common import NO_CORRUPTION
from dga.corruptions import CORRUPTIONS
from dga.images import Pixels
from dga.pipeline import Adaptation
from dga.record import to_record

PICTURES = ("corrupted", "x_t_star", "dga", "dga_guided", "dda", "dga_plus")
NOTHING_YET = (None,) * (1 + len(PICTURES))


def adapt_endpoint(session: Session, concurrency_id: str) -> None:
    """Add ``/adapt`` to the Blocks being built."""

    def adapt_image(
        picture: str | None, corruption: Any, severity: Any, tau: Any, seed: Any, dda_depth: Any
    ) -> Iterator[tuple[Any, ...]]:
        """Repair one damaged picture; the same arguments give the same result.

        The picture is cropped to a square and resized to the profile's size before anything is
        done to it. Noise goes in step by step until the discriminator, the network that looks for
        damage, no longer finds any (depth t*), then a diffusion model rebuilds it. DGA+ first
        undoes simple damage that the discriminator recognises, and noises only what is left.

        Args:
            picture: The picture, any common format up to 20 MB.
            corruption: What to damage it with first; none for one that is damaged already.
            severity: Of the corruption, 1 to 5.
            tau: The discriminator's threshold, from 0 to 1; a lower one stops deeper.
            seed: Fixes the corruption and all the noise.
            dda_depth: The fixed depth of the rival DDA.

        Returns:
            a JSON record of t_star, crossed and the confidence of damage by depth
            in it of every picture the depth, steps, seconds and five labels with probabilities
            what DGA+ found, in a sentence and in numbers, with the score of every candidate
            then the damaged picture, the one noised to t* and those of DGA, DGA + G, DDA and DGA+
        """  # Gradio joins the lines of Returns with commas.
        run: News | None = None
        settings = check_settings(session.profile, corruption, severity, tau, seed, dda_depth)
        subject = session.subject(picture, settings)
        with contextlib.closing(session.events(subject.input, settings)) as events:
            for event in events:
                run = event
                yield NOTHING_YET  # here the run ends if its caller has gone
        assert isinstance(run, Adaptation)
        clean = subject.clean_prediction
        record = to_record(run) | {"clean": clean and clean.top(5)}
        rebuilt = (result.image for result in run.reconstructions.values())
        yield record, *map(_written, (run.input, run.search.x_t_star, *rebuilt))

    inputs = [picture_input(label="picture", visible=False), *_parameters(session)]
    with gr.Row(visible=False):
        pictures = [gr.Image(label=name) for name in PICTURES]
        record = gr.JSON(label="record")
        _offer("adapt", adapt_image, inputs, [record, *pictures], concurrency_id)


def repair_endpoint(session: Session, concurrency_id: str) -> None:
    """Add ``/repair`` to the Blocks being built."""

    def repair_photo(picture: str | None) -> Iterator[tuple[Any, Any]]:
        """Repair a photograph at its own size, each place from a noising depth of its own.

        Up to one megapixel; a larger one is reduced to that. What needs no repair comes back
        pixel by pixel, and the same photograph gives the same result.

        Args:
            picture: The photograph, any common format up to 20 MB.

        Returns:
            a JSON record of its size, what was found, the depths and the seconds
            then the repaired photograph
        """
        pixels, _ = read_photograph(picture)
        photo = Photo("", pixels, Damage(NONE))
        with contextlib.closing(repair(session, photo)) as events:
            for _ in events:
                yield None, None  # here the run ends if its caller has gone
        assert photo.result is not None
        yield photo.result.facts(), _written(photo.result.image)

    with gr.Row(visible=False):
        given = picture_input(label="picture", visible=False)
        record = gr.JSON(label="record")
        repaired = gr.Image(label="repaired")
        _offer("repair", repair_photo, [given], [record, repaired], concurrency_id)


def _offer(
    name: str, work: Callable[..., Any], inputs: list[Any], outputs: list[Any], line: str
) -> None:
    turn: dict[str, Any] = {"concurrency_id": line, "concurrency_limit": 1}
    gr.Button(name).click(work, inputs, outputs, api_name=name, **turn)


def _written(pixels: Pixels) -> str:
    """Path of a PNG; Gradio's own would be cut short while an equal result is written."""
    return kept(io.BytesIO(encoded(pixels, "PNG")), "image.png")


def _parameters(session: Session) -> list[Api]:
    """Taken as they come, so that a wrong one meets our sentence and not a stack trace."""
    profile = session.profile
    choices: dict[str, Any] = {"enum": [NO_CORRUPTION, *CORRUPTIONS]}
    depths = {"type": "integer", "description": f"1 to {profile.schedule.steps}"}
    return [
        Api(NO_CORRUPTION, choices, "corruption"),
        Api(3, {"type": "integer", "description": "1 to 5"}, "severity"),
        Api(profile.stopping.tau, {"type": "number", "description": "from 0 to 1"}, "tau"),
        Api(0, {"type": "integer", "description": "0 to 2147483647"}, "seed"),
        Api(profile.dda_depth, depths, "dda_depth"),
    ]

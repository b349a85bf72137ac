"""What surrounds every page: head, header with the links between pages, foot, styles and scripts.

A page is HTML that is made once, when the server starts; its scripts ask for what is computed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

APP = Path(__file__).parent.parent
STATIC = APP / "static"
LINKS = (  # name, address
    ("Repair", ""),
    ("Inside", "#inside"),
    ("All 15", "all-15"),
    ("Results", "results"),
    ("Learn", "learn"),
)
DESCRIPTIONS = {
    "gaussian_noise": "the same everywhere, as in the dark",
    "shot_noise": "stronger where it is bright, as in photos taken in dim light",
    "impulse_noise": "single pixels wrong, like dead ones",
    "defocus_blur": "the lens was out of focus",
    "glass_blur": "seen through frosted glass",
    "motion_blur": "the camera moved",
    "zoom_blur": "zoomed while it was taken",
    "snow": "it snows",
    "frost": "ice on the lens",
    "fog": "haze between camera and thing",
    "brightness": "too much light",
    "contrast": "light and dark hardly differ",
    "elastic_transform": "bent, as by waves",
    "pixelate": "few large pixels",
    "jpeg_compression": "saved too small",
}
"""What is wrong with a photo that has such a damage, in a few words."""
TITLES = {
    "plus": "Our repair: find it, then undo it",
    "paper": "The paper's method (2026): noise until a detector is unsure",
    "fixed": "Fixed noise (2023): the same for every photo",
}
SHORT_NAMES = {key: re.split(r" \(|:", name)[0] for key, name in TITLES.items()}
SPACE = os.environ.get("SPACE_ID")  # whose files are public
FOLDER = f"a clone of https://huggingface.co/spaces/{SPACE}" if SPACE else "the folder with app.py"
SNIPPET = f"""\
# pip install .  (in {FOLDER})
import dga
from PIL import Image
from torch import nn
from torchvision import models, transforms as T

model = models.resnet50(weights="DEFAULT")  # or yours
mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
model = nn.Sequential(T.Normalize(mean, std), model)
model = dga.AdaptedClassifier(classifier=model, size=224)
photo = Image.open("photo.jpg").convert("RGB").resize((224, 224))
pixels = T.ToTensor()(photo)[None]  # [B, 3, 224, 224] in [0, 1]
log_probabilities = model(pixels)"""
"""How a program puts the repair before its own classifier."""
CLASSIFIER = "EfficientNet-Lite0"  # of the profile photo
_environment = Environment(
    loader=FileSystemLoader(APP / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


@dataclass(frozen=True)
class Page:
    """``path``: its address, "" for the first; ``title``: of the browser's tab; ``main``: HTML.

    ``data``: what its script reads with ``data()``, in JSON types. Style and script lie in
    ``app/static`` under its ``name``.
    """

    path: str
    title: str
    description: str
    main: str
    data: Mapping[str, Any]

    @property
    def name(self) -> str:
        """As its files and the class of its body are called."""
        return self.path or "repair"


def render(template: str, **values: Any) -> Markup:
    """A template of ``app/templates``, as HTML that is not escaped again."""
    return Markup(_environment.get_template(template).render(**values))


def to_json(value: Any) -> Markup:
    """JSON that may stand inside of a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))


def render_page(page: Page) -> str:
    """The whole document; links in it are relative to ``[[base]]``, which the server fills in."""
    files = f"files/{digest()}"
    return render("layout.html", page=page, links=LINKS, files=files, json=to_json, space=SPACE)


@cache
def digest() -> str:
    """Digest of all static files: part of their address, so browsers may keep them for a year."""
    content = hashlib.sha256()
    for path in sorted(STATIC.rglob("*")):
        if path.is_file():
            content.update(path.name.encode() + path.read_bytes())
    return content.hexdigest()[:16]

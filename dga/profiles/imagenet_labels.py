"""Names of ImageNet's 1,000 classes, short and all different."""

from collections import Counter
from functools import cache
from importlib.util import find_spec
from pathlib import Path

# WordNet calls two classes "crane" and has no other word for them. Its word for the third,
# "nipple", would be misread.
PLAIN_LABELS = {
    "n02012849": "crane (bird)", "n03126707": "crane (machine)", "n03825788": "bottle teat",
}  # fmt: skip


@cache
def read_imagenet_labels() -> dict[str, str]:
    """Read the label of each class by its WordNet id, in the order of the classifiers' outputs.

    A label is the first name of the class, or all of its names where two classes share the first.
    They are read from timm's own tables, without importing timm. Raises ``OSError`` where these
    tables are missing.
    """
    spec = find_spec("timm")
    if spec is None or not spec.submodule_search_locations:
        raise OSError("timm is not installed: pip install -r requirements.txt")
    tables = Path(spec.submodule_search_locations[0]) / "data" / "_info"
    synsets = (tables / "imagenet_synsets.txt").read_text("utf-8").split()
    lemmas = (tables / "imagenet_synset_to_lemma.txt").read_text("utf-8").splitlines()
    names = dict(line.split("\t") for line in lemmas)
    first_names = {synset: names[synset].split(",")[0] for synset in synsets}
    counts = Counter(name.lower() for name in first_names.values())
    labels = {
        synset: name if counts[name.lower()] == 1 else names[synset]
        for synset, name in first_names.items()
    }
    return labels | PLAIN_LABELS

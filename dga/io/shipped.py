"""The folders that ship with the code: weights, results, recorded runs, scripts."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The folder that holds the packages ``dga`` and ``app``: a checkout, or a ``site-packages``."""


def find_shipped_folder(folder: str) -> Path:
    """Find a folder that ships with the code, such as ``assets/weights``.

    An installation has ``assets`` inside of ``dga``. Raises ``FileNotFoundError`` where the folder
    is missing.
    """
    for base in (ROOT / "dga", ROOT):
        if (base / folder).is_dir():
            return base / folder
    raise FileNotFoundError(
        f"The folder {folder} is missing in {ROOT}: restore it from the repository, "
        "or install the package again."
    )

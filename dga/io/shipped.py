"""The folders that ship with the code: weights, results, recorded runs, scripts."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The folder of the packages ``dga`` and ``app``: a checkout, or an environment's packages."""


def find_shipped_folder(folder: str) -> Path:
    """The path of ``folder``, such as ``assets/weights``.

    An installation keeps ``assets`` inside ``dga``. Raises ``FileNotFoundError`` where it is
    missing.
    """
    for base in (ROOT / "dga", ROOT):
        if (base / folder).is_dir():
            return base / folder
    raise FileNotFoundError(
        f"The folder {folder} is missing in {ROOT}: restore it from the repository, "
        "or install the package again."
    )

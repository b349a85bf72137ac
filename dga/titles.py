"""What methods and corruptions are called, on the page and in tables and figures."""

from dga.corruptions import CORRUPTIONS

# The systems of the paper's Table 1, in its order, and ours; of a pair the reader adapts.
SYSTEMS = {
    "source": "Nothing done",
    "tent": "Tent",
    "memo": "MEMO",
    "denoise": "Denoiser",
    "diffpure": "DiffPure",
    "dda": "DDA",
    "dga": "DGA",
    "dga-guided": "DGA + G",
    "dga-plus": "DGA+",
    "dga-plus+tent": "DGA+ and Tent",
}
# Clean pictures and all severities mixed.
STREAMS = {
    "wild": "Wild stream",
    "sorted": "Wild stream sorted by label",
    "single": "Wild stream one picture at a time",
}
# What the halves of the validation photographs were for.
SPLITS = {"report": "never used for tuning", "tune": "used for tuning"}


def title(corruption: str) -> str:
    """A corruption or a family with a capital: Motion blur, Weather."""
    words = corruption.replace("_", " ").replace("jpeg", "JPEG")
    return words[0].upper() + words[1:]


def short(corruption: str) -> str:
    """One word where it tells the fifteen apart: Gaussian, JPEG, Fog."""
    words = title(corruption)
    return words.split()[0] if corruption in CORRUPTIONS else words

"""t-SNE of the frozen classifier's features: clean pictures and one family a panel."""

import numpy as np
from numpy.typing import NDArray

from dga.analysis.names import group_title
from dga.analysis.results import JudgeRun, MissingRun
from dga.corruptions import CLEAN, FAMILIES
from dga.figures.chart import Axis, Chart, Panel, Series, rounded
from dga.figures.palette import FAMILY, NEUTRAL
from dga.titles import short

PHOTOGRAPHS = 60


def embed(features: NDArray[np.float32]) -> NDArray[np.float32]:
    """t-SNE ``[N, 2]`` of ``[N, F]`` (van der Maaten and Hinton, 2008), scikit-learn's.

    On one thread, so that the same features give the same bits.
    """
    # Slow to import, and needed for this figure alone.
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    perplexity = min(30.0, (len(features) - 1) / 3)
    with threadpool_limits(1):
        tsne = TSNE(perplexity=perplexity, init="pca", random_state=0, n_jobs=1)
        return np.asarray(tsne.fit_transform(features), np.float32)


def feature_map(judge: JudgeRun) -> Chart:
    """One embedding of clean and corrupted pictures, in four panels.

    The same photographs, evenly drawn, stand under every corruption. Raises
    :class:`MissingRun` for a judge run without features.
    """
    if judge.features is None:
        raise MissingRun(f"{judge.name} has no features.npz")
    if len(judge.paths) < 4:
        raise MissingRun(f"{judge.name} has fewer than 4 pictures")
    count = min(PHOTOGRAPHS, len(judge.paths))
    drawn = np.linspace(0, len(judge.paths) - 1, count).round().astype(int)
    chosen = judge.features[:, drawn]
    points = embed(chosen.reshape(-1, chosen.shape[-1])).reshape(*chosen.shape[:2], 2)
    edge = 1.05 * float(np.abs(points).max())
    where = dict(zip(judge.corruptions, points, strict=True))
    axis = Axis(limits=(-round(edge, 1), round(edge, 1)), bare=True)
    panels = []
    for family, members in FAMILIES.items():
        clouds = [_cloud(where[n], n, FAMILY[family]) for n in members if n in where]
        clean = _cloud(where[CLEAN], CLEAN, NEUTRAL)
        panels.append(Panel((clean, *clouds), axis, axis, group_title(family)))
    return Chart(
        "features",
        "t-SNE of the classifier's features by family",
        f"{count} photographs, clean (hollow grey) and under each corruption; where a family lies "
        "apart from the clean ones the classifier sees another world. Distances between far "
        "clusters mean nothing.",
        tuple(panels),
        columns=2,
        height=170,
        commands=(judge.command,),
    )


def _cloud(points: NDArray[np.float32], name: str, color: str) -> Series:
    """The pictures under one corruption; clean ones hollow."""
    return Series(
        "points",
        rounded(points[:, 0], 1),
        rounded(points[:, 1], 1),
        color,
        name=short(name),
        open=name == CLEAN,
        size=5,
        opacity=0.7,
    )

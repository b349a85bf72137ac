"""t-SNE of the frozen classifier's features: clean pictures and one family a panel."""

import numpy as np
from numpy.typing import NDArray

from dga.analysis.names import group_title
from dga.analysis.saved_runs import JudgeRun, MissingRun
from dga.corruptions import CLEAN, FAMILIES
from dga.figures.panels import FAMILY, NEUTRAL, Plot, create_panels, styled

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


@styled
def draw_features(judge: JudgeRun) -> Plot:
    """One embedding of clean and corrupted pictures, in four panels.

    The same photographs, evenly drawn, stand under every corruption. Raises
    :class:`MissingRun` for a judge run without features.
    """
    if judge.features is None:
        raise MissingRun(f"{judge.name} has no features.npz")
    if len(judge.paths) < 4:
        raise MissingRun(f"{judge.name} has fewer than 4 pictures")
    count = min(PHOTOGRAPHS, len(judge.paths))
    photographs = np.linspace(0, len(judge.paths) - 1, count).round().astype(int)
    features = judge.features[:, photographs]
    points = embed(features.reshape(-1, features.shape[-1])).reshape(*features.shape[:2], 2)
    clouds = dict(zip(judge.corruptions, points, strict=True))
    title = "t-SNE of the classifier's features by family"
    figure, panels = create_panels(title, len(FAMILIES))
    for axes, (family, names) in zip(panels, FAMILIES.items(), strict=True):
        axes.plot(*clouds[CLEAN].T, "o", color=NEUTRAL, mfc="white", markersize=4, alpha=0.7)
        for name in names:
            if name in clouds:
                axes.plot(*clouds[name].T, "o", color=FAMILY[family], markersize=4, alpha=0.7)
        axes.set(title=group_title(family), xticks=[], yticks=[])
    return Plot(
        title,
        f"{count} photographs, clean (hollow grey) and under each corruption; where a family lies "
        "apart from the clean ones the classifier sees another world. Distances between far "
        "clusters mean nothing.",
        figure,
        (judge.command,),
    )

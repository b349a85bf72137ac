"""What damaged a picture: simple inverses, from which the discriminator chooses. Ours, not the
paper's.

:mod:`~dga.explanation.search` explains a picture of the discriminator's own size,
:mod:`~dga.explanation.photograph_search` a larger one.

The constants of each module are its limits. Where no figure stands beside one, it was chosen by
hand on the photographs of ``tune`` (trials: assets/results/photo/README.md), unless the module says
otherwise.
"""

"""What damaged a picture: each kind of damage is measured, and undone. Ours, not the paper's.

:mod:`~dga.explanation.search` looks for them in their order, and asks the discriminator.

The constants of each module are its limits. Where no figure stands beside one, it was chosen by
hand on the photographs of ``tune`` (trials: assets/results/photo/README.md), unless the module says
otherwise.
"""

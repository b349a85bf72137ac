"""What damaged a picture: simple inverses, from which the discriminator chooses. Ours, not the
paper's.

:mod:`~dga.explanation.search` explains a picture of the discriminator's own size,
:mod:`~dga.explanation.photograph_search` a larger one.
"""

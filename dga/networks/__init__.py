"""The frozen networks of a profile: shapes, kernels, loading, and where they run."""

import warnings

with warnings.catch_warnings():  # of its decorators, at the first import
    warnings.simplefilter("ignore", FutureWarning)
    import guided_diffusion.unet  # noqa: F401

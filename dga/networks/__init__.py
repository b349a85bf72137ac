"""The frozen networks of a profile: shapes, kernels, loading, and where they run."""

import warnings

with warnings.catch_warnings():  # the package's decorators warn at the first import
    warnings.simplefilter("ignore", FutureWarning)
    import guided_diffusion.unet  # noqa: F401

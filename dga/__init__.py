"""Discriminator-Guided Adaptive Diffusion: repair corrupted pictures with frozen networks.

>>> import dga
>>> from PIL import Image
>>> models = dga.load_models("everyday16")
>>> picture = dga.to_pixels(dga.to_square(Image.open("photo.jpg"), 64))
>>> noisy = dga.corrupt(picture, "gaussian_noise", severity=3, seed=0)
>>> run = dga.adapt(models, noisy, seed=0)
>>> run.t_star, run.reconstructions["dga-guided"].prediction.label
"""

import lazy_loader

__version__ = "0.1.0"

# The names of __init__.pyi are imported on first use, so that reading a picture does not wait for
# torch.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

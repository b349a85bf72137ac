"""Labelled pictures for training and for measuring: sets, splits, ImageNet-C."""

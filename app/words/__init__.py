"""Sentences of the pages, scripts included.

Those of page Learn are in ``app/pages/learn/steps.py``, names of methods and corruptions in
``dga/titles.py``.
"""

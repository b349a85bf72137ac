"""Results as figures: each described once, drawn by plotly and by matplotlib.

Reads records, never a network.
"""

"""The laboratory: training and measuring. The library never imports it."""

"""Colours that hold on white, also for colour-blind readers: Okabe and Ito's families."""

INK = "#161A23"
WORDS = "#4E5566"
NEUTRAL = "#767D8C"
GRID = "#DFE2E9"
ACCENT = "#D64A8A"
FAMILY = {"noise": "#D55E00", "blur": "#0072B2", "weather": "#009E73", "digital": "#CC79A7"}
# A family's corruptions share its colour and differ in these.
DASHES = ("-", (0, (4, 2)), (0, (1, 1.5)), (0, (4, 1.5, 1, 1.5)), (0, (8, 2)))

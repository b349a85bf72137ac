"""What the page Try it says of a run besides the sentences of :mod:`dga.sentences`."""

from __future__ import annotations

PROGRESS = {
    "forward": "Noise in, {done} of {total}",
    "paths": "Noise in, try {path} of {paths}: {done} of {total}",
    "reverse": "{method}: noise out, {done} of {total}",
    "explaining": "DGA+ looks for the damage, {done} tried",
    "every": "{method} from every depth, {done} of {total}",
}
UNKNOWN = "At τ {tau} it would stop at depth {t}; what comes out there has not been computed."
AS_IT_CAME = "as it came"
DAMAGE = "{corruption}, severity {severity}"
AS_IT_IS = "as it is"
CANCELLED = "Stopped: {words}. What exists stays."
NOTICES = {
    "busy": "Others are being served, so nothing is repaired while you choose: press Repair it.",
    "slow": "This machine is too slow to repair while you choose: press Repair it.",
    "nothing": "There is no finished run of yours to look further into: press Repair it.",
}

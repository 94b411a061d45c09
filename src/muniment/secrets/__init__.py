"""Keeping credentials, card numbers and identity numbers out of everything that is stored.

`scan` finds them in a text, `redact` replaces those that may not be stored, and `scan_json`
and `redact_json` do the same for keys and values of metadata. All are pure functions.

Promised: vendors' published key shapes, numbers with a check digit and secrets named as such
in Chinese or English are found whatever stands beside them, in full-width letters and with
invisible characters between. Not promised: a secret nobody names and no shape gives away,
look-alike letters of other scripts, digits spelled out, and anything encoded.
"""

from muniment.secrets.findings import Finding, Grade, PathFinding
from muniment.secrets.screen import Digest, redact, scan
from muniment.secrets.tree import TooLarge, redact_json, scan_json

__all__ = [
    "Digest",
    "Finding",
    "Grade",
    "PathFinding",
    "TooLarge",
    "redact",
    "redact_json",
    "scan",
    "scan_json",
]

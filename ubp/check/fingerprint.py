"""What names a finding in every run: its rule, page and subject, and which of the equal ones it is.

No line, no column, no id of a source and no text beside it: the name survives edits that move the
finding, merges, and further drift of the same source. It changes with the page's path, with the
path, target or anchor that the page writes, and for the later ones of several equal findings in one
page when an earlier one is put right. Unique in a run.
"""

from collections import Counter
from collections.abc import Iterable

from ubp.check.finding import Finding

# Half of SHA-256: nobody forges these, and 128 bits never meet by chance.
LENGTH = 32


def fingerprint(one: Finding) -> str:
    """The finding's name: 32 hexadecimal digits."""
    from hashlib import sha256

    key = "\0".join([one.rule, one.filepath, one.subject, str(one.occurrence)])
    return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:LENGTH]


def number(findings: Iterable[Finding]) -> list[Finding]:
    """Put findings in the order of pages and places, and number those that are equal."""
    seen: Counter[tuple[str, str, str]] = Counter()
    numbered = []
    for one in sorted(findings, key=lambda f: (f.filepath, f.line, f.column or 0, f.rule)):
        key = one.rule, one.filepath, one.subject
        seen[key] += 1
        numbered.append(one._replace(occurrence=seen[key]))
    return numbered

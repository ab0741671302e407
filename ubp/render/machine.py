r"""JSON for other programs: nothing that their parsers refuse, nothing that a terminal obeys.

A file's name may hold bytes that are not UTF-8. JSON cannot: readers in Go and Ruby refuse half a
surrogate, and with it the whole report. In texts and paths such a byte is written as `\xff`; in
addresses (`uri_of`) it is percent-encoded, and nothing is lost.
"""

import os
import re
from typing import Any
from urllib.parse import quote

from ubp.model import FilePath
from ubp.render.wording import printable

# Legal in JSON, but better seen than obeyed; `json` has escaped what is below U+0020.
_OBEYED = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def machine_json(value: Any) -> str:
    """A value as indented JSON, ending with a newline; it holds no half of a surrogate."""
    import json

    text = json.dumps(value, ensure_ascii=False, indent=2)
    return _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"


def is_text(text: str) -> bool:
    """Whether JSON can hold it as it is."""
    return not _SURROGATE.search(text)


def path_of(path: FilePath) -> str:
    """A path as it is, but for bytes that are no UTF-8."""
    return _SURROGATE.sub(lambda match: printable(match[0]), path)


def uri_of(path: FilePath) -> str:
    """A path as a relative address, percent-encoded byte for byte."""
    try:
        data = os.fsencode(path)
    except UnicodeEncodeError:  # no path of Git's: half a surrogate
        data = path.encode("utf-8", "surrogatepass")
    return quote(data, safe="/")

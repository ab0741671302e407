"""The names in a page's code, however long its lines are."""

import time

import pytest

from ubp.markdown.code_names import read_code_names

LONG = "f" * 100_000


@pytest.mark.parametrize(
    "text",
    [
        f"---\nsource_refs: [src/a.py#{LONG}]\n---\n`maxSize`\n",
        f"`src/a.py#{LONG}` and `maxSize`\n",
        f"```python\nsrc/a.py#{LONG}\nmaxSize\n```\n",
        f"`{'.' * 100_000}/` and `maxSize`\n",
    ],
    ids=["front matter", "inline", "block", "dots"],
)
def test_long_line_is_read_in_linear_time_and_hides_no_other_name(text):
    started = time.process_time()
    assert "maxSize" in [name.text for name in read_code_names(text.encode()).names]
    assert time.process_time() - started < 2

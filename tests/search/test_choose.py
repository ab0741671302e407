"""Of a long section the parts that answer are shown, with what belongs to them."""

import os
import subprocess
import sys

from ubp.search.choose import GAP, choose_parts, find_parts
from ubp.search.terms import Term

SECTION = """## Options

The first paragraph is about nothing that anybody asks, but it has many words in it.

- `--quiet`: prints less than usual, for scripts and for people who like it calm
- `--retries N`: repeats a failed request at most N times
- `--verbose`: prints more than usual, for those who look for the cause of an error

To repeat a request without a limit, run:

```console
$ tool fetch --retries forever
```

| variable | meaning |
| --- | --- |
| `TOOL_HOME` | folder of the cache |
| `TOOL_RETRIES` | number of repeated requests |

The last paragraph is about something else, and has many other words in it, too.
"""
WEIGHTS = {Term("retries"): 2.0, Term("repeat", is_stemmed=True): 1.0}


def test_short_text_and_text_without_the_terms_are_whole():
    assert choose_parts(SECTION, WEIGHTS, 1000).text == SECTION
    assert choose_parts(SECTION, {Term("absent"): 1.0}, 30).text == SECTION
    assert choose_parts(SECTION, {}, 30).text == SECTION


def test_best_parts_are_chosen_in_order_with_gaps():
    chosen = choose_parts(SECTION, WEIGHTS, 60)
    assert "--retries N" in chosen.text
    assert "first paragraph" not in chosen.text
    assert chosen.text.startswith("## Options\n" + GAP)


def test_best_part_is_shown_below_the_heading_even_if_it_alone_is_too_long():
    for tokens in range(1, 20):
        text = choose_parts(SECTION, {Term("forever"): 1.0}, tokens).text
        assert text.startswith(f"## Options\n{GAP}\nTo repeat a request without a limit, run:")


def test_code_is_never_apart_from_the_sentence_that_introduces_it():
    for tokens in range(10, 120, 5):
        text = choose_parts(SECTION, WEIGHTS, tokens).text
        assert ("without a limit" in text) == ("$ tool fetch --retries forever\n```" in text)


def test_head_of_a_table_is_a_part_and_each_row_one():
    lines = SECTION.split("\n")
    parts = ["\n".join(lines[part.start : part.end]).strip() for part in find_parts(lines)]
    assert "| variable | meaning |\n| --- | --- |" in parts
    assert "| `TOOL_HOME` | folder of the cache |" in parts


def test_parts_make_up_the_text():
    lines = SECTION.split("\n")
    parts = list(find_parts(lines))
    assert [line for part in parts for line in lines[part.start : part.end]] == lines


def test_lines_of_what_was_chosen_are_known():
    chosen = choose_parts(SECTION, {Term("quiet"): 1.0}, 30)
    lines = SECTION.split("\n")
    assert lines[chosen.first] == "## Options"
    assert chosen.last < len(lines) - 1


def test_chosen_parts_that_follow_each_other_are_shown_as_written():
    for tokens in range(10, 120, 5):
        chosen = choose_parts(SECTION, WEIGHTS, tokens)
        runs = chosen.text.split(f"\n{GAP}\n")
        assert all(run in SECTION for run in runs)
        first = SECTION.index(runs[0])
        last = SECTION.index(runs[-1], first) + len(runs[-1])
        assert chosen.first == SECTION.count("\n", 0, first)
        assert chosen.last == SECTION.count("\n", 0, last)


TIED = """
from ubp.search.choose import choose_parts
from ubp.search.terms import Term

words = "alpha beta gamma delta epsilon zeta".split()
weights = {Term(word): weight for word, weight in zip(words, [0.1, 0.2, 0.3] * 2)}
filler = "and much more that nobody has asked about, which makes it long " * 3
items = [f"- {' '.join(words[:3])} {filler}", f"- {filler}", f"- {filler}"]
text = "\\n".join([*items, f"- {' '.join(words[3:])} {filler}", f"- {filler}"])
print(choose_parts(text, weights, 60).first)
"""


def test_parts_that_are_equally_good_are_chosen_alike_whatever_the_hash_seed():
    found = {
        subprocess.run(
            [sys.executable, "-c", TIED],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(12)
    }
    assert found == {"0\n"}

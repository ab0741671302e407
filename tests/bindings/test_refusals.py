"""Refused bindings, written into the text of a configuration."""

import json

import pytest

from ubp.bindings.write import add_refusals
from ubp.core.config_file import load_config

NEW = [("docs/a.md", "src/x.py"), ("docs/日本.md", "src/auth/")]
LINES = (
    '{"page": "docs/a.md", "source": "src/x.py"},\n{"page": "docs/日本.md", "source": "src/auth/"}'
)


def listed(indent):
    return "\n".join(indent + line for line in LINES.split("\n"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{\n  "bind": {\n    "refused": [\n' + listed("      ") + "\n    ]\n  }\n}"),
        (
            '{\n\t"docs_dir": "docs"  \n}\n',
            '{\n\t"docs_dir": "docs",\n\t"bind": {\n\t\t"refused": [\n'
            + listed("\t\t\t")
            + "\n\t\t]\n\t}\n}\n",
        ),
        (
            '{\n    "bind": {},\n    "docs_dir": "a, {b}"\n}\n',
            '{\n    "bind": {\n        "refused": [\n'
            + listed(" " * 12)
            + '\n        ]\n    },\n    "docs_dir": "a, {b}"\n}\n',
        ),
        (
            '{"bind": {"refused": [\n  {"page": "b", "source": "c"}]}}',
            '{"bind": {"refused": [\n  {"page": "b", "source": "c"},\n' + listed("  ") + "\n]}}",
        ),
        ('{"bind": {"refused": []}}', '{"bind": {"refused": [\n' + listed("  ") + "\n]}}"),
    ],
)
@pytest.mark.parametrize(("newline", "mark"), [("\n", ""), ("\r\n", "\ufeff")])
def test_refusals_are_appended_to_existing_ones(before, after, newline, mark):
    newline = newline if "\n" in before else "\n"
    before, after = (mark + text.replace("\n", newline) for text in (before, after))
    result = add_refusals(before, NEW)
    assert result == after
    assert add_refusals(result, NEW) == result


def test_refusals_are_read_by_the_configuration(tmp_path):
    odd = ("docs/p\udce4ge.md", 'say "x".py')
    (tmp_path / "config.json").write_text(add_refusals("{}", [*NEW, odd]), encoding="utf-8")
    read = load_config(str(tmp_path))
    pairs = {*NEW[:1], ("docs/日本.md", "src/auth"), odd}
    assert (read.warnings, set(read.refused)) == ((), pairs)


def test_refusal_without_a_page_applies_to_every_page(tmp_path):
    text = add_refusals("{}", [(None, "src/x.py"), ("docs/a.md", "src/y.py")])
    assert '{"source": "src/x.py"},' in text
    (tmp_path / "config.json").write_text(text, encoding="utf-8")
    assert load_config(str(tmp_path)).refused == {(None, "src/x.py"), ("docs/a.md", "src/y.py")}


def test_refusal_that_the_configuration_cannot_express_is_not_written():
    assert add_refusals("{}", [("C:x.md", "src/a.py"), ("a.md", "../b")]) == "{}"


def test_last_of_two_duplicate_keys_wins():
    text = '{"bind": {"refused": []}, "bind": {"refused": [{"page": "a", "source": "b"}]}}'
    refused = json.loads(add_refusals(text, [("c", "d")]))["bind"]["refused"]
    assert refused == [{"page": "a", "source": "b"}, {"page": "c", "source": "d"}]

"""The documented example of the Python API: open, search, and whether a page can be trusted."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/python.md"
EXAMPLE = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]


def test_example_finds_a_page_with_its_line_and_staleness(repository, monkeypatch, capsys):
    repository.write("src/auth.py", "TTL = 3600\n")
    repository.write(
        "docs/auth.md",
        "---\ndoc_type: design\nsource_refs: [src/auth.py]\n---\n# Authentication\n\n"
        "## Tokens\n\nA token is valid for an hour.\n",
    )
    repository.write("docs/cake.md", "# A token cake\n\nHow long is it to be baked?\n")
    repository.commit()
    monkeypatch.chdir(repository.root)
    exec(compile(EXAMPLE, "example", "exec"), {})
    assert capsys.readouterr().out == ("docs/auth.md:9 0.55 fresh\nA token is valid for an hour.\n")

"""The documented Python API: open, stale, search."""

EXAMPLE = """
from ubp.workspace import Workspace

with Workspace.open(".") as workspace:
    found = workspace.search("how long is a token valid", limit=3, doc_types=["design"])
    for hit in found.answer.pages:
        best = hit.sections[0]
        level = found.assessments[hit.page.filepath].level
        print(f"{hit.page.filepath}:{best.line}", f"{hit.score:.2f}", level)
        print(best.passage.content)
"""


def test_the_example_finds_a_page_its_line_and_whether_it_can_be_trusted(
    repository, monkeypatch, capsys
):
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
    assert capsys.readouterr().out == ("docs/auth.md:9 0.48 fresh\nA token is valid for an hour.\n")

"""The list of pages as llms.txt: its title and quotation are those of the home page."""

from ubp.answers.pages.list_pages import ListPagesRequest
from ubp.answers.pages.llms import llms_text
from ubp.workspace import Workspace


def test_home_page_in_any_case_with_badges_by_reference_gives_title_and_quotation(repository):
    badges = "[![build][ci-image]][ci] [![PyPI]][pypi]"
    repository.write("Readme.md", f"# Tool\n\n{badges}\n\nIt makes things.\n")
    repository.write("docs/use.md", "# Use\n\nRun it.\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        text = llms_text(workspace.session, ListPagesRequest())
    assert text == ("# Tool\n\n> It makes things.\n\n## docs\n\n- [Use](docs/use.md): Run it.\n")

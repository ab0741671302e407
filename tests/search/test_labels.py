"""Tags, categories and authors are searched as words of their page."""

import pytest

PAGES = {
    "plain.md": "# Plain\n\nNothing of interest.\n",
    "tagged.md": "---\ntags: [observability, 監視]\ncategory: Runbook\nauthors:\n  - Ada Lovelace\n"
    "color: magenta\n---\n# Alerts\n\nWhat to do at night.\n\n## More\n\nText.\n",
    "scalar.md": "---\nTag: telemetry\n---\n# Numbers\n\nWhat is counted.\n",
}


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("observability", "tagged.md"),
        ("runbooks", "tagged.md"),
        ("lovelace", "tagged.md"),
        ("監視", "tagged.md"),
        ("telemetry", "scalar.md"),
    ],
)
def test_value_of_tags_categories_and_authors_finds_its_page(
    make_repository, opened, search_in, query, path
):
    workspace = opened(make_repository(PAGES))
    pages = search_in(workspace, query, mode="fulltext").answer.pages
    assert [hit.page.filepath for hit in pages] == [path]
    assert pages[0].matched == (query,)


def test_values_of_other_fields_are_no_words(make_repository, opened, search_in):
    assert not search_in(opened(make_repository(PAGES)), "magenta", mode="fulltext").answer.pages

"""Sections of specifications are found under the filters of a query."""

import pytest

from ubp.core.errors import UsageError
from ubp.kits.specs.sections import find_spec_sections
from ubp.search.run import open_search
from ubp.workspace import Workspace


@pytest.fixture(scope="module")
def find(repository_in, tmp_path_factory):
    """Find the paths of the sections that answer a question."""
    repository = repository_in(tmp_path_factory.mktemp("specification") / "pages")
    for name, category, day in (("old", "core", 1), ("new", "core", 20), ("lib", "library", 20)):
        fields = f"---\ncategory: {category}\ndate: 2026-01-{day:02}\ntags: [{name}]\n---\n"
        repository.write(f"{name}.md", f"{fields}# Title of {name}\n\n## Slices\n\nA slice.\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        view, context = open_search(workspace.session)

        def paths(question):
            sections = find_spec_sections(view, question, 10, context)
            return {section.page.filepath for section in sections}

        yield paths


@pytest.mark.parametrize(
    ("question", "pages"),
    [
        ("slice", {"old.md", "new.md", "lib.md"}),
        ("slice category:core", {"old.md", "new.md"}),
        ("slice category:core date>=2026-01-10", {"new.md"}),
        ("slice -category:core", {"lib.md"}),
        ("slice category:library OR category:none", {"lib.md"}),
        ("slice tag:old", {"old.md"}),
        ("slice path:new.md", {"new.md"}),
        ("date>2026-01-10", {"new.md", "lib.md"}),
        ("category:none", set()),
    ],
)
def test_only_sections_of_pages_that_match_the_filters_are_found(find, question, pages):
    assert find(question) == pages


def test_invalid_filter_is_an_error(find):
    with pytest.raises(UsageError, match="No such date"):
        find("slice date>2026-13-40")

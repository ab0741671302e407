"""Many pages of a folder that fit a query equally well do not outrank the page about it."""

import pytest

from ubp.core.model import in_repository
from ubp.search.fusion import Fused
from ubp.search.galleries import MIN_FOUND, SHARE, demote_galleries

THEMES = {
    f"content/themes/theme-{number}/index.md": f"""# Theme {number}

A theme with {number} colors. To use the theme, clone it into the folder of themes.

## Install the theme

Clone the theme, then name the theme in the settings: use the theme {number}.
"""
    for number in range(MIN_FOUND + 10)
}
MANUAL = {
    "content/manual/themes.md": """# Appearance

A theme is used by its name. Where themes are kept, what a theme may change, and which of them a
site has, the settings say. Templates of your own take the place of those of the theme.
""",
    "content/manual/pages.md": "# Pages\n\nA page has a title and a text.\n",
}


def document(path, score):
    return Fused(path, score, score, None, None)


@pytest.fixture
def gallery():
    return [document(f"themes/{number}.md", 0.9 - number / 1000) for number in range(MIN_FOUND)]


def test_manual_comes_before_a_gallery_that_fits_as_well(make_repository, opened, search_in):
    workspace = opened(make_repository(THEMES | MANUAL))
    found = search_in(workspace, "theme settings").answer.pages
    assert found[0].page.filepath == "content/manual/themes.md"


def test_page_of_a_gallery_that_is_meant_comes_first(make_repository, opened, search_in):
    workspace = opened(make_repository(THEMES | MANUAL))
    found = search_in(workspace, "theme 7 colors").answer.pages
    assert found[0].page.filepath == "content/themes/theme-7/index.md"


def test_pages_of_a_gallery_keep_their_order_behind_others(gallery):
    manual = document("manual.md", 0.85)
    first, *others = demote_galleries([*gallery, manual])
    assert first == manual
    assert others == [found._replace(score=found.score * SHARE) for found in gallery]


def test_few_pages_of_a_folder_or_one_that_is_clearly_better_are_no_gallery(gallery):
    manual = document("manual.md", 0.3)
    few = [*gallery[1:], manual]
    assert demote_galleries(few) == few
    apart = [gallery[0], *(found._replace(score=found.score / 2) for found in gallery[1:]), manual]
    assert demote_galleries(apart) == apart


def test_folder_in_which_all_pages_are_is_no_gallery(gallery):
    assert demote_galleries(gallery) == gallery


def test_folders_of_the_same_name_in_two_repositories_are_two(gallery):
    both = [
        found._replace(path=in_repository("ab"[number % 2], found.path))
        for number, found in enumerate(gallery)
    ]
    assert demote_galleries(both) == both

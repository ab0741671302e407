"""Each generator's anchors; the values are its own (`benchmarks/links/site_anchors.py`)."""

import pytest

from ubp.core.model import FilePath
from ubp.markdown.parse import parse_markdown
from ubp.markdown.sites.detect import configured_site, find_sites, site_anchors
from ubp.markdown.sites.site import Site

HEADINGS = """\
# What's new in v1.2?

## Foo [a](b.md) `c_d` *x*

## Foo bar

## Foo bar

## 3 ways — done

## Ünïcode & «más»

## 日本語 の見出し

## Own {#own-id}

## ![logo](x.png) Logo
"""
ANCHORS = {
    "mkdocs": (
        *("whats-new-in-v12", "foo-a-c_d-x", "foo-bar", "foo-bar_1", "3-ways-done"),
        *("unicode-mas", "_1", "own-own-id", "logo"),
    ),
    "vitepress": (
        *("what-s-new-in-v1-2", "foo-a-c-d-x", "foo-bar", "foo-bar-1", "_3-ways-—-done"),
        *("unicode-«mas»", "日本語-の見出し", "own-id", "logo-logo"),
    ),
    "docusaurus": (
        *("whats-new-in-v12", "foo-a-c_d-x", "foo-bar", "foo-bar-1", "3-ways--done"),
        *("ünïcode--más", "日本語-の見出し", "own-id", "logo-logo"),
    ),
    "hugo": (  # of all its versions
        *("foo-abmd-c_d-x", "logoxpng-logo", "logo"),
        *("whats-new-in-v12", "foo-a-c_d-x", "foo-bar", "foo-bar-1", "3-ways--done"),
        *("ünïcode--más", "日本語-の見出し", "own-id", "logo-logo"),
    ),
    "mdbook": (
        *("whats-new-in-v12", "foo-a-c_d-x", "foo-bar", "foo-bar-1", "3-ways--done"),
        *("ünïcode--más", "日本語-の見出し", "own-id", "logo"),
    ),
    "jekyll": (
        *("whats-new-in-v12", "foo-a-c_d-x", "foo-bar", "foo-bar-1", "3-ways--done"),
        *("ünïcode--más", "日本語-の見出し", "own-id", "-logo"),
    ),
}


def _anchors(text: str, site: Site | None) -> frozenset[str]:
    return site_anchors(parse_markdown(text.encode()).anchors, site)


def _site(generator: str) -> Site:
    return configured_site(generator, FilePath(""), FilePath(""), "")


@pytest.mark.parametrize("generator", ANCHORS)
def test_headings_get_the_anchors_of_their_generator(generator: str) -> None:
    anchors = _anchors(HEADINGS, _site(generator))

    assert anchors == {*ANCHORS[generator]}


def test_headings_without_a_site_profile_accept_the_anchors_of_all_generators() -> None:
    anchors = _anchors(HEADINGS, None)

    assert {anchor.casefold() for names in ANCHORS.values() for anchor in names} <= anchors


@pytest.mark.parametrize(
    ("options", "heading", "anchor"),
    [
        ("  - toc:\n      separator: _\n", "A b", "a_b"),
        ("  - toc:\n      slugify: !!python/name:pymdownx.slugs.uslugify\n", "Más  b", "más-b"),
        (
            (
                "  - toc:\n      slugify: !!python/object/apply:pymdownx.slugs.slugify\n"
                "        kwds: {case: lower}\n"
            ),
            "日本 B",
            "日本-b",
        ),
        ("  - attr_list\n", "A { #own }", "own"),
        ("  - pymdownx.emoji:\n      options: {}\n", ":material-email: Ask us", "ask-us"),
        ("  - pymdownx.emoji\n", "Ask :a: :b: us", "ask-us"),
        (
            "  - pymdownx.emoji\n",
            "Use std::vector::size at 10:30:45",
            "use-stdvectorsize-at-103045",
        ),
        ("  - toc\n", ":material-email: Ask us", "material-email-ask-us"),
        ("  - attr_list\n", "A b { .wide }", "a-b"),
        ("  toc:\n    permalink: true\n  attr_list: null\n", "A {: #own .wide }", "own"),
    ],
)
def test_mkdocs_anchors_follow_its_configured_options(
    options: str, heading: str, anchor: str
) -> None:
    config = f"site_name: x\nmarkdown_extensions:\n{options}"
    (site,) = find_sites({FilePath("mkdocs.yml"): config.encode()})

    assert _anchors(f"## {heading}\n", site) == {anchor}


@pytest.mark.parametrize(("depth", "anchors"), [(0, set()), (1, {"a"}), (2, {"a", "b"})])
def test_myst_anchors_cover_the_configured_number_of_levels(depth: int, anchors: set[str]) -> None:
    config = f"extensions = ['myst_parser']\nmyst_heading_anchors = {depth}\n"
    (site,) = find_sites({FilePath("docs/conf.py"): config.encode()})

    assert _anchors("# A\n\n## B\n", site) == anchors


def test_hugo_terms_get_anchors_only_where_configured() -> None:
    text = "one\n: first\n\ntwo\n\n: second\n"
    config = (
        "baseURL = 'https://example.org'\n[markup.goldmark.parser]\nautoDefinitionTermID = true\n"
    )
    (site,) = find_sites({FilePath("hugo.toml"): config.encode()})

    assert _anchors(text, site) == {"one", "two"}
    assert _anchors(text, site._replace(options=())) == set()


def test_attributes_and_targets_are_anchors_everywhere() -> None:
    note = "```{{note}}\n:name: {}\n```\n"
    notes = note.format("named") + "\n" + note.format('"quoted"')
    text = f"(my target)=\n# A\n\n[x](y.md){{#span}}\n\n{notes}"

    assert {"my target", "span", "named", "quoted"} <= _anchors(text, _site("sphinx"))


def test_ids_in_raw_html_are_anchors_but_targets_in_examples_are_not() -> None:
    text = """\
```{raw} html
<span id="shown"><!-- <a id="hidden"> --></span>
```

````{list-table}
:name: table

* - ```md
    (example)=
    ```
  - ```{note}
    :name: nested
    ```
````
"""
    assert _anchors(text, _site("sphinx")) == {"shown", "table", "nested"}


@pytest.mark.parametrize(
    "text",
    [
        "# API\n\n::: package.module\n",
        "```{automodule} package\n```\n",
        "<script setup>\nimport A from './A.vue'\n</script>\n\n<A />\n",
    ],
)
def test_anchors_of_a_page_generated_from_other_sources_are_unknown(text: str) -> None:
    assert parse_markdown(text.encode()).anchors.is_generated

"""Anchors of pages that include other pages."""

import random
import shutil

import pytest

from tests.checks.test_sites import SITES
from ubp.index.session import Session

# Included from docs/src/page.md; `{place}` is where the generator looks for the file.
SYNTAXES = {
    "mkdocs, snippet": ("mkdocs", "docs/src/part.md", '--8<-- "docs/src/part.md"'),
    "mkdocs, snippets": ("mkdocs", "docs/src/part.md", "--8<--\ndocs/src/part.md\n--8<--"),
    "mkdocs, include-markdown": (
        "mkdocs",
        "NOTES.md",
        '{% include-markdown "../../NOTES.md" start="x" %}',
    ),
    "mkdocs, markdown-include": ("mkdocs", "docs/src/part.md", "{! part.md !}"),
    "vitepress": ("vitepress", "docs/src/parts/part.md", "<!--@include: ./parts/part.md{2,}-->"),
    "vitepress, plug-in": ("vitepress", "docs/src/part.md", "!!!include(part.md)!!!"),
    "docusaurus": (
        "docusaurus",
        "docs/src/_part.mdx",
        "import Part from './_part.mdx';\n\nText\n\n<Part name='x' />",
    ),
    "docusaurus, alias": (
        "docusaurus",
        "docs/src/_part.md",
        'import Part from "@site/src/_part.md"\n\n<Part/>',
    ),
    "docusaurus, escaped": (
        "docusaurus",
        "docs/src/_part.mdx",
        "import Part from './\\_part.mdx';\n\nText\n\n<Part/>",
    ),
    "hugo": ("hugo", "docs/src/part.md", '{{% include "part.md" %}}'),
    "hugo, named": ("hugo", "docs/parts/part.md", '{{< readfile file="/parts/part.md" >}}'),
    "mdbook": ("mdbook", "docs/src/part.md", "{{#include part.md:3:}}"),
    "sphinx": ("sphinx", "docs/src/part.md", "```{include} part.md\n```"),
    "jekyll": ("jekyll", "docs/src/part.md", "{% include_relative part.md %}"),
    "jekyll, includes": ("jekyll", "docs/_includes/part.md", "{% include part.md %}"),
}
NOT_INCLUDED = {
    "vitepress": ("docs/src/part.md", "<<< ./part.md"),
    "sphinx": ("docs/src/part.md", "```{literalinclude} part.md\n```"),
    "mdbook": ("docs/src/part.md", "```md\n{{#include part.md}}\n```"),
    "mkdocs": ("docs/src/part.md", '```md\n--8<-- "docs/src/part.md"\n```'),
    "docusaurus": ("docs/src/part.mdx", "import Part from './part.mdx'\n"),
    "hugo": ("docs/src/part.md", '{{< ref "part.md" >}}'),
    "jekyll": ("docs/src/part.md", "{% raw %}{% include_relative part.md %}{% endraw %}"),
}


@pytest.fixture
def write_site(repository):
    """Write a site, a page of it with this text, and one with links to anchors of that page."""

    def write(generator, text, *anchors):
        for path, content in SITES[generator].items():
            repository.write(path, content)
        repository.write("docs/src/page.md", f"# Page\n\n## Above\n\n{text}\n\n## Below\n")
        links = " ".join(f"[x](page.md#{anchor})" for anchor in anchors)
        repository.write("docs/src/linking.md", f"# Linking\n\n{links}\n")

    return write


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_headings_of_an_included_page_belong_to_the_page(repository, found, write_site, syntax):
    generator, place, text = SYNTAXES[syntax]
    write_site(generator, text, "above", "of-the-part", "below", "of-no-part")
    repository.write(place, "Text\n\n### Of the part\n")
    repository.commit()

    (finding,) = [finding for finding in found(repository) if "anchor" in finding]
    assert finding.endswith("page.md#of-no-part")


@pytest.mark.parametrize("generator", NOT_INCLUDED)
def test_headings_of_a_page_included_as_code_do_not(repository, found, write_site, generator):
    place, text = NOT_INCLUDED[generator]
    write_site(generator, text, "of-the-part")
    repository.write(place, "Text\n\n### Of the part\n")
    repository.commit()

    assert any("page.md#of-the-part" in finding for finding in found(repository))


@pytest.mark.parametrize(
    ("generator", "text"),
    [
        ("mkdocs", '--8<-- "missing.md"'),
        ("hugo", '{{% include "missing.md" %}}'),
        ("mkdocs", '--8<-- "docs/src/drafts/excluded.md"'),
        ("jekyll", "{% include {{ page.version }}/part.md %}"),
        ("jekyll", "## For {{ site.product }}"),
        ("docusaurus", "import { Parts } from './_parts';\n\n<Parts />"),
        ("docusaurus", "import Endpoint from '@site/src/endpoint.jsx'\n\n<Endpoint id='x'>"),
    ],
)
def test_anchors_are_all_accepted_if_an_included_page_is_unknown(
    repository, found, write_site, generator, text
):
    write_site(generator, text, "anything")
    repository.write("docs/src/drafts/excluded.md", "## Heading\n")
    repository.write(".ubp/config.json", '{"source": {"exclude": ["**/drafts/**"]}}')
    repository.commit()

    assert found(repository) == []


@pytest.mark.parametrize(
    ("generator", "text"),
    [
        ("jekyll", "## Of `{{ code }}`"),
        ("docusaurus", "import Tabs from '@theme/Tabs';\n\n<Tabs />"),
        ("docusaurus", "import Parts from './_parts';\n"),
        ("vitepress", "<script setup>\nimport Parts from './parts.vue'\n</script>\n\n<Parts />"),
    ],
)
def test_anchors_of_pages_with_other_components_and_code_are_checked(
    repository, found, write_site, generator, text
):
    write_site(generator, text, "anything")
    repository.commit()
    assert any("page.md#anything" in finding for finding in found(repository))


def test_anchors_of_a_piece_are_those_of_the_pages_that_include_it(repository, found):
    repository.write("docs/_includes/part.md", "# Part\n\n[x](#of-the-page)\n")
    repository.write("docs/parts/part.md", "# Part\n\n[x](#of-the-page)\n")
    repository.commit()
    (finding,) = found(repository)
    assert "docs/parts/part.md" in finding


def test_equal_headings_are_numbered_across_files(repository, found, write_site):
    write_site("mdbook", "{{#include part.md}}", "above", "above-1", "above-2", "below-1")
    repository.write("docs/src/part.md", "## Above\n\n## Below\n")
    repository.commit()

    assert [finding[-8:] for finding in found(repository)] == ["#above-2"]


def test_pages_that_include_each_other_terminate(repository, found, write_site):
    write_site("mdbook", "{{#include part.md}}", "of-the-part", "missing")
    repository.write("docs/src/part.md", "## Of the part\n\n{{#include page.md}}\n")
    repository.commit()

    assert [finding[-8:] for finding in found(repository)] == ["#missing"]


def test_pages_that_include_many_terminate(repository, found, write_site):
    write_site("mdbook", "{{#include part0.md}}\n" * 50, "missing")
    for number in range(9):
        text = f"{{{{#include part{number + 1}.md}}}}\n" * 50
        repository.write(f"docs/src/part{number}.md", f"## A\n\n{text}")
    repository.write("docs/src/part9.md", "# A\n")
    repository.commit()

    assert found(repository) == []


def test_change_of_an_included_page_affects_links_to_the_including_page(
    repository, found, write_site
):
    write_site("mkdocs", '--8<-- "docs/parts/outer.md"', "inner")
    repository.write("docs/src/page.md", '--8<-- "docs/parts/outer.md"\n\n[x](#inner)\n')
    repository.write("docs/parts/outer.md", '--8<-- "docs/parts/inner.md"\n')
    repository.write("docs/parts/inner.md", "## Inner\n")
    repository.commit()
    assert found(repository) == []

    repository.write("docs/parts/inner.md", "## Other\n")
    broken = [
        "warning missing-anchor docs/src/linking.md:3 markdown page.md#inner",
        "warning missing-anchor docs/src/page.md:3 markdown #inner",
    ]
    assert found(repository) == broken
    repository.commit()
    assert found(repository) == broken

    repository.remove("docs/parts/inner.md")  # then nothing is known
    assert found(repository) == []
    repository.commit()
    assert found(repository) == []

    repository.write("docs/parts/inner.md", "## Other\n")
    assert found(repository) == broken


def test_updated_graph_resolves_anchors_like_a_new_one(repository, write_site):
    """Pages include each other at random, and files come and go."""
    write_site("mdbook", "")
    repository.commit()
    generator = random.Random(14)
    names = [f"p{number}.md" for number in range(5)]
    index = repository.root / ".git/ubp"
    for turn in range(14):
        name = names[turn] if turn < len(names) else generator.choice(names)
        if generator.random() < 0.1:
            (repository.root / "docs/src" / name).unlink(missing_ok=True)
        else:
            included = generator.sample(names, generator.randrange(3))
            links = [f"[x]({other}#h{number})" for other in names for number in range(4)]
            text = [f"## H{generator.randrange(4)}", *(f"{{{{#include {n}}}}}" for n in included)]
            repository.write(f"docs/src/{name}", "\n\n".join([*text, *links]))
        if generator.random() < 0.4:
            repository.commit()
        updated = _resolutions(repository)
        aside = index.rename(index.with_name("aside"))
        assert _resolutions(repository) == updated
        shutil.rmtree(index)
        aside.rename(index)


def _resolutions(repository):
    with Session.open(str(repository.root)) as session:
        edges = session.view().link_graph().edges()
        return [
            (edge.source, edge.link.target, edge.link.anchor, edge.resolution) for edge in edges
        ]

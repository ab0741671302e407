"""`--fix` applies fixes that are the only possible ones, and changes no other byte."""

import pytest


def test_links_follow_a_renamed_page(repository, fix, check):
    page = (
        '# A\r\n\r\n[b](old/b.md#go "t") [b](<old/b.md>) [[old/b#go|B]] ![[old/b.md]]\r\n'
        "[b](./old/b.md?x#go) [b][r] | é [[old/b\\|x]]\r\n\r\n[r]: old/b.md 'T'\r\n"
        "`[b](old/b.md)` [gone](gone.md)"
    )
    repository.write("docs/a.md", page)
    repository.write("docs/old/b.md", "# Page\n\n## Go\n\n[a](../a.md)\n")
    repository.commit()
    repository.git("mv", "docs/old/b.md", "docs/new (1).md")
    done = fix(repository)
    assert (repository.root / "docs/a.md").read_bytes().decode() == (
        '# A\r\n\r\n[b](new%20%281%29.md#go "t") [b](<new%20%281%29.md>)'
        " [[docs/new (1)#go|B]] ![[docs/new (1).md]]\r\n"
        "[b](./new%20%281%29.md?x#go) [b][r] | é [[docs/new (1)\\|x]]\r\n\r\n"
        "[r]: new%20%281%29.md 'T'\r\n`[b](old/b.md)` [gone](gone.md)"
    )
    assert (repository.root / "docs/new (1).md").read_text().endswith("[a](a.md)\n")
    assert [finding.message for finding in done.check.findings] == ["gone.md does not exist."]
    assert (len(done.fixed), done.skipped) == (8, ())
    assert check(repository).fixable == 0


def test_links_follow_a_renamed_symlink(repository, fix):
    repository.write("a.md", "# A\n")
    (repository.root / "docs").mkdir()
    (repository.root / "docs/a.md").symlink_to("../a.md")
    repository.write("b.md", "[A](docs/a.md) [a](a.md)\n")
    repository.commit()
    repository.git("mv", "docs", "guide")
    assert fix(repository).check.findings == ()
    assert (repository.root / "b.md").read_text() == "[A](guide/a.md) [a](a.md)\n"


@pytest.mark.parametrize(
    ("written", "fixed"),
    [
        ("[b](b.md)", "[b](guides/b.md)"),  # the only page of that name
        ("[b](docs/guides/b.md)", "[b](guides/b.md)"),  # written from the root
        ("[b](/wrong/b.md)", "[b](guides/b.md)"),
        ("[b](/docs/b.md)", "[b](/docs/guides/b.md)"),
        ("[x](src/x.py#L3)", "[x](../src/x.py#L3)"),
        ("[[wrong/b]]", "[[docs/guides/b]]"),
        ("[b](README.md)", None),  # every folder may have one
        ("[b](README.es-ES.md)", None),  # in any language
        ("[b](twice.md)", None),
        ("[[wrong/twice]]", None),
        ("[[bb]]", None),
    ],
)
def test_link_is_fixed_where_one_target_is_possible(repository, fix, written, fixed):
    repository.write("docs/a.md", f"# A\n\n{written}\n")
    repository.write("docs/guides/b.md", "# Page\n")
    repository.write("one/twice.md", "# One\n")
    repository.write("two/twice.md", "# Two\n")
    repository.write("two/README.md", "# Read me\n")
    repository.write("README.es-ES.md", "# Léame\n")
    repository.write("src/x.py", "1\n")
    repository.commit()
    done = fix(repository)
    assert (repository.root / "docs/a.md").read_text() == f"# A\n\n{fixed or written}\n"
    assert len(done.check.findings) == (0 if fixed else 1)


@pytest.mark.parametrize(("place", "is_moved"), [("guides/two.md", True), ("two.md", False)])
def test_name_of_a_page_elsewhere_is_a_coincidence_where_all_files_beside_it_are_missing(
    repository, fix, place, is_moved
):
    links = "".join(f"[x](api/{name}.md)\n" for name in ("one", "two", "three", "four", "five"))
    repository.write("sdk/README.md", links)
    repository.write("docs/guides/one.md", "# One\n")
    repository.write(f"docs/{place}", "# Two\n")
    repository.commit()
    fix(repository)
    text = (repository.root / "sdk/README.md").read_text()
    assert ("../docs/guides/one.md" in text) == is_moved


@pytest.mark.parametrize(
    ("written", "fixed"),
    [
        ("[l](layot.md)", "[l](layout.md)"),
        ("[l](./layuot.md#top)", "[l](./layout.md#top)"),
        ("[l](guids/setup.md)", "[l](guides/setup.md)"),
        ("[l](guids/index.md)", "[l](guides/index.md)"),  # of two pages of that name
        ("[l](/docs/layot.md)", "[l](/docs/layout.md)"),
        ("![](img/logoo.png)", "![](img/logo.png)"),
        ("[l](getting_started.md)", "[l](getting-started.md)"),
        ("[l](versoin-1.md)", None),  # version-1 and version-2 are equally near
        ("[l](version-3.md)", None),  # another number is not a typing error
        ("[l](from.md)", None),  # nor is a short word
        ("[l](github-federation.md)", None),  # nor another word of a name
        ("[l](gitlab-fedreation.md)", "[l](gitlab-federation.md)"),
        ("[l](img/logoo.svg)", None),  # of another type
        ("[l](me.md)", None),
    ],
)
def test_misspelt_path_is_fixed_where_one_file_is_near(repository, fix, written, fixed):
    for page in ("layout", "guides/setup", "guides/index", "other/index", "getting-started"):
        repository.write(f"docs/{page}.md", "# Page\n")
    for page in ("version-1", "version-2", "form", "mee", "gitlab-federation"):
        repository.write(f"docs/{page}.md", "# Page\n")
    repository.write("docs/img/logo.png", "png")
    repository.write("docs/page.md", f"# A\n\n{written}\n")
    repository.commit()
    done = fix(repository)
    assert (repository.root / "docs/page.md").read_text() == f"# A\n\n{fixed or written}\n"
    assert len(done.check.findings) == (0 if fixed else 1)
    assert not any("Did you mean" in finding.hint for finding in done.check.findings)


def test_misspelt_address_of_a_site_keeps_its_form(repository, fix):
    repository.write("docs/.vitepress/config.js", "export default {}\n")
    repository.write("docs/guide/getting-started.md", "# Start\n")
    repository.write("docs/index.md", "[s](/guide/geting-started) [s](./guide/getting-startd#x)\n")
    repository.write("docs/guide/getting-startet.txt", "no page\n")
    repository.commit()
    fix(repository)
    assert (repository.root / "docs/index.md").read_text() == (
        "[s](/guide/getting-started) [s](./guide/getting-started#x)\n"
    )


@pytest.mark.parametrize(
    ("written", "fixed"),
    [
        ("[x](b.md#token-lfe)", "[x](b.md#token-life)"),
        ("[x](b.md#token_life 'T')", "[x](b.md#token-life 'T')"),
        ("[x](<b.md#token-lfe>)", "[x](<b.md#token-life>)"),
        ("[x][r]\n\n[r]: b.md#token-lfe", "[x][r]\n\n[r]: b.md#token-life"),
        ("[x](#own-hedding)", "[x](#own-heading)"),
        ("[[b#Tokn life|T]]", "[[b#Token life|T]]"),
        ("[x](b.md#formatting-output)", "[x](b.md#formatting-output-of-the-tool)"),  # longer now
        ("[x](b.md#パッケージ)", "[x](b.md#python-パッケージ)"),
        ("[x](b.md#設定)", None),
        ("[x](b.md#option-3)", None),
        ("[x](b.md#runtime-strings-of-a-page)", None),
        ("[[b|depend_on]]", "[[b|depends_on]]"),
        ("[[b#Tokn life|depend_on]]", "[[b#Token life|depends_on]]"),
    ],
)
def test_suggested_anchor_or_type_is_written(repository, fix, written, fixed):
    repository.write(
        "b.md",
        "# B\n\n## Token life\n\n## Formatting output of the tool\n\n"
        "## Option 1\n\n## Option 2\n\n## Timers strings\n\n"
        "## Python パッケージ\n\n## 設定 ファイル\n",
    )
    repository.write("a.md", f"# A\n\n## Own heading\n\n## More\n\nSee {written}\n")
    repository.commit()
    done = fix(repository)
    assert (repository.root / "a.md").read_text() == (
        f"# A\n\n## Own heading\n\n## More\n\nSee {fixed or written}\n"
    )
    assert len(done.check.findings) == (0 if fixed else 1)


def test_moved_source_is_renamed_in_place(repository, fix):
    for name in ("a", "b", "c", "d"):
        repository.write(f"src/{name}.py", f"{name}\n" * 9)
    blob = repository.blob("src/d.py")[:12]
    repository.write(
        "a.md",
        "---\nsource_refs:\n  - src/a.py#L3   # why\n  - 'src/b.py'\n  - \"src/c.py\"\n"
        f"  - path: src/d.py\n    blob: {blob}\nother: [src/a.py]\n---\r\nsrc/a.py\r\n",
    )
    repository.commit()
    for name in ("a", "b", "c", "d"):
        (repository.root / "lib").mkdir(exist_ok=True)
        repository.git(
            "mv", f"src/{name}.py", f"lib/it's {name}.py" if name == "b" else f"lib/{name}.py"
        )
    dry = fix(repository, is_dry=True)
    assert "-  - src/a.py#L3   # why\n" in dry.diff
    assert "src/a.py#L3" in (repository.root / "a.md").read_text()
    done = fix(repository)
    assert (repository.root / "a.md").read_bytes().decode() == (
        "---\nsource_refs:\n  - lib/a.py#L3   # why\n  - 'lib/it''s b.py'\n  - \"lib/c.py\"\n"
        f"  - path: lib/d.py\n    blob: {blob}\nother: [src/a.py]\n---\r\nsrc/a.py\r\n"
    )
    assert [(fix.before, fix.after) for fix in done.fixed] == [
        ("src/a.py#L3", "lib/a.py#L3"),
        ("src/b.py", "lib/it's b.py"),
        ("src/c.py", "lib/c.py"),
        ("src/d.py", "lib/d.py"),
    ]
    assert done.check.findings == ()


def test_fix_never_makes_a_page_look_reviewed(repository, fix):
    repository.write("src/a.py", "1\n")
    repository.write("src/b.py", "b\n" * 9)
    page = repository.page("a.md", "src/a.py", "src/b.py", body="[b](b.md)\n")
    repository.write("docs/b.md", "# B\n")
    repository.commit()
    repository.write("src/a.py", "2\n")
    repository.git("mv", "src/b.py", "src/c.py")
    repository.commit()
    before = page.read_bytes()
    done = fix(repository)
    assert page.read_bytes() == before
    assert (done.fixed, [finding.filepath for finding in done.skipped]) == ((), ["a.md"])
    assert done.skipped[0].reason == (
        "any edit would make the page look reviewed, but src/a.py drifted."
        " Pin its baseline first: ubp ack --history a.md"
    )


def test_pinned_page_is_fixed_because_its_pins_keep_the_baseline(repository, fix, found):
    repository.write("src/a.py", "a\n" * 9)
    old = repository.blob("src/a.py")
    repository.write("a.md", f"---\nsource_refs:\n  - path: src/a.py\n    blob: {old}\n---\n")
    repository.commit()
    repository.git("mv", "src/a.py", "src/b.py")
    repository.write("src/b.py", "a\n" * 9 + "b\n")
    repository.commit()
    fix(repository)
    assert f"  - path: src/b.py\n    blob: {old}\n" in (repository.root / "a.md").read_text()
    assert found(repository) == ["warning stale-doc a.md:3 src/b.py"]


def test_fix_keeps_line_ends_that_git_converts(repository, fix):
    repository.write(".gitattributes", "*.md text eol=crlf\n")
    repository.write("a.md", "# A\r\n\r\né [b](b.md)\r\n[b](b.md)\r\n")
    repository.write("docs/b.md", "# B\r\n")
    repository.commit()
    fix(repository)
    assert (repository.root / "a.md").read_bytes().decode() == (
        "# A\r\n\r\né [b](docs/b.md)\r\n[b](docs/b.md)\r\n"
    )


def test_page_of_the_name_that_lacks_the_heading_or_is_linked_beside_is_not_meant(repository, fix):
    repository.write("spec/b.md", "# B\n\n## Go on\n")
    repository.write("done/c.md", "# C\n")
    written = "# A\n\n[x](b.md#go-back)\n\n[task](c.md) [answer](done/c.md)\n\n[y](b.md#Go-On)\n"
    repository.write("a.md", written)
    repository.commit()
    fix(repository)
    changed = written.replace("b.md#Go-On", "spec/b.md#Go-On")
    assert (repository.root / "a.md").read_text() == changed


def test_fix_skips_ignored_findings_and_other_pages(repository, fix):
    repository.write("docs/b.md", "# B\n")
    repository.write("a.md", "[b](b.md) <!-- ubp: ignore[broken-link] -->\n")
    repository.write("c.md", "[b](b.md)\n")
    repository.write("d.md", "[b](b.md)\n")
    repository.commit()
    done = fix(repository, "c.md", "a.md")
    assert [fix.finding.filepath for fix in done.fixed] == ["c.md"]
    assert (repository.root / "d.md").read_text() == "[b](b.md)\n"


@pytest.mark.parametrize(
    ("config", "pages"),
    [
        ("import starlight from '@astrojs/starlight'\n", "src/content/docs"),
        ("baseURL = 'https://example.org/x/'\n", "content"),
    ],
)
def test_addresses_that_follow_a_renamed_page_stay_addresses(repository, fix, config, pages):
    repository.write("astro.config.mjs" if "starlight" in config else "hugo.toml", config)
    repository.write(f"{pages}/apps/old.md", "# Old\n\n## Go\n")
    repository.write(f"{pages}/apps/index.md", "[a](./old/) [b](old#go)\n")
    repository.write(f"{pages}/apps/other.md", "[c](../old/) [d](/apps/old/) [e](/apps/old)\n")
    repository.commit()
    (repository.root / pages / "more").mkdir()
    repository.git("mv", f"{pages}/apps/old.md", f"{pages}/more/New.md")
    assert len(fix(repository).check.findings) == 0
    index = (repository.root / pages / "apps/index.md").read_text()
    assert index == "[a](../more/new/) [b](../more/new#go)\n"
    other = (repository.root / pages / "apps/other.md").read_text()
    assert other == "[c](../../more/new/) [d](/more/new/) [e](/more/new)\n"


def test_addresses_of_a_renamed_page_keep_html(repository, fix):
    repository.write("_config.yml", "title: x\n")
    repository.write("docs/old.md", "# Old\n\n## Go\n")
    repository.write("docs/gone.md", "# Gone\n\nAnother page.\n")
    repository.write("use.md", "[a](/docs/old/) [b](/docs/old.html#go) [c](/docs/gone.html)\n")
    repository.write("book/book.toml", "[book]\n")
    repository.write("book/src/old.md", "# An old chapter\n")
    repository.write("book/src/use.md", "# Use\n\n[a](old.html)\n")
    repository.commit()
    (repository.root / "more/gone").mkdir(parents=True)
    repository.git("mv", "docs/old.md", "more/new.md")
    repository.git("mv", "docs/gone.md", "more/gone/index.md")
    repository.git("mv", "book/src/old.md", "book/src/new.md")
    fix(repository)
    text = (repository.root / "use.md").read_text()
    assert text == "[a](/more/new/) [b](/more/new.html#go) [c](/docs/gone.html)\n"
    assert (repository.root / "book/src/use.md").read_text() == "# Use\n\n[a](new.html)\n"


def test_paths_from_the_site_follow_a_renamed_page(repository, fix, found):
    repository.write("docs/_config.yml", "collections_dir: sets\n")
    repository.write("docs/guide/old.md", "# Old\n\n## Go\n")
    repository.write("docs/sets/_tips/tip.md", "# Tip\n")
    repository.write("docs/_includes/part.md", "A part of pages.\n")
    repository.write(
        "docs/use/it.md",
        "[a]({% link guide/old.md %}#go) {% raw %}{% link no.md %}{% endraw %}\n"
        "[b]({% link gone.md %}) [c]({{ site.url }}{%- link _tips/tip.md -%})\n"
        '{% link guide/none.md | append: "#a" %} {% link {{ page.next }}.md %}\n\n'
        "[d]: {% link /guide/old.md %}\n\n{% include part.md %}\n",
    )
    repository.write("other.md", "[a]({% link guide/none.md %})\n")
    repository.commit()
    repository.git("mv", "docs/guide/old.md", "docs/new.md")
    repository.git("mv", "docs/_includes/part.md", "docs/_includes/piece.md")
    fix(repository)
    text = (repository.root / "docs/use/it.md").read_text()
    assert text.count("{% link new.md %}#go") == text.count("{% link /new.md %}") == 1
    assert "{% include piece.md %}" in text
    assert found(repository) == ["error broken-link docs/use/it.md:2 include gone.md"]


def test_paths_from_the_root_of_a_site_stay_so_for_a_renamed_page(repository, fix):
    repository.write("www/book.toml", "[book]\n")
    repository.write("www/src/use/old.md", "# Old\n\n## Go\n")
    repository.write("www/src/parts/links.md", "# Links\n\n[a][1]\n\n[1]: /use/old.md#go\n")
    repository.commit()
    repository.git("mv", "www/src/use/old.md", "www/src/use/new.md")
    assert len(fix(repository).check.findings) == 0
    text = (repository.root / "www/src/parts/links.md").read_text()
    assert text.endswith("[1]: /use/new.md#go\n")


def test_refs_of_hugo_follow_a_renamed_page(repository, fix, check):
    repository.write("hugo.toml", "baseURL = 'https://example.org/x/'\n")
    repository.write("content/guide/_index.md", "# Guide\n")
    repository.write("content/guide/old.md", "# Old\n\n## Go\n")
    repository.write("content/guide/made/index.md", '[a]({{< ref "old" >}}) {{< ref "guide" >}}\n')
    repository.write(
        "content/use/it.md",
        '[a]({{<ref "../guide/old#go">}}) [b]({{% relref path="/guide/old/" %}})\n'
        '[c]({{< ref `old.md` >}}) [d]({{< relref guide >}}) [e]({{< ref "/guide" >}})\n'
        '[f]: {{< ref "GUIDE/Old" >}}\n\n```\n{{</* ref "old" */>}}\n```\n',
    )
    repository.commit()
    assert check(repository).findings == ()
    repository.git("mv", "content/guide/old.md", "content/use/new.md")
    assert len(fix(repository).check.findings) == 0
    made = (repository.root / "content/guide/made/index.md").read_text()
    assert made == '[a]({{< ref "../use/new" >}}) {{< ref "guide" >}}\n'
    assert (repository.root / "content/use/it.md").read_text() == (
        '[a]({{<ref "new#go">}}) [b]({{% relref path="/use/new/" %}})\n'
        '[c]({{< ref `new.md` >}}) [d]({{< relref guide >}}) [e]({{< ref "/guide" >}})\n'
        '[f]: {{< ref "new" >}}\n\n```\n{{</* ref "old" */>}}\n```\n'
    )


def test_refs_of_hugo_follow_a_renamed_page_of_a_language(repository, fix, check):
    repository.write("hugo.toml", "[languages.en]\ncontentDir = 'content/en'\n")
    repository.write("content/en/a/old.md", "# Old\n")
    refs = '[a]({{{{< ref "a/{0}" >}}}}) [b]({{{{< ref "/a/{0}.md" >}}}})\n'
    repository.write("content/en/use.md", f"# Use\n\n{refs.format('old')}")
    repository.commit()
    assert check(repository).findings == ()
    repository.git("mv", "content/en/a/old.md", "content/en/a/new.md")
    assert len(fix(repository).check.findings) == 0
    use = (repository.root / "content/en/use.md").read_text()
    assert use == f"# Use\n\n{refs.format('new')}"


def test_ref_of_hugo_is_not_written_with_a_space(repository, fix):
    repository.write("hugo.toml", "baseURL = 'https://example.org/'\n")
    repository.write("content/old.md", "# Old\n")
    text = '# Use\n\n[a]({{< ref old >}}) [b]({{< ref "old.md" >}})\n'
    repository.write("content/use.md", text)
    repository.commit()
    repository.git("mv", "content/old.md", "content/old guide.md")
    assert len(fix(repository).check.findings) == 2
    assert (repository.root / "content/use.md").read_text() == text


def test_references_of_sphinx_follow_a_renamed_page(repository, fix, check):
    repository.write("docs/conf.py", "extensions = ['myst_parser']\n")
    repository.write("docs/guide/old.md", "(go)=\n# Old\n")
    repository.write("docs/other.rst", "Other\n=====\n")
    page = (
        "# It\n\n```{{toctree}}\n:maxdepth: 1\n:glob:\n\n{0}\nTitle <{0}.md>\nmore/*\nself\n"
        "Web <https://example.org/old>\n../other\n../other.rst\n```\n\n"
        ":::{{toctree}}\n---\nhidden: true\n---\n/guide/{1}\n:::\n\n"
        "{{doc}}`{0}`, {{doc}}`The\nold <{0}>`, {{doc}}`/guide/{1}`\n"
        "{{ref}}`go`, {{ref}}`It <Go>`\n\n"
        "```{{note}}\n{{doc}}`{0}`\n```\n\n"
        "```md\n{{doc}}`no`\n```\n\n% {{doc}}`no`\n\n`{{doc}}` and ``{{doc}}`no` ``\n"
    )
    repository.write("docs/use/it.md", page.format("../guide/old", "old"))
    repository.commit()
    assert check(repository).findings == ()
    repository.git("mv", "docs/guide/old.md", "docs/guide/new.md")
    assert len(fix(repository).check.findings) == 0
    fixed = (repository.root / "docs/use/it.md").read_text()
    assert fixed == page.format("../guide/new", "new")


def test_link_tags_begin_at_the_source_and_never_at_their_page(repository, fix, found):
    repository.write("_config.yml", "collections_dir: sets\n")
    repository.write("index.md", "# Index\n")
    repository.write("guide/index.md", "# Guide\n")
    repository.write("guide/about.md", "# About\n")
    repository.write("guide/old.md", "# Old\n")
    repository.write("sets/_tips/tip.md", "# Tip\n")
    repository.write("sets/_tips/two.md", "# Two\n")
    repository.write(
        "guide/g.md",
        "[a]({% link index.md %}) {% comment %}{% link no.md %}{% endcomment %}\n"
        "[b]({% link about.md %})\n"
        "[c]({% link guide/old.md %}) [d]({% link _tips/tip.md %}) [e]({% link _tips/two.md %})\n",
    )
    repository.commit()
    repository.git("mv", "guide/old.md", "new.md")
    repository.git("mv", "sets/_tips/tip.md", "tip.md")
    repository.git("mv", "sets/_tips/two.md", "sets/_tips/of two.md")
    fix(repository)
    assert (repository.root / "guide/g.md").read_text().splitlines()[1:] == [
        "[b]({% link about.md %})",
        "[c]({% link new.md %}) [d]({% link tip.md %}) [e]({% link _tips/two.md %})",
    ]
    assert found(repository) == [
        "error broken-link guide/g.md:2 include about.md",
        "error broken-link guide/g.md:3 include _tips/two.md",
    ]


def test_renamed_page_is_named_where_its_address_cannot_be_written(repository, check):
    repository.write("_config.yml", "title: x\n")
    repository.write("modes.md", "# Modes\n")
    repository.write("use.md", "# Use\n\n[m](modes)\n")
    repository.commit()
    repository.git("mv", "modes.md", "states.md")
    (finding,) = check(repository).findings
    assert (finding.hint, finding.fix) == ("Did you mean states.md?", None)


def test_links_follow_renamed_files_and_edited_pages(repository, fix):
    repository.write("src/x.py", "x = 1\n" * 9)
    repository.write("docs/b.md", "# B\n\nText.\n\nMore text.\n")
    repository.write("docs/a.md", "[x](../src/x.py#L3) [b](b.md) [[docs/b]]\n")
    repository.commit()
    repository.git("mv", "src/x.py", "src/y.py")
    repository.git("mv", "docs/b.md", "docs/c.md")
    repository.write("docs/c.md", "# C\n\nText.\n\nMore text.\n")
    repository.git("add", "--all")
    fix(repository)
    text = (repository.root / "docs/a.md").read_text()
    assert text == "[x](../src/y.py#L3) [b](c.md) [[docs/c]]\n"

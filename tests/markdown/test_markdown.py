"""The links of a page as values, and hostile pages."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ubp.core.model import Link
from ubp.markdown.parse import parse_markdown


def _links(text: str | bytes) -> tuple[Link, ...]:
    return parse_markdown(text if isinstance(text, bytes) else text.encode()).links


def _link(text: str) -> Link:
    (link,) = _links(text)
    return link


def test_wikilink_has_all_its_fields() -> None:
    text = (
        "# T\n\nIntro.\n\n## Part\n\nThe user is read\nfrom [[ユーザーDB#表|depends_on]] there.\n"
    )

    assert _link(text) == Link(
        kind="wikilink",
        target="ユーザーDB",
        anchor="表",
        link_type="depends_on",
        label=None,
        line=8,
        column=6,
        byte_start=text.encode().index("ユーザー".encode()),
        byte_end=text.encode().index(b"#\xe8"),
        context="The user is read from [[ユーザーDB#表|depends_on]] there.",
        section=1,
        meant_type=None,
    )


def test_markdown_link_has_all_its_fields() -> None:
    text = "see [the\nsetup](<../a%20b\\_c.md#x%20y> 'title')\n"

    assert _link(text) == Link(
        kind="markdown",
        target="../a b_c.md",
        anchor="x y",
        link_type="references",
        label="the setup",
        line=1,
        column=5,
        byte_start=17,
        byte_end=31,
        context="see [the setup](<../a%20b\\_c.md#x%20y> 'title')",
        section=0,
        meant_type=None,
    )


def test_definition_has_its_own_position_and_the_context_of_its_first_use() -> None:
    text = "## A\n\nRead [the guide][g] first, [then][g] more.\n\n## B\n\n> [G]:\n> guide.md 'x'\n"

    assert _link(text) == Link(
        kind="definition",
        target="guide.md",
        anchor=None,
        link_type="references",
        label="G",
        line=7,
        column=3,
        byte_start=text.index("guide.md"),
        byte_end=text.index(" 'x'"),
        context="Read [the guide][g] first, [then][g] more.",
        section=0,
        meant_type=None,
    )


def test_unused_definition_is_a_link_but_one_used_only_by_an_image_is_not() -> None:
    links = _links("![logo] [![logo]](a.md)\n\n[logo]: logo.svg\n[b]: b.md#c\n")

    assert [(link.kind, link.target, link.context) for link in links] == [
        ("markdown", "a.md", "![logo] [![logo]](a.md)"),
        ("definition", "b.md", "[b]: b.md#c"),
    ]


@pytest.mark.parametrize(
    ("label", "link_type", "kept", "meant"),
    [
        ("depends_on", "depends_on", None, None),
        (" implements ", "implements", None, None),
        ("the database", "references", "the database", None),
        ("depend_on", "references", "depend_on", "depends_on"),
        ("depends-on", "references", "depends-on", "depends_on"),
        ("Depends on", "references", "Depends on", "depends_on"),
        ("conflict_with", "references", "conflict_with", "conflicts_with"),
        ("implments", "references", "implments", "implements"),
        ("Extends", "references", "Extends", "extends"),
        ("依存", "references", "依存", None),
        ("depends on the weather", "references", "depends on the weather", None),
        ("blocked_by", "references", "blocked_by", None),
        ("300", "references", "300", None),
        ("", "references", "", None),
    ],
)
def test_label_is_a_type_a_text_or_a_likely_typo(
    label: str, link_type: str, kept: str | None, meant: str | None
) -> None:
    link = _link(f"[[Page|{label}]]")

    assert (link.link_type, link.label, link.meant_type) == (link_type, kept, meant)


def test_link_in_a_table_cell_has_its_row_as_context_and_its_own_bytes() -> None:
    text = (
        "> - | ページ \\| x | links |\n"
        ">   |---|:-:|\n"
        ">   | [[認証]] | \\| [[a\\|b]] `x \\| y` [c](d.md) |\n"
        ">   plain [[e]] | | too many [[f]]\n"
    )
    data = text.encode()
    lines = text.split("\n")
    links = _links(text)

    assert [(link.target, link.label, link.line) for link in links] == [
        ("認証", None, 3),
        ("a", "b", 3),
        ("d.md", "c", 3),
        ("e", None, 4),
    ]
    for link in links:
        assert data[link.byte_start : link.byte_end].decode() == link.target
        assert lines[link.line - 1][link.column - 1 :].startswith("[")
    assert links[1].context == "> | [[認証]] | \\| [[a\\|b]] `x \\| y` [c](d.md) |"


def test_byte_range_of_a_target_covers_it_as_written() -> None:
    text = (
        "\ufeff[[ 頁 ]] [x](%E8%AA%8D.md)\r\n\r\n- \tlist [[b]]\r\n\r\n  \tmore [[c]]\r"
        "# h [[d]] #\rset\r[[e]]\r---\r\u3000[[f]] 😀 [[g]] ![[h]]\r\r[i](<j k>)"
    )
    data = text.encode()

    assert [data[link.byte_start : link.byte_end].decode() for link in _links(data)] == [
        *("頁", "%E8%AA%8D.md", "b", "c", "d", "e", "f", "g", "h", "j k")
    ]


def test_front_matter_has_no_links_and_lines_count_from_the_start_of_the_file() -> None:
    data = b"---\nrefs: [[a]]\n---\n\n[[b]]\n"

    (link,) = parse_markdown(data, body=data.index(b"\n\n") + 1).links

    assert (link.target, link.line) == ("b", 5)


def test_context_is_fifty_characters_on_each_side() -> None:
    link = _link("あ" * 60 + "[[b]]" + "c" * 60)

    assert link.context == "あ" * 50 + "[[b]]" + "c" * 50


def test_very_long_label_and_context_are_truncated_at_the_end() -> None:
    link = _link(f"[{'a' * 5000}](b.md)")

    assert (link.label, link.context) == ("a" * 500, "[" + "a" * 499)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[Page](x.md)]", ["x.md"]),
        ("![[a]](b.png) [[c]]", ["c"]),
        ("[a [[b]] c](d.md)", ["b"]),
        ("[a ![[b]] c](d.md)", ["b", "d.md"]),
        ("[![a](b.png)](c.md)", ["c.md"]),
        ("[[a]](b.md) [[c]](aside) [[d]](#e)", ["b.md", "c", ""]),
        ("[[a]][b]\n\n[b]: c.md", ["c.md"]),
        ("[[a]] [[b|x]]\n\n[a]: notes/a.md\n[b|x]: b", ["a", "b", "notes/a.md", "b"]),
        ("[[1]]\n\n[1]: papers/one.pdf", ["papers/one.pdf"]),
        ("[[a\\]] [[b\\|c]] [[d\\e]]", ["b", "d\\e"]),
        ("[[ ]] [[#]] [[|x]] [[a\nb]]", []),
        ("[x]() [y](#)", ["", ""]),
        ("[a](b%2) [c](d%FF.md) [e](f%00)", ["b%2", "d%FF.md", "f%00"]),
        ("[a](b&#46;md) [c](d.md?e=f#g) [h](i.md?j)", ["b.md", "d.md", "i.md"]),
        ("[a]\n(b.md)", []),
        ("\\\\[[a]] \\[[b]]", ["a"]),
        ("<https://example.com/[[a]]> [[b]]", ["b"]),
        ("~~[[a]]~~ **[b](c.md)** *[[d*]]", ["a", "c.md", "d*"]),
        ("[[https://example.com]] [[mailto:a@b.c]] [[C++: basics]]", ["C++: basics"]),
    ],
)
def test_links_are_found_in_each_example(text: str, expected: list[str]) -> None:
    assert [link.target for link in _links(text)] == expected


HOSTILE = {
    "links in one line": b" ".join(
        b"[[Page %d|a label]] [b](c%d.md)" % (n, n) for n in range(17_500)
    ),
    "Japanese links in one line": " ".join(f"[[頁{n}|表示]]です" for n in range(35_000)).encode(),
    "links in many lines": b"\n".join(b"[[Page %d]]" % n for n in range(35_000)),
    "links in a table": b"|a|\n|-|\n" + b"|[[x\\|y]]|\n" * 10_000,
    "links in one row": b"|" + b"a|" * 2_000 + b"\n|" + b"-|" * 2_000 + b"\n|" + b"[[x]]|" * 2_000,
    "definitions": b"\n".join(b"[%d]: page%d.md" % (n, n) for n in range(10_000)),
    "nested brackets": b"[" * 10_000 + b"x" + b"](a.md)" * 10_000,
    "nested images": b"![" * 10_000 + b"x" + b"](a.png)" * 10_000,
    "open wikilinks": b"[[a " * 50_000,
    "open targets": b"[a](<b" * 30_000,
    "open parentheses": b"[a](" * 20_000,
    "open titles": b"[a](b 'c\" " * 50_000,
    "open comments": b"x <!-- " * 50_000,
    "open sections": b"x <![CDATA[ <? <!x " * 50_000,
    "open tags": b'x <a b="' * 50_000,
    "runs of backticks": b" ".join(b"`" * (n % 500 + 1) for n in range(4_000)),
    "quotes": b">" * 10_000 + b" x",
    "lists": b"- " * 10_000 + b"x",
    "deeper and deeper": b"\n".join(b" " * (2 * n) + b"- [[x]]" for n in range(500)),
    "a paragraph": b"word word\n" * 100_000,
    "a heading of brackets": b"## " + b"[" * 50_000,
    "equal headings": b"## A\n" * 10_000,
    "one word": b"x" * 1_000_000,
    "one sentence": "漢".encode() * 300_000,
    "NULs": b"\0" * 100_000,
    "not UTF-8": b"\xff [[x]]\n" * 10_000,
    "carriage returns": b"## a\r[[b]]\r" * 10_000,
    "comments of MDX": b"{/*\n\n" * 200_000,
    "a late end of comments": b"{/*\n\n" * 200_000 + b"*/} x\n",
    "spaces in an entry of a toctree": b"```{toctree}\nx" + b" " * 100_000 + b"x\n```\n",
    "open comments and a role": b"{doc}`x` " + b"x <!-- " * 50_000,
    "components": b"<A>\n" * 100_000 + b"<B>\n\n" * 100_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_links_of_a_hostile_page_are_found_in_linear_time(name: str) -> None:
    start = time.process_time()
    facts = parse_markdown(HOSTILE[name])

    assert facts.sections
    assert (
        time.process_time() - start < 30
    )  # the slowest takes half a second, a quadratic one hours


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{{< ref "old guide.md" >}} {{< ref `old guide` >}} {{% relref "old" %}}', ["old"]),
        ("{{< ref old >}} {{< ref path=old.md >}}", ["old", "old.md"]),
        (":::{toctree}\n:hidden:\n:::\n\nWords\n", []),
        (":::{toctree}\n:hidden:\n\nself\nmyself\n:::\n", ["myself"]),
        (":::{code-block} md\n{doc}`no`\n:::\n\n{doc}`a`\n", ["a"]),
        (":::{note}\n{doc}`a`\n:::\n", ["a"]),
        ("````{note}\n{doc}`a`\n\n```\n{doc}`no`\n```\n\n{doc}`b`\n````\n", ["a", "b"]),
        ("````{figure-md}\n{doc}`no`\n````\n", []),
        ("Text <!-- {doc}`no` --> {doc}`a`\n\n`<!--` {doc}`b`\n", ["a", "b"]),
        ("Text <!-- {doc}`no`\n\n{doc}`a`\n", ["a"]),
    ],
)
def test_references_of_generators_are_read_where_they_are_text(
    text: str, expected: list[str]
) -> None:
    assert [link.target for link in parse_markdown(f"# X\n\n{text}".encode()).embedded] == expected


def test_links_in_deeply_nested_items_are_found() -> None:
    text = "".join(f"{'  ' * depth}- [[{depth}]]\n" for depth in range(25))

    assert [link.target for link in _links(text)] == [str(depth) for depth in range(25)]


@given(st.binary(max_size=300))
@settings(deadline=None)
def test_arbitrary_bytes_raise_nothing(data: bytes) -> None:
    parse_markdown(data)


@given(st.text(max_size=300), st.integers(0, 300))
@settings(deadline=None)
def test_links_of_arbitrary_text_can_be_stored(text: str, body: int) -> None:
    facts = parse_markdown(text.encode("utf-8", "surrogatepass"), body)

    repr(facts).encode()


PIECES = [
    *"[]()|!\\`<>#-\n ",
    *(
        "[[",
        "]]",
        "](",
        "\\|",
        "[a]: b.md\n",
        "page.md",
        "%20",
        "| a |\n|---|\n",
        "> ",
        "- ",
        "## ",
    ),
    *("認証", "😀", "\r\n", "\n\n", "\t", "\0", "\ufeff", "\u3000"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
@settings(deadline=None, max_examples=500)
def test_links_are_at_the_positions_they_claim(text: str) -> None:
    data = text.encode()
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")

    for link in _links(data):
        written = data[link.byte_start : link.byte_end].decode().replace("\0", "\ufffd")
        is_plain = "\\" not in written and "%" not in written
        assert written == link.target or not (is_plain or link.kind in {"wikilink", "embed"})
        assert lines[link.line - 1][link.column - 1 :].startswith(("[", "!["))

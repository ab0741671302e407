"""Charsets and the conversion of single pages."""

import pytest

from ubp.sync.convert import HtmlPage, decode


@pytest.mark.parametrize(
    ("encoding", "header", "meta"),
    [
        ("utf-8", "iso-8859-1", ""),
        ("utf-8", "", "shift_jis"),
        ("shift_jis", "Shift_JIS", ""),
        ("euc-jp", "", "euc-jp"),
        ("utf-16", "utf-8", ""),
        ("iso-2022-jp", "iso-2022-jp", ""),
        ("utf-8-sig", "windows-1252", ""),
        ("cp932", "no-such-charset", "x-sjis"),
    ],
)
def test_text_is_read_whatever_charset_is_declared(encoding, header, meta):
    html = f'<head><meta charset="{meta}"></head><h1>型の仕様</h1>' if meta else "<h1>型の仕様</h1>"
    content_type = f'text/html; charset="{header}"' if header else "text/html"
    assert decode(html.encode(encoding), content_type) == html


def test_bytes_of_no_charset_are_read_as_windows_1252():
    assert decode(b"caf\xe9 \x93x\x94", "text/html") == "café “x”"


def convert(html, url="https://spec.example/a/b.html", targets=()):
    markdown = HtmlPage(html, url).convert(lambda address: address, targets)
    return markdown.partition("---\n\n")[2]


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ('<h2 id="own">T</h2>', "## T {#own}"),
        ('<h2><a name="in"></a>T</h2>', "## T {#in}"),
        ('<a id="before"></a><h2>T</h2>', "## T {#before}"),
        ('<section id="around"><h2>T</h2></section>', "## T {#around}"),
        ('<h2 id="own">T <a class="headerlink" href="#linked">¶</a></h2>', "## T {#linked}"),
        ('<h2 id="own">T <a href="#own">§</a></h2>', "## T {#own}"),
        ("<h2>T</h2>", "## T"),
        ('<h2 id="a b">T</h2>', "## T"),
        ("<h2 id='x\"y'>T</h2>", "## T"),
    ],
)
def test_a_heading_keeps_the_id_that_links_use(html, markdown):
    assert convert(f"<h1>Page</h1>{html}") == f"# Page\n\n{markdown}\n"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>&lt;b&gt; a_b __init__ *x* [y] `z`</p>", r"\<b> a_b \__init_\_ \*x\* \[y] \`z\`"),
        ("<p>&amp;lt; 2<sup>8</sup> x<sub>i</sub></p>", r"\&lt; 2^8 x\_i"),
        ("<p># no heading</p>", r"\# no heading"),
        ("<p><code>a_b *x* [y] &lt;</code></p>", "`a_b *x* [y] <`"),
        ('<p><a href="c.html">c</a></p>', "[c](https://spec.example/a/c.html)"),
        ('<base href="/z/"><p><a href="c.html">c</a></p>', "[c](https://spec.example/z/c.html)"),
        ('<p><img src="i.png" alt="Figure"></p>', "![Figure](https://spec.example/a/i.png)"),
        ('<p><img src="data:image/png;base64,AAAA" alt="x">Text</p>', "Text"),
    ],
)
def test_text_that_looks_like_markup_stays_text(html, markdown):
    assert convert(f"<h1>Page</h1>{html}") == f"# Page\n\n{markdown}\n"


def test_private_characters_of_a_page_forge_no_ids():
    assert convert("<h1>Page</h1><h2>T \ue001forged\ue002</h2>") == "# Page\n\n## T forged\n"


def test_deep_nesting_is_converted_or_cut_but_never_fails():
    assert convert("<h1>Page</h1>" + "<div>" * 20_000 + "deep").startswith("# Page")


def test_a_page_without_a_heading_gets_its_title():
    assert convert("<title>A *title*</title><p>Text</p>") == "# A \\*title\\*\n\nText\n"

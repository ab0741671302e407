"""Charsets and the conversion of single pages."""

import pytest

from ubp.sync.convert import HtmlPage, decode, is_too_deep


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


@pytest.mark.parametrize("charset", ["utf-7", "unicode-escape", "raw_unicode_escape"])
@pytest.mark.parametrize("is_in_header", [True, False])
def test_a_charset_that_browsers_do_not_know_adds_no_text(charset, is_in_header):
    content_type = f"text/html; charset={charset}" if is_in_header else "text/html"
    html = rf'<meta charset="{charset}"><p>caf\xe9 +AEk-gnore \u0049gnore</p>'
    body = html.encode("ascii") + (b"" if charset == "utf-7" else b"\xe9")
    assert "Ignore" not in decode(body, content_type)


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


@pytest.mark.parametrize("element", ["emu-clause", "section"])
def test_heading_of_a_nested_section_is_below_that_of_the_outer_one(element):
    inner = "<{0} id=b><h1 title=x><b>B</b></h1><{0} id=c><h1>C</h1></{0}></{0}>"
    markdown = convert(f"<{{0}} id=a><h1>A</h1>{inner}</{{0}}>".format(element))
    assert markdown == "# A {#a}\n\n## **B** {#b}\n\n### C {#c}\n"


def test_two_articles_beside_each_other_keep_their_headings():
    html = "<section><article><h1>A</h1></article><article><h1>B</h1></article></section>"
    assert convert(html) == "# A\n\n# B\n"


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


HIDING = [
    *("color:#fff", "color:white", "color: #FFFFFF", "color:rgb(255,255,255)", "color:#fefefe"),
    *("background:#123456;color:#123456", "background-color:navy;color:navy"),
    *("color:transparent", "color:rgba(0,0,0,0)", "color:#0000", "color:rgb(0 0 0 / 0%)"),
    *("-webkit-text-fill-color:transparent", "display:none", "DISPLAY : None !important"),
    *("d\\69splay:none", "display:/**/none", "visibility:hidden", "visibility:collapse"),
    *("opacity:0", "opacity:0.00", "opacity:.01", "opacity:1%", "filter:opacity(0)"),
    *("clip-path:inset(100%)", "clip-path:circle(0)", "clip-path: inset(50%)"),
    *("clip-path:polygon(0 0,0 0,0 0)", "position:absolute;clip:rect(0,0,0,0)"),
    *("clip:rect(1px, 1px, 1px, 1px)", "height:0;overflow:hidden", "overflow:hidden;max-height:0"),
    *("width:1px;overflow:hidden", "overflow-y:clip;height:0px", "transform:scale(0)"),
    *("transform:scaleX(0)", "transform:scale(.001)", "transform:matrix(0,0,0,0,0,0)"),
    *("transform:translateX(-9999px)", "transform: rotateY(90deg)", "scale:0", "zoom:0"),
    *("font-size:0", "font-size:0.1px", "font-size:.01em", "font:0.1px serif", "font:0/0 a"),
    *("position:absolute;left:-9999px", "left:-999em", "text-indent:-9999px", "top:-100vh"),
    *("margin-left:-9999px", "content-visibility:hidden"),
]
SEEN = [
    *(
        "color:#333",
        "color:inherit",
        "background:#000;color:#fff",
        "color:var(--text)",
        "opacity:1",
    ),
    *("font-size:0.9em", "font:12px/1 serif", "height:0", "overflow:hidden", "left:-10px"),
    *("clip-path:circle(50%)", "clip-path:inset(10%)", "transform:scale(1.1)", "width:1px"),
    *("transform:translateX(-50%)", "zoom:1", "text-indent:-1em", "visibility:visible"),
    *("background:url(x.png);color:#fff", "display:block", "max-height:100px;overflow:hidden"),
]


def is_shown(html):
    """Return whether a text of the page is in its Markdown without being marked."""
    markdown = convert(f"<h2>Before.</h2>{html}<h2>After.</h2>")
    assert "Before." in markdown
    assert "After." in markdown
    assert "hidden in the page" in markdown or ("SECRET" in markdown) <= ("\\[" not in markdown)
    return "SECRET" in markdown and "hidden in the page" not in markdown


@pytest.mark.parametrize("style", HIDING)
def test_convert_text_hidden_by_css_is_removed_or_marked(style):
    assert not is_shown(f'<p style="{style}">SECRET</p>')
    assert not is_shown(f'<div style="{style}"><p>SECRET</p></div>')
    for rule in (
        f".a{{{style}}}",
        f"p.a{{{style}}}",
        f"x,.a{{{style}}}",
        f"@media all{{.a{{{style}}}}}",
    ):
        assert not is_shown(f'<style>b{{top:0}} {rule}</style><p class="a">SECRET</p>')
    assert not is_shown(
        f"<style>section{{ p {{{style}}} }}</style><section><p>SECRET</p></section>"
    )


@pytest.mark.parametrize("style", SEEN)
def test_convert_text_that_css_shows_is_kept(style):
    assert is_shown(f'<p style="{style}">SECRET</p>')
    assert is_shown(f'<style>.a{{{style}}}</style><p class="a">SECRET</p>')


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("<dialog>SECRET</dialog>", False),
        ("<dialog open>SECRET</dialog>", True),
        ("<div popover>SECRET</div>", False),
        ('<span class="sr-only">SECRET</span>', False),
        ('<span class="x visually-hidden">SECRET</span>', False),
        ('<font color="white">SECRET</font>', False),
        ('<table bgcolor="black"><td><font color="white">SECRET</font></td></table>', True),
        ('<div style="background:black"><p style="color:white">SECRET</p></div>', True),
        ('<div style="background:black"><p style="color:black">SECRET</p></div>', False),
        ("<details><summary>More</summary>SECRET</details>", True),
        ("<style>.t{display:none} .t.on{display:block}</style><p class='t on'>SECRET</p>", True),
        ("<style>.t.on{display:none} .t{display:block}</style><p class='t on'>SECRET</p>", False),
        ("<style>p{display:none!important} #i{display:block}</style><p id=i>SECRET</p>", False),
        ("<style>p{display:none}</style><p style='display:block'>SECRET</p>", True),
        ("<style>@media print{p{display:none}}</style><p>SECRET</p>", True),
        ("<style media=print>p{display:none}</style><p>SECRET</p>", True),
        ("<style>.a:hover{display:none} .a::before{top:0}</style><p class=a>SECRET</p>", True),
        ("<style>.a{color:red; .b{top:0} display:none}</style><p class=a>SECRET</p>", False),
        ("<style>.a{&.b{display:none}}</style><p class='a b'>SECRET</p>", False),
        ("<style>.a{display:none</style><p class=a>SECRET</p>", False),
    ],
)
def test_convert_what_a_reader_sees_is_what_is_kept(html, shown):
    assert is_shown(html) is shown


def test_convert_text_without_contrast_is_marked():
    assert convert('<p>A <span style="color:#fff">spoiler</span>.</p>').endswith(
        "A \\[hidden in the page: spoiler].\n"
    )


def test_convert_many_rules_and_elements_are_bounded(monkeypatch):
    calls = []
    monkeypatch.setattr("ubp.sync.hidden.MAX_RULES_TIMES_ELEMENTS", 1000)
    monkeypatch.setattr(
        "ubp.sync.hidden._specificity", lambda part: calls.append(part) or (0, 0, 1)
    )
    convert(f"<style>{'p{top:0}' * 500}</style>{'<p>x</p>' * 98}")
    assert 0 < len(calls) <= 98 * 11


@pytest.mark.parametrize(
    "element",
    [
        "<div>",
        "<div></span>",
        "<div title='</div>'>",
        "<div><!--</div>-->",
        "<div><script></div></script>",
        "<svg><style><div></style>",
        "<ul><li>",
    ],
)
def test_page_of_elements_without_end_is_too_deep_however_they_seem_to_end(element):
    assert is_too_deep(element * 2001)


def test_formatting_that_each_paragraph_opens_again_is_too_deep():
    paragraphs = [f"<p><b class={number}>x</i></p>" for number in range(400)]
    assert is_too_deep("".join(paragraphs))


@pytest.mark.parametrize(
    "element",
    [
        "<div><p>a<p>b<br><li>c</div>",
        "<DIV title='<div>'></div>",
        "<!-- <div> --><b class=x>a</b>",
        "<script>'<div>'</script>",
        '<a href="x">y</a><img alt="a > b">',
    ],
)
def test_page_of_many_elements_that_end_is_not_too_deep(element):
    assert not is_too_deep(element * 3000)


def test_main_element_with_the_title_is_the_text_whatever_headings_are_beside_it():
    page = HtmlPage(
        "<title>T</title><body><div><h2>Keyboard shortcuts</h2></div><h1>The book</h1>"
        "<main><h1>Slices</h1><p>Text.</p></main></body>",
        "https://book.example/",
    )
    assert page.convert(lambda address: address, ()).endswith("---\n\n# Slices\n\nText.\n")


def test_page_without_title_and_heading_gets_no_empty_heading():
    page = HtmlPage("<h2>Types</h2><p>Text.</p>", "")
    assert "\n\n## Types\n\nText.\n" in page.convert(lambda address: address, ())

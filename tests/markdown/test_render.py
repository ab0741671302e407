"""Pages as HTML for reviewers: what they contain is shown and does nothing."""

import re

from ubp.markdown.render import render_blocks

PAGE = """# A *title*

See [x](javascript:1), [y **z**](http://e.com "t"), <http://u> and [l][r]. ![a](http://t/x.png)

| a | |
|:--|--|
| 1 | <b>2</b> |

3. x
   - z

<script>alert(1)</script>

```py
<x>
```

[r]: foo.md
"""


def test_rendered_blocks_have_no_links_images_headings_or_markup():
    blocks = render_blocks(PAGE)
    assert blocks[0] == '<p class="heading h1">A <em>title</em></p>\n'
    assert blocks[1] == (
        '<p>See [x](javascript:1), <span class="link">y <strong>z</strong></span>'
        ' <small>(http://e.com)</small>, <span class="link">http://u</span> and'
        ' <span class="link">l</span> <small>(foo.md)</small>.'
        ' <span class="image">a <small>(http://t/x.png)</small></span></p>\n'
    )
    assert [re.match(r"<(\w+)", block)[1] for block in blocks] == [
        *("p", "p", "table", "ol", "p", "pre"),
    ]
    tags = set(re.findall(r"</?(\w+)", "".join(blocks)))
    assert tags == {
        *("p", "em", "strong", "span", "small", "code", "pre", "ol", "ul", "li"),
        *("table", "thead", "tbody", "tr", "td"),
    }
    assert "style=" not in "".join(blocks)


def test_quotation_mark_in_a_target_does_not_end_the_attribute():
    (block,) = render_blocks('[a](<x"onclick=b> "t") ![b](<y"z>)')
    assert block == (
        '<p><span class="link">a</span> <small>(x%22onclick=b)</small>'
        ' <span class="image">b <small>(y%22z)</small></span></p>\n'
    )

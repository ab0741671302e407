"""The report's file: whole, closed, and the same markup whatever a repository contains."""

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from jinja2 import UndefinedError
from markupsafe import Markup

from ubp.bindings.review import Binding, BindingReview, ReviewedBinding
from ubp.checks.finding import Finding
from ubp.core.model import Assessment, Commit, Page, PageFacts, ReferenceVerdict, Snapshot
from ubp.core.model import SourceReference as Source
from ubp.frame.wording import printable, printable_line
from ubp.output.html import lists, pages
from ubp.output.html import lists as bindings
from ubp.output.html.markup import path_text, render
from ubp.output.html.report import report_html
from ubp.report.values import (
    AgeGroup,
    ChangedSource,
    Folder,
    Levels,
    OtherPage,
    Point,
    Report,
    Span,
    StalePage,
)

ID = "1" * 40


def make_report(text="x", *, copies=1):
    """A report with everything in it, and this text wherever a repository's text may appear."""
    reference = Source(text, text, text, text, text, 3, text, text)
    commits = tuple(Commit(ID, 5, text, text) for _ in range(5))
    answer = ReferenceVerdict(
        reference,
        text,
        "moved",
        "stale",
        "pin",
        moved_to=text,
        since=5,
        age_days=9,
        commits=commits,
    )
    sources = (
        ChangedSource(answer, 1, 2, 9, f"+{text}".replace("\n", " "), cut_lines=3, missing=(ID,)),
        ChangedSource(answer._replace(verdict="modified"), same_as=0),
        ChangedSource(answer._replace(verdict="unknown"), cut_lines=7),
    )
    page = Page(text, ID, PageFacts(text, text, (text,), (text,), (reference,), ()))
    stale = StalePage(Assessment(page, "stale", (answer,)), sources, 4, 1, 2, 9, 9)
    finding = Finding("broken-link", text, 3, text, text, 4, text, text)
    return Report(
        name=text,
        snapshot=Snapshot("worktree", ID, {}),
        documents=9,
        now=5,
        threshold_days=7,
        levels=Levels(3, 1, 1, 4, 0),
        folders=(Folder(text, is_rest=False, levels=Levels(1, 2, 3, 4, 5)),),
        ages=(AgeGroup(0, 1, 2), AgeGroup(None, 3, 0)),
        trend=(Point(ID, 5, Levels(fresh=3)), Point(None, 9, Levels(3, 1, 1, 4))),
        span=Span("weeks", 12),
        pages=(stale,) * copies,
        others=(OtherPage(page, "fresh", 2),) * copies,
        findings=(finding, finding._replace(severity="warning", about=answer)) * copies,
        ignored=2,
        orphans=(finding._replace(rule="orphan-doc"),) * copies,
        review=make_review(text, copies),
        keys=(text,),
    )


def make_review(text, copies):
    """A review of two bindings, of which one is too wide."""
    binding = Binding(text, text, 3, "modified", 2, is_wide=True)
    found = ReviewedBinding(binding, "wide", 9, 8, 2, 1, 3, (text, text))
    others = (found._replace(judgement="sound", proposal=()),)
    return BindingReview((*(found,) * copies, *others), 500, 5, is_shallow=True)


class Skeleton(HTMLParser):
    """The tags and attributes of a page without what they hold, and its text apart."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.texts, self.values = [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, name, attributes):
        if name != "wbr":  # behind the slashes of a path
            self.tags.append((name, *(key for key, _ in attributes)))
        self.values += [value for _, value in attributes]

    def handle_endtag(self, name):
        self.tags.append(f"/{name}")

    def handle_data(self, text):
        self.texts.append(text)

    def handle_comment(self, _):
        self.tags.append("comment")

    handle_decl = handle_pi = unknown_decl = handle_comment


PLAIN = Skeleton(report_html(make_report())).tags
FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
HOSTILE = st.text(min_size=1) | st.sampled_from(
    [
        "</script><script>alert(1)</script>",
        "<!--<script>",
        "]]><img src=x onerror=alert(1)>",
        "\"'><svg onload=alert(1)>",
        "a\nb\r\x00\x1b[31m",
        "{{script}} {{policy}}",
        "\u202etxt.exe\u2066",
        "&lt;&amp;#x3c;",
        "\udcff\ud800",
        "認証 フロー/日本.md",
        "-",
        "javascript:alert(1)",
        "</style></title></textarea></details>",
    ]
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(HOSTILE)
@example("\t")
def test_arbitrary_text_does_not_change_the_markup(text):
    page = report_html(make_report(text))
    found = Skeleton(page)
    assert found.tags == PLAIN
    assert FORBIDDEN.search(page.replace("\n", "")) is None
    page.encode("utf-8")


@settings(max_examples=40, deadline=None)
@given(HOSTILE)
def test_text_is_shown_unchanged_except_invisible_characters(text):
    read = "".join(Skeleton(report_html(make_report(text))).texts)
    assert printable(text) in read
    assert printable_line(f"+{text}".replace("\n", " ")) in read


def test_policy_allows_only_the_own_style_and_script():
    page = report_html(make_report())
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    hashes = [
        b64encode(sha256(content.encode()).digest()).decode()
        for content in re.findall(r"<(?:style|script)>(.*?)</(?:style|script)>", page, re.DOTALL)
    ]
    assert policy.replace("&#39;", "'") == (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}';"
        " base-uri 'none'; form-action 'none'"
    )


def test_report_refers_to_no_other_host():
    found = Skeleton(report_html(make_report()))
    names = {name for tags in found.tags if isinstance(tags, tuple) for name in tags[1:]}
    assert (
        names & {"src", "srcset", "action", "style", "onclick", "background", "data", "ping"}
        == set()
    )
    links = [value for value in found.values if value and value.startswith(("http", "//", "data:"))]
    assert links == []


def test_same_report_gives_the_same_file():
    assert report_html(make_report("a")) == report_html(make_report("a"))


def test_pages_beyond_the_limit_are_counted(monkeypatch):
    for name, most in (("MAX_FINDINGS", 4), ("MAX_ORPHANS", 2), ("MAX_OTHERS", 2)):
        monkeypatch.setattr(lists, name, most)
    monkeypatch.setattr(pages, "MAX_PAGES", 2)
    monkeypatch.setattr(bindings, "MAX_BINDINGS", 2)
    read = "".join(Skeleton(report_html(make_report(copies=5))).texts)
    for rest, command in (
        (3, "ubp stale"),
        (6, "ubp check"),
        (3, "ubp check --rule orphan-doc"),
        (3, "ubp stale --all"),
    ):
        assert f"and {rest} more: run {command} --key x" in read


def test_source_shows_how_often_its_changes_were_answered():
    read = "".join(Skeleton(report_html(make_report())).texts)
    assert read.count(" line 3, page updated after 3 of 5 changes") == 3
    assert "x:3x list instead: x, xwide8212" in read


def test_commits_of_less_important_pages_are_counted(monkeypatch):
    monkeypatch.setattr(pages, "MAX_DETAILS", 0)
    assert report_html(make_report()).count("<ol><li>5 commits by x</li></ol>") == 3


def test_empty_report_says_that_nothing_was_verified():
    empty = Report("x", Snapshot("worktree", None, {}), 0, levels=Levels(), pages=())
    read = " ".join("".join(Skeleton(report_html(empty)).texts).split())
    assert "No page lists sources; nothing to verify." in read
    assert "100% fresh" not in read


def test_template_escapes_values_and_markup_is_a_type():
    rows = [('"<', Markup("<br>"), 1), ("{{ rows }}\u202e", None, 1000)]
    page = render("ages.html", rows=rows)
    assert page.partition("<tbody>")[2] == (
        '<tr><th scope="row">&#34;&lt;</th><td><br></td><td class="number">1</td></tr>'
        '<tr><th scope="row">{{ rows }}\\u202e</th><td></td>'
        '<td class="number">1\u202f000</td></tr></tbody></table></section>'
    )
    assert path_text("a/<b>") == "a/<wbr>&lt;b&gt;"


def test_missing_value_of_a_template_is_an_error():
    with pytest.raises(UndefinedError, match="'rows' is undefined"):
        render("ages.html")

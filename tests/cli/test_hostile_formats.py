"""No name, title or commit subject breaks out of any format, whatever it contains."""

import html
import json
import os
import re
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ubp.checks.finding import (
    CheckReport,
    Finding,
    LinkFix,
    Region,
    SourcePlace,
    Suppression,
    number,
)
from ubp.core.model import Commit, Link, ReferenceVerdict, Snapshot, SourceReference
from ubp.core.text import shorten
from ubp.frame.wording import ChangeWords, printable
from ubp.output.ci.github import command
from ubp.output.ci.markdown import MAX_CHARACTERS, MAX_ITEMS, MAX_ROWS, MAX_TEXT_CHARACTERS
from ubp.output.ci.outcome import Outcome, Provenance
from ubp.output.formats import FORMATS, render
from ubp.staleness.model import SourceDiff, Summary

PIECES = [
    *(
        "a",
        "b.md",
        "日本",
        " ",
        "'",
        '"',
        "\n",
        "\r\n",
        "\t",
        "%",
        "%0A",
        "%25",
        ":",
        "::",
        ",",
        "=",
    ),
    *(
        "::error::x",
        "\n::error file=x::y\n",
        "##[add-mask]x",
        "::set-output name=x::y",
        "{0}",
        "{{",
    ),
    *(
        "|",
        "\\|",
        "\\\\|",
        "\\",
        "`",
        "``",
        "```\n",
        "~~~\n",
        "*",
        "_",
        "~~",
        "# ",
        "- ",
        "> ",
        "1. ",
    ),
    *("<b>", "</details>", "</code>", "<script>alert(1)</script>", "<!--", "-->", "<br>", "&amp;"),
    *("&#124;", "[x](http://evil.example)", "![x](y)", "](", "[[x]]", "[x]: y", "@octocat", "#12"),
    *(
        "www.evil.example",
        "https://evil.example",
        "a@evil.example",
        ":smile:",
        "$x$",
        "---",
        "===\n",
    ),
    *("\x1b[31m", "\x07", "\x7f", "\x9b", "\u202e", "\u2066", "\u2028", "\udcff\udc80", "\udce3"),
]
TEXT = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), min_size=1, max_size=6).map(
    lambda pieces: "".join(pieces).replace("\0", "0")
)
PATH = TEXT.map(lambda text: "/".join(filter(None, text.split("/")))).filter(bool)
LINE = st.integers(1, 99)
OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)

COMMIT = st.builds(Commit, st.just("0123456789" * 4), st.integers(0, 2**33), TEXT, TEXT)


@st.composite
def drifts(draw):
    path = draw(PATH)
    reference = SourceReference(path, path, path, None, draw(TEXT), draw(LINE))
    verdict = draw(st.sampled_from(["modified", "created", "deleted", "moved", "not_found"]))
    age = draw(st.none() | st.integers(0, 3000))
    return ReferenceVerdict(
        reference,
        path,
        verdict,
        draw(st.sampled_from(["stale", "possibly_stale"])),
        "history",
        current_blob=None if verdict in {"deleted", "not_found"} else "1" * 40,
        moved_to=draw(PATH) if verdict == "moved" else None,
        since=None if age is None else 1_700_000_000,
        age_days=age,
        commits=tuple(draw(st.lists(COMMIT, max_size=5))),
    )


@st.composite
def findings(draw):
    page, line = draw(PATH), draw(LINE)
    if draw(st.booleans()):
        drift = draw(drifts())
        rule = "stale-doc" if drift.current_blob and not drift.moved_to else "missing-source"
        place = (SourcePlace(drift.moved_to or drift.source_path, draw(st.none() | LINE)),)
        about, fix, region, column = drift, None, None, None
        subject, message = drift.source_path, f"{drift.source_path} was modified."
    else:
        rule = draw(st.sampled_from(["broken-link", "missing-anchor", "bad-front-matter"]))
        subject, column, place = draw(TEXT), draw(LINE), ()
        about = Link("markdown", subject, *[None] * 3, line, column, 0, 1, draw(TEXT), 0, None)
        region = Region(line, column, line, column + 3, column, column + 5)
        fix = LinkFix(about, draw(TEXT), draw(PATH), region)
        message = f"There is no file {subject}."
    return Finding(
        rule=rule,
        filepath=page,
        line=line,
        message=message,
        subject=subject,
        column=column,
        hint=draw(st.sampled_from(["", "Did you mean?"]) | TEXT),
        fix=fix,
        about=about,
        severity=draw(st.sampled_from(["error", "warning"])),
        region=region,
        source_places=place,
    )


@st.composite
def outcomes(draw):
    drawn_findings = number(
        draw(st.lists(findings(), max_size=40, unique_by=lambda finding: finding.filepath))
    )
    cuts = sorted(draw(st.tuples(*[st.integers(0, len(drawn_findings))] * 3)))
    counted, ignored, debts, unknown = (
        tuple(drawn_findings[start:end])
        for start, end in zip([0, *cuts], [*cuts, len(drawn_findings)], strict=True)
    )
    suppression = draw(st.builds(Suppression, st.sampled_from(["comment", "configuration"]), TEXT))
    rules = ("stale-doc", "missing-source", "broken-link", "missing-anchor", "bad-front-matter")
    report = CheckReport(
        snapshot=Snapshot(draw(st.sampled_from(["worktree", "staged", "commit"])), None, {}),
        findings=counted,
        ignored=tuple(finding._replace(suppression=suppression) for finding in ignored),
        documents=9,
        unknown=tuple(finding._replace(severity="note") for finding in unknown),
        rules=rules,
        is_change=draw(st.booleans()),
        debts=tuple(debt._replace(severity="note") for debt in debts),
    )
    pages = draw(st.sampled_from([None, "https://example.com/a/b/blob/main/"]))
    return Outcome(
        command=draw(st.sampled_from(["check", "stale"])),
        report=report,
        exit_status=draw(st.integers(0, 2)),
        version="1.0",
        summary=draw(st.sampled_from([None, Summary(9, 8, 7, 1, 0, 3, 4, 1)])),
        change=ChangeWords(draw(st.none() | TEXT), draw(st.none() | TEXT)),
        keys=tuple(draw(st.lists(TEXT, max_size=1))),
        provenance=Provenance("https://example.com/a/b", None, draw(TEXT), pages),
        diffs={
            (reference.filepath, reference.about): SourceDiff(draw(TEXT))
            for reference in counted[:2]
            if reference.drift
        },
    )


hostile = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@hostile
@given(outcomes())
def test_no_format_contains_terminal_controls(outcome):
    for name in FORMATS:
        text = render(name, outcome)
        assert OBEYED.search(text) is None, name
        text.encode()


def parse_command(line):
    """A line as GitHub's runner reads it."""
    head, _, data = line[2:].partition("::")
    name, _, listed = head.partition(" ")
    properties = dict(pair.split("=", 1) for pair in listed.split(",") if listed)
    escapes = [("%0D", "\r"), ("%0A", "\n")]
    for escape, character in escapes:
        data = data.replace(escape, character)
    for escape, character in [*escapes, ("%3A", ":"), ("%2C", ",")]:
        properties = {key: value.replace(escape, character) for key, value in properties.items()}
    whole = {key: value.replace("%25", "%") for key, value in properties.items()}
    return name, whole, data.replace("%25", "%")


def shown_to_github(path):
    return re.sub("[^\r\n]+", lambda match: printable(match[0]), path)


@hostile
@given(outcomes())
def test_annotations_parse_back(outcome):
    report = outcome.report
    lines = render("github", outcome).splitlines()
    read = [parse_command(line) for line in lines]
    assert all(line.startswith("::") for line in lines)
    kinds = [name for name, _, _ in read]
    assert all(kinds.count(kind) <= 10 for kind in ("error", "warning", "notice"))
    assert set(kinds) <= {"error", "warning", "notice"}
    expected = {
        (shown_to_github(finding.filepath), str(finding.line), finding.rule): finding
        for finding in (*report.findings, *report.debts)
    }
    annotations = [(properties, data) for _, properties, data in read if "file" in properties]
    for properties, data in annotations:
        original = expected[properties["file"], properties["line"], properties["title"]]
        assert set(properties) <= {"file", "line", "endLine", "col", "endColumn", "title"}
        assert data.startswith(printable(original.message))
    left = len(report.findings) + len(report.debts) - len(annotations)
    not_shown = [data for _, properties, data in read if properties["title"] == "not shown"]
    assert sum(map(int, re.findall(r"\d+", "".join(not_shown)))) == left
    assert bool(report.unknown) == any(p["title"] == "not verified" for _, p, _ in read)


@hostile
@given(st.sampled_from(["error", "warning", "notice"]), PATH, TEXT)
def test_printed_command_is_read_as_intended(kind, path, message):
    line = command(kind, message, {"file": path, "line": 3, "col": None})
    assert "\n" not in line
    assert "\r" not in line
    shown = "\n".join(map(printable, message.split("\n")))
    assert parse_command(line) == (kind, {"file": shown_to_github(path), "line": "3"}, shown)


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for item in value.items() for part in item for text in strings(part))
    elif isinstance(value, list):
        yield from (text for item in value for text in strings(item))


@hostile
@given(outcome=outcomes())
def test_machine_formats_are_valid_for_any_report(fits, outcome):
    report = outcome.report
    for name in ("sarif", "rdjson", "gitlab"):
        value = fits(name, render(name, outcome))
        assert all(text.encode() for text in strings(value) if text)  # no half of a surrogate
    results = json.loads(render("sarif", outcome))["runs"][0]["results"]
    all_findings = (*report.findings, *report.ignored, *report.debts)
    for finding, result in zip(all_findings, results, strict=True):
        place = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert unquote_to_bytes(place["uri"]) == os.fsencode(finding.filepath)
        assert re.fullmatch(r"[\w.~%/-]+", place["uri"], re.ASCII)
        assert "](" not in result["message"]["text"]
        assert len(result["suppressions"]) == (finding.suppression is not None)
    names = [result["partialFingerprints"]["ubpFinding/v1"] for result in results]
    assert len(set(names)) == len(names)
    assert len(json.loads(render("gitlab", outcome))) == len(
        (*report.findings, *report.debts, *report.unknown)
    )


PLAIN = re.compile(r"[A-Za-z0-9 ,.:;()'…-]*")
OUR_TAGS = {"<code>", "</code>", "<br>"}
# A name in a summary is code, in which every sign that could mean something is a number.
_CODE = r"<code>(?:[\w /-]|&#\d+;)*</code>"
PAGE_BLOCK = re.compile(
    rf"<details><summary><b>[a-z ]+</b> ({_CODE}): {_CODE} [a-z_]+"
    rf"(?: \({_CODE}(?:, {_CODE})?\))?(?:, and \d+ more sources?)?</summary>\n"
)
OUR_BLOCK = re.compile(r"<details><summary>[A-Za-z0-9 ,:-]+</summary>\n|</details>\n")


def read_markdown(text):
    return MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)


def outside_code(inline):
    """What a reader would take for our own words, once the code is out."""
    is_code, words = False, ""
    for token in inline.children:
        if token.type == "html_inline":
            assert token.content in OUR_TAGS
            is_code = token.content == "<code>" or (is_code and token.content == "<br>")
        elif token.type in {"text", "softbreak"}:
            words += "" if is_code else token.content
        else:
            assert token.type in {"code_inline", "link_open", "link_close", "strong_open"} | {
                "strong_close"
            }
        if token.type == "link_open":
            assert re.fullmatch(
                r"https://example\.com/a/b/blob/main/[\w.~%/-]+(#L\d+)?",
                token.attrs["href"],
                re.ASCII,
            )
    return words


@hostile
@given(outcomes())
def test_markdown_has_no_markup_but_ours(outcome):
    text = render("markdown", outcome)
    tokens = read_markdown(text)
    assert len(text) <= MAX_CHARACTERS
    assert [token.tag for token in tokens if token.type == "heading_open"] == ["h3"]
    for token in tokens:
        if token.type == "html_block":
            assert OUR_BLOCK.fullmatch(token.content) or PAGE_BLOCK.fullmatch(token.content)
        elif token.type == "inline":
            assert PLAIN.fullmatch(outside_code(token))
        else:
            assert token.type in {"fence", "thead_open"} or token.type.startswith(
                ("heading", "paragraph", "table", "t", "bullet_list", "list_item")
            )
    opened = [token.content for token in tokens if token.type == "html_block"]
    assert sum(1 if tag.startswith("<d") else -1 for tag in opened) == 0
    fences = [token for token in tokens if token.type == "fence"]
    assert {token.info for token in fences} <= {"diff", "sh", "text"}
    drifted = [finding for finding in outcome.report.findings if finding.drift]
    sections = [match[1] for tag in opened if (match := PAGE_BLOCK.fullmatch(tag))]
    pages = [html.unescape(section[6:-7]) for section in sections]
    shown = [shorten(printable(finding.filepath), MAX_TEXT_CHARACTERS) for finding in drifted]
    assert sorted(pages) == sorted(shown)
    folds = sum("more page" in tag for tag in opened)
    assert folds == (len(pages) > MAX_ROWS)


@pytest.mark.parametrize("count", [300, 3_000])
def test_comment_stays_within_the_limit_and_says_where_it_was_cut(count):
    path = "docs/" + "x" * 90
    ignored_finding = Finding(
        "broken-link", path, 3, "There is no file x.md.", "markdown x.md", hint="h" * 150
    )
    rules = ("broken-link", "missing-anchor", "bad-front-matter")
    report = CheckReport(
        snapshot=Snapshot("worktree", None, {}),
        findings=tuple(
            ignored_finding._replace(
                rule=rule, line=line, message=f"There is no file {line}.md.", subject=f"{line}.md"
            )
            for rule in rules
            for line in range(count)
        ),
        ignored=(ignored_finding,),
        documents=1,
        unknown=(),
        rules=rules,
    )
    text = render("markdown", Outcome("check", report, 1, "1.0"))
    assert MAX_CHARACTERS - 400 < len(text) <= MAX_CHARACTERS
    assert f"\n- and {count - MAX_ITEMS} more\n" in text
    whole = 3 * (MAX_ITEMS + 3) + 2  # of each rule a title, a manual, its items, how many more
    left = whole - sum(map(text.count, ("<summary>", "More: ", "\n- ")))
    assert text.endswith(f"\n**Truncated: {left} more lines not shown.**\n")
    assert text.count("<details>") == text.count("</details>")

import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ubp.core.errors import PageError
from ubp.core.model import PageFacts
from ubp.markdown.document import parse_page
from ubp.markdown.edit_pins import Pin, write_pins

KEYS = ("source_refs", "code_references[].ref", "docs.covers")
BLOB = "abcdef012345"


def page(front_matter: str, newline: str = "\n", bom: str = "", body: str = "# Body") -> bytes:
    text = f"{bom}---\n{front_matter}---\n{body}"
    return text.replace("\n", newline).encode()


def pin_all(data: bytes, pin: Pin = Pin(BLOB), only: str = "") -> bytes:  # noqa: B008
    references = parse_page(data, KEYS).references
    pins = {reference: pin for reference in references if only in {"", reference.source_path}}
    assert pins
    result = write_pins(data, KEYS, pins)
    assert write_pins(result, KEYS, pins) == result
    return result


def written_cases() -> list:
    text = (Path(__file__).parent / "pins.md").read_text(encoding="utf-8")
    cases = []
    for section in text.split("\n## ")[1:]:
        title = section.partition("\n")[0]
        before, after = re.findall(r"^```yaml\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
        only = re.search(r"^pins: (.*)$", section, re.MULTILINE)
        reason = re.search(r"^reason: (.*)$", section.partition("```")[0], re.MULTILINE)
        pin = Pin(BLOB, reason[1] if reason else None)
        cases.append(pytest.param(before, after, pin, only[1] if only else "", id=title))
    return cases


@pytest.mark.parametrize(("newline", "bom"), [("\n", ""), ("\r\n", "\ufeff"), ("\r", "")])
@pytest.mark.parametrize(("before", "after", "pin", "only"), written_cases())
def test_pins_are_written_in_place(  # noqa: PLR0917
    before: str, after: str, pin: Pin, only: str, newline: str, bom: str
):
    data = page(before, newline, bom)
    assert pin_all(data, pin, only).decode() == page(after, newline, bom).decode()


@pytest.mark.parametrize(("before", "after", "pin", "only"), written_cases())
def test_pins_without_libyaml_are_written_in_place(
    before: str, after: str, pin: Pin, only: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delattr(yaml, "CSafeLoader")
    assert pin_all(page(before), pin, only) == page(after)


REFUSED = [
    ("source_refs: &all [a]\n", "so it is shared."),
    ("source_refs:\n- &one a\n", "so it is shared."),
    ("source_refs:\n- path: &one a\n", "so it is shared."),
    ("one: &one a\nsource_refs:\n- *one\n", "so it is shared."),
    ("all: &all\n- a\nsource_refs: *all\n", "so it is shared."),
    ("one: &one {path: a}\nsource_refs: [*one]\n", "so it is shared."),
    ("source_refs:\n- path: a\n  blob: &id 1234567\n", "is not a plain string."),
    ("source_refs:\n- path: a\n  blob: [1234567]\n", "is not a plain string."),
    ("{source_refs: [a]}\n", "The front matter is written in braces, as a flow mapping."),
    ("source_refs:\n- |\n  a\n", "Its path is a block scalar."),
    ("source_refs: !!seq [a]\n", "It has a YAML tag."),
    ("source_refs: [a]\u2028title: b\n", "Other text follows it on the same line."),
    ("source_refs: a\u2028title: b\n", "The edit would change other parts of the page."),
    ("source_refs:\n- ? path\n  : a\n", "The edit would change other parts of the page."),
    ("source_refs: [{path: # why\n a}]\n", "There is a comment between a key and its value."),
]


@pytest.mark.parametrize(("front_matter", "why"), REFUSED)
def test_pin_that_cannot_be_written_in_place_is_refused(front_matter: str, why: str):
    with pytest.raises(PageError) as caught:
        pin_all(page(front_matter))
    assert caught.value.message.startswith("Cannot write a pin in place for a (line ")
    assert caught.value.cause.endswith(why)
    assert caught.value.hint


def test_reference_that_the_page_lacks_is_refused():
    (other,) = parse_page(page("source_refs: [b]\n"), KEYS).references
    with pytest.raises(PageError, match=r"^The page does not list b as a source\.$"):
        write_pins(page("source_refs: [a]\n"), KEYS, {other: Pin(BLOB)})
    with pytest.raises(PageError):
        write_pins(b"text", KEYS, {other: Pin(BLOB)})


def test_reference_of_another_version_of_the_page_is_found():
    (old,) = parse_page(page("source_refs: [a]\n"), KEYS).references
    data = page("title: x\nsource_refs:\n- b\n- a\n")
    assert write_pins(data, KEYS, {old: Pin(BLOB)}) == page(
        f"title: x\nsource_refs:\n- b\n- path: a\n  blob: {BLOB}\n"
    )


@pytest.mark.parametrize("blob", ["", "123456", "x" * 12, "1" * 41, "1234567\n"])
def test_pin_that_is_not_an_object_id_is_refused(blob: str):
    with pytest.raises(ValueError, match="not an object id"):
        pin_all(page("source_refs: [a]\n"), Pin(blob))


def test_page_without_new_pins_is_unchanged():
    data = page("source_refs: [a]\n")
    assert write_pins(data, KEYS, {}) is data


def test_page_without_a_body_or_with_undecodable_bytes_keeps_its_bytes():
    data = b"---\ntitle: \xff\xe3\x81\nsource_refs:\n- a # \xfe\n---"
    assert pin_all(data) == (
        b"---\ntitle: \xff\xe3\x81\nsource_refs:\n- path: a # \xfe\n  blob: abcdef012345\n---"
    )


# Properties ---------------------------------------------------------------------------------------

NAMES = st.sampled_from(
    ["src/a.py", "src/b c.py", "設計/語.md", "docs/", "pages/[id].ts", "a*.{b,c}"]
)
IDS = st.from_regex(r"\A[0-9a-f]{7,12}\Z")
COMMENTS = st.sampled_from(["", "", " # why", "   # 語 'x' \"y\" {z}"])
SPACERS = st.sampled_from(["", "", "\n", "  # between\n", "# at the margin\n\n"])
REASONS = st.none() | st.text(max_size=15)
QUOTES: list[Callable[[str], str]] = [
    lambda path: "'" + path.replace("'", "''") + "'",
    lambda path: '"' + path.replace('"', '\\"') + '"',
    lambda path: (
        path if path[-1].isalnum() and "{" not in path and "[" not in path else f'"{path}"'
    ),
]


@st.composite
def sources(draw: st.DrawFn, path: str) -> str:
    return draw(st.sampled_from(QUOTES))(path)


@st.composite
def block_items(draw: st.DrawFn, path: str, indent: str) -> str:
    source, comment = draw(sources(path)), draw(COMMENTS)
    if draw(st.booleans()):
        return f"{indent}- {source}{comment}\n"
    lines = [f"{draw(st.sampled_from(['path', 'ref', 'file']))}: {source}{comment}"]
    if draw(st.booleans()):
        quote = draw(st.sampled_from(["", '"', "'"]))
        lines.append(f"blob: {quote}{draw(IDS)}{quote}{draw(COMMENTS)}")
    if draw(st.booleans()):
        reason = draw(
            st.sampled_from(["plain", '"quoted: x"', "'12'", "two\n" + indent + "      lines"])
        )
        lines.append(f"reason: {reason}{draw(COMMENTS)}")
    if draw(st.booleans()):
        role = draw(st.sampled_from(["x", "[y, {z: 1}]", f"|\n{indent}     text"]))
        lines.append(f"role: {role}")
    lines = draw(st.permutations(lines))
    return f"{indent}- " + f"\n{indent}  ".join(lines) + "\n"


@st.composite
def block_lists(draw: st.DrawFn) -> str:
    indent = draw(st.sampled_from(["", "  ", "    "]))
    paths = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    items = [draw(SPACERS) + draw(block_items(path, indent)) for path in paths]
    return f"source_refs:{draw(COMMENTS)}\n" + "".join(items)


@st.composite
def flow_mappings(draw: st.DrawFn, path: str) -> str:
    fields = [f"{draw(st.sampled_from(['path', 'ref', 'file']))}: {draw(sources(path))}"]
    fields += draw(st.lists(st.sampled_from(["role: x", "list: [y, {z: 1}]"]), unique=True))
    if draw(st.booleans()):
        fields.append(f"blob: {draw(IDS)}")
    return "{" + ", ".join(draw(st.permutations(fields))) + "}"


@st.composite
def flows(draw: st.DrawFn) -> str:
    paths = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    items = [draw(flow_mappings(path) | sources(path)) for path in paths]
    joint = draw(st.sampled_from([", ", ",", " ,\n  ", ", # c\n  ", ",\n  # own\n  "]))
    opening = draw(st.sampled_from(["[", "[ ", "[\n  ", "[ # c\n  "]))
    closing = draw(st.sampled_from(["]", " ]", "\n  ]", ",\n  ]", " # c\n  ]"]))
    single = st.just(items[0])
    value = draw(st.just(opening + joint.join(items) + closing) | single)
    break_first = draw(st.sampled_from([" ", "\n  "]))
    return f"source_refs:{break_first}{value}{draw(COMMENTS)}\n"


HEADS = st.sampled_from(
    ["", "title: 'x'   # t\n", "# 語\ntags: [a,  b]\n", "other:\n  - {a: b}\n\n"]
)
TAILS = st.sampled_from(["", "\n# end\n", "aliases: [x]  # a\n", "docs: {hides: [z]}\nlast:   1\n"])
BODIES = st.sampled_from(["", "Body", "Body\n", "\n---\nsource_refs: [q]\n---\n"])


def expected_facts(before: PageFacts, pins: dict) -> PageFacts:
    references = [
        reference._replace(
            line=0,
            pin=pins[reference].blob,
            reason=" ".join((pins[reference].reason or "").split())
            # a reason that is written in several lines is not removed
            or (reference.reason if reference.reason == "two lines" else None),
        )
        if reference in pins
        else reference._replace(line=0)
        for reference in before.references
    ]
    return before._replace(references=tuple(references), problems=())


def without_lines(facts: PageFacts) -> PageFacts:
    references = tuple(reference._replace(line=0) for reference in facts.references)
    return facts._replace(references=references, problems=())


@given(
    HEADS, block_lists() | flows(), TAILS, BODIES,
    st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from(["", "\ufeff"]), st.data(),
)  # fmt: skip
def test_page_with_new_pins_differs_only_in_its_pins(  # noqa: PLR0917
    head: str, references: str, tail: str, body: str, newline: str, bom: str, data: st.DataObject
):
    before = page(head + references + tail, newline, bom, body)
    facts = parse_page(before, KEYS)
    assert facts.problems == ()
    chosen = data.draw(st.lists(st.sampled_from(facts.references), min_size=1, unique=True))
    pins = {reference: Pin(data.draw(IDS), data.draw(REASONS)) for reference in chosen}
    after = write_pins(before, KEYS, pins)
    assert without_lines(parse_page(after, KEYS)) == expected_facts(facts, pins)
    assert write_pins(after, KEYS, pins) == after
    assert not re.search("[\r\n]", after.decode().replace(newline, ""))
    # the bytes before and after the references are unchanged
    assert after.startswith(f"{bom}---\n{head}".replace("\n", newline).encode())
    assert after.endswith(f"{tail}---\n{body}".replace("\n", newline).encode())


@given(block_lists(), st.sampled_from(["\n", "\r\n"]), st.data())
def test_block_list_with_new_pins_differs_only_in_the_lines_of_pins(
    references: str, newline: str, data: st.DataObject
):
    before = page(references, newline)
    facts = parse_page(before, KEYS)
    chosen = data.draw(st.lists(st.sampled_from(facts.references), min_size=1, unique=True))
    pins = {reference: Pin(data.draw(IDS), data.draw(REASONS)) for reference in chosen}
    assert without_pins(write_pins(before, KEYS, pins)) == without_pins(before)


LONG_REASONS = [
    "|\n      first line\n      second line",
    "|-\n      first line\n\n      third line",
    ">\n      folded\n      lines",
    "|\n      a block of a single line",
    '"quoted\n      lines"',
    "plain\n      lines",
]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("reason", LONG_REASONS)
@pytest.mark.parametrize(
    "item",
    [
        "- path: a\n    blob: {blob}\n    reason: {reason}",
        "- reason: {reason}\n    path: a\n    blob: {blob}",
        "- path: a\n    reason: {reason}\n    blob: {blob}\n  - b",
    ],
)
def test_a_reason_of_several_lines_is_kept_by_a_new_pin_without_a_reason(item, reason, newline):
    def written(blob: str) -> bytes:
        return page(f"source_refs:\n  {item.format(blob=blob, reason=reason)}\n", newline)

    reference = parse_page(written("1" * 12), KEYS).references[0]
    assert write_pins(written("1" * 12), KEYS, {reference: Pin("2" * 12)}) == written("2" * 12)
    replaced = write_pins(written("1" * 12), KEYS, {reference: Pin("2" * 12, "read again")})
    assert parse_page(replaced, KEYS).references[0].reason == "read again"


def test_a_reason_of_several_lines_in_a_flow_list_keeps_its_words():
    before = page(f'source_refs: [{{path: a, blob: {"1" * 12}, reason: "two\n  lines"}}]\n')
    (reference,) = parse_page(before, KEYS).references
    after = write_pins(before, KEYS, {reference: Pin("2" * 12)})
    (pinned,) = parse_page(after, KEYS).references
    assert (pinned.pin, pinned.reason) == ("2" * 12, "two lines")


def without_pins(data: bytes) -> list[str]:
    """A page's lines without those of pins, and texts as if they were mappings."""
    text = data.decode()
    text = re.sub(r"reason: two\r?\n +lines", "reason: x", text)
    text = re.sub(r"- reason: .*?(\r?\n) +(?=\w)", "- ", text)
    text = re.sub(r"- reason: .*", "-", text)
    text = re.sub(r"- (blob): .*?( #.*)?(\r?\n)", r"- \1\2\3", text)
    text = re.sub(r"- (?:path: )?([\"']?(?:src|設計|docs|pages|a\*))", r"- \1", text)
    lines = text.splitlines(keepends=True)
    return [line for line in lines if not re.match(r" *(blob|reason):", line)]


BITS = [
    *["source_refs:", "source_refs: ", "code_references: ", "ref: ", "path: ", "blob: ", "1234567"],
    *[
        "- ",
        "\n",
        "\n",
        "\n  ",
        "\n- ",
        "[",
        "]",
        "{",
        "}",
        ", ",
        "a",
        "b.py",
        " # c",
        "'q'",
        '"w"',
    ],
    *["&x ", "*x", "!!str ", "|\n", ">\n", "reason: ", ": ", "? ", "\t", "\u2028", "日本", "~"],
]


@given(st.lists(st.sampled_from(BITS), max_size=16), REASONS)
def test_arbitrary_page_is_pinned_or_refused(bits: list[str], reason: str | None):
    data = page("source_refs:" + "".join(bits) + "\n")
    pins = {reference: Pin(BLOB, reason) for reference in parse_page(data, KEYS).references}
    after, refusal = data, None
    try:
        after = write_pins(data, KEYS, pins)
    except PageError as error:
        refusal = error
    if refusal is None:
        assert {reference.pin for reference in parse_page(after, KEYS).references} <= {BLOB}
    else:
        assert refusal.cause
        assert refusal.hint


# Merges -------------------------------------------------------------------------------------------


@given(st.data())
def test_disjoint_pins_of_adjacent_references_merge_without_conflict(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
):
    count = data.draw(st.integers(2, 6))
    reasons = data.draw(
        st.lists(st.sampled_from(["", "  reason: old\n"]), min_size=count, max_size=count)
    )
    base = page(
        "source_refs:\n"
        + "".join(f"- path: f{n}\n  blob: {n:07d}\n{reason}" for n, reason in enumerate(reasons))
    )
    references = parse_page(base, KEYS).references
    ours = data.draw(st.sets(st.sampled_from(references)))
    new = st.none() | st.just("reviewed")
    pins = {reference: Pin(data.draw(IDS), data.draw(new)) for reference in references}
    versions = {
        "ours": write_pins(base, KEYS, {reference: pins[reference] for reference in ours}),
        "base": base,
        "theirs": write_pins(
            base,
            KEYS,
            {reference: pins[reference] for reference in references if reference not in ours},
        ),
    }
    folder = tmp_path_factory.mktemp("merge")
    for name, content in versions.items():
        (folder / name).write_bytes(content)
    merged = subprocess.run(
        ["git", "merge-file", "-p", *versions], cwd=folder, check=False, capture_output=True
    )
    assert merged.returncode == 0
    assert merged.stdout == write_pins(base, KEYS, pins)


# Limits -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "front_matter",
    [
        "source_refs:\n" + "".join(f"- f{n}\n" for n in range(1000)),
        "source_refs: [" + ", ".join(f"f{n}" for n in range(1000)) + "]\n",
        "source_refs: [" + ", ".join(f"{{path: f{n}}}" for n in range(1000)) + "]\n",
        "source_refs:\n" + "".join(f"- path: f{n}\n  blob: 1234567\n" for n in range(1000)),
        "code_references: [" + ", ".join(f"{{ref: f{n}, x: [y]}}" for n in range(900)) + "]\n",
    ],
)
def test_thousand_pins_are_written_at_once(front_matter: str):
    data = page(front_matter)
    pins = {reference: Pin(BLOB) for reference in parse_page(data, KEYS).references}
    start = time.process_time()
    assert parse_page(write_pins(data, KEYS, pins), KEYS).references[-1].pin == BLOB
    assert time.process_time() - start < 20  # quadratic work takes minutes

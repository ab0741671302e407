"""Sources renamed in place."""

import pytest

from ubp.core.errors import PageError
from ubp.markdown.edit_sources import rename_sources

KEYS = ("source_refs",)


def renamed(front_matter, **renames):
    data = f"---\n{front_matter}\n---\nBody\n".encode()
    result = rename_sources(data, KEYS, renames or {"a.py": "b.py"}).decode()
    assert result.startswith("---\n")
    assert result.endswith("\n---\nBody\n")
    return result[4:-10]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("source_refs: a.py", "source_refs: b.py"),
        ("source_refs: [c.py, a.py , 'd.py'] # x", "source_refs: [c.py, b.py , 'd.py'] # x"),
        ("source_refs:\n- a.py\n", "source_refs:\n- b.py\n"),
        ("source_refs: 'a.py'", "source_refs: 'b.py'"),
        ('source_refs: "a.py"', 'source_refs: "b.py"'),
        ("source_refs: ./a.py", "source_refs: b.py"),
        ("source_refs: {path: a.py, blob: 0123456}", "source_refs: {path: b.py, blob: 0123456}"),
        (
            "source_refs:\n  - ref: a.py\n    reason: r",
            "source_refs:\n  - ref: b.py\n    reason: r",
        ),
    ],
)
def test_rename_changes_only_the_path(before, after):
    assert renamed(before) == after


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ("it's.py", "it's.py"),
        ("a b.py", '"a b.py"'),
        ("pages/[id].ts", '"pages/[id].ts"'),
        ("-x", '"-x"'),
        ("2026", '"2026"'),
        ("null", '"null"'),
        ('q"\\.py', None),
        ("日本/語.md", "日本/語.md"),
        (".github/x.yml", ".github/x.yml"),
    ],
)
def test_renamed_path_is_quoted_where_yaml_requires_it(path, written):
    if written is None:
        with pytest.raises(PageError):  # UBP reads "\\" in a path as "/"
            renamed("source_refs: a.py", **{"a.py": path})
    else:
        assert renamed("source_refs: a.py", **{"a.py": path}) == f"source_refs: {written}"


def test_rename_keeps_the_fragment_and_all_other_bytes():
    data = b"\xef\xbb\xbf---\r\nsource_refs:\r\n  - a.py#L3  # x\r\nx: \xff\r\n---\r\n\xff\r\n"
    assert rename_sources(data, KEYS, {"a.py#L3": "b.py#L3"}) == data.replace(b"a.py", b"b.py")


@pytest.mark.parametrize(
    "front_matter",
    [
        "x: &x a.py\nsource_refs: *x",
        "source_refs: &x a.py",
        "source_refs: |\n  a.py",
        "source_refs: other.py",
        "source_refs: !!str a.py",
    ],
)
def test_source_that_cannot_be_renamed_in_place_is_refused(front_matter):
    with pytest.raises(PageError):
        renamed(front_matter)

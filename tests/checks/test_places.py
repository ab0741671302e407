"""The positions of findings: exact to the character, and where their sources changed."""

import pytest

from ubp.checks.finding import SourcePlace
from ubp.checks.locations import locate_findings
from ubp.checks.run import check_target
from ubp.index.session import Target
from ubp.staleness.state import open_context
from ubp.workspace import Workspace


@pytest.fixture
def placed():
    """Check a repository and place what is found."""

    def ask(repository, **question):
        with Workspace.open(str(repository.root), clock=lambda: repository.clock) as workspace:
            rules = question.pop("rules", ())
            report = check_target(workspace.session, Target(**question), rules=rules)
            view = workspace.session.view_of(report.snapshot)
            return locate_findings(report, open_context(workspace.session, view))

    return ask


def cut(data, region):
    """The piece of a page that a region means: by characters, and by bytes."""
    lines = data.splitlines(keepends=True)[region.line - 1 : region.end_line]
    is_one_line = region.line == region.end_line
    by_bytes, by_characters = list(lines), [line.decode() for line in lines]
    starts = (region.column - 1, region.byte_column - 1)
    ends = (region.end_column - 1, region.end_byte_column - 1)
    for pieces, start, end in zip((by_characters, by_bytes), starts, ends, strict=True):
        pieces[-1] = pieces[-1][:end]
        pieces[0] = pieces[0][start:] if is_one_line or len(pieces) > 1 else pieces[0]
    return "".join(by_characters), b"".join(by_bytes).decode()


LINKS = [
    "[x](x.md)",
    "[x](x.md#sec)",
    '[x](x.md "A title")',
    "[x](<x y.md>)",
    "[日本](日本.md)",
    "[[Nowhere]]",
    "[[Nowhere#Here|text]]",
    "![[日本語]]",
    "[over\nlines](x.md)",
]


@pytest.mark.parametrize("before", ["", "日本 ", "\ufeff", "a\r\nb "], ids=repr)
def test_region_is_the_whole_link(repository, placed, before):
    text = "\n\n".join(f"{before}{link} more" for link in LINKS).encode()
    repository.write("a.md", text)
    repository.write("known.md", "[[a]] [a](a.md) ![a](known.md) " * 2 * len(LINKS))
    regions = [finding.region for finding in placed(repository).findings]
    page = text.removeprefix("\ufeff".encode())
    assert [cut(page, region) for region in regions] == [(link, link) for link in LINKS]


def test_regions_of_definitions_and_repeated_links_are_exact(repository, placed):
    text = b"# A\n\n[one] [x](x.md) \xe3\x81\x82 [x](x.md)\n\n[one]: no.md#sec 'Title'\n"
    repository.write("a.md", text)
    regions = [finding.region for finding in placed(repository).findings]
    assert [cut(text, region)[0] for region in regions] == [
        "[x](x.md)",
        "[x](x.md)",
        "[one]: no.md#sec",
    ]
    assert [region.column for region in regions] == [7, 19, 1]


def test_fix_has_the_position_of_its_target(repository, placed):
    repository.write("a.md", "日本 [b](docs/b.md#top)\n")
    repository.write("docs/b.md", "# B\n\n## Top\n")
    repository.commit()
    repository.git("mv", "docs/b.md", "docs/c.md")
    (finding,) = placed(repository, rules=["broken-link"]).findings
    text = (repository.root / "a.md").read_bytes()
    assert cut(text, finding.fix.region) == ("docs/b.md", "docs/b.md")
    assert finding.fix.text == "docs/c.md"


@pytest.mark.parametrize(
    ("link", "written", "text"),
    [
        ("[b](docs/b.md#token-lfe)", "token-lfe", "token-life"),
        ("[[docs/b#Token lfe\\|x]]", "Token lfe", "Token life"),
        ("[[docs/b| depend_on ]]", "depend_on", "depends_on"),
    ],
)
def test_fix_has_the_position_of_the_part_that_it_replaces(repository, placed, link, written, text):
    repository.write("a.md", f"日本 [[docs/b]] {link}\n")
    repository.write("docs/b.md", "# B\n\n## Token life\n")
    (finding,) = placed(repository).findings
    data = (repository.root / "a.md").read_bytes()
    assert cut(data, finding.fix.region) == (written, written)
    assert finding.fix.text == text


def test_drifted_source_has_the_position_of_its_first_changed_line(repository, placed):
    lines = [f"line {n}\n" for n in range(1, 40)]
    repository.write("src/a.py", "".join(lines))
    repository.write("src/cut.py", "1\n2\n3\n")
    repository.write("src/gone.py", "gone\n")
    repository.write("src/old.py", "".join(lines))
    repository.write("src/pkg/x.py", "1\n")
    repository.write("src/bin", b"\0\1")
    sources = ("src/a.py", "src/cut.py", "src/gone.py", "src/old.py", "src/pkg/", "src/bin")
    repository.page("a.md", *sources, "src/new.py")
    repository.commit("Begin")
    repository.write("src/a.py", "".join([*lines[:19], "changed\n", *lines[20:]]))
    repository.write("src/cut.py", "1\n2\n")
    repository.remove("src/gone.py")
    repository.git("mv", "src/old.py", "src/moved.py")
    repository.write("src/pkg/x.py", "2\n")
    repository.write("src/pkg/y.py", "1\n")
    repository.write("src/bin", b"\0\2")
    repository.write("src/new.py", "1\n2\n")
    repository.commit("Change")
    places = {finding.subject: finding.source_places for finding in placed(repository).findings}
    assert places == {
        "src/a.py": (SourcePlace("src/a.py", 20),),
        "src/cut.py": (SourcePlace("src/cut.py", 2),),
        "src/gone.py": (),
        "src/old.py": (SourcePlace("src/moved.py"),),
        "src/pkg": (SourcePlace("src/pkg/x.py", 1), SourcePlace("src/pkg/y.py", 1)),
        "src/bin": (SourcePlace("src/bin"),),
        "src/new.py": (SourcePlace("src/new.py", 1),),
    }


def test_hidden_source_has_no_position(repository, placed):
    repository.write(".env", "1\n")
    repository.page("a.md", ".env")
    repository.commit()
    repository.write(".env", "2\n")
    repository.commit()
    (finding,) = placed(repository).findings
    assert (finding.subject, finding.source_places) == (".env", ())

"""Evidence: the names of changed lines that a page contains."""

import pytest

from ubp.answers.staleness.stale import report_stale
from ubp.cli.stale_options import exit_status
from ubp.index.session import Target
from ubp.staleness.evidence import MAX_PAGES
from ubp.staleness.wording import join_names
from ubp.workspace import Workspace

pytestmark = pytest.mark.default_alarms


@pytest.fixture
def evidence(repository, ask):
    """The evidence for a page with this text, where a source changes from one text to another."""

    def find(before, after, body):
        repository.write("src/a.py", before)
        repository.page("docs/a.md", "src/a.py", body=body)
        repository.commit()
        repository.write("src/a.py", after)
        repository.git("add", "src/a.py")
        (page,) = ask(repository, staged=True).pages
        return [(found.name, found.line) for found in page.references[0].evidence]

    return find


def test_names_options_paths_numbers_and_quoted_text_of_changed_lines_are_found(evidence):
    before = (
        'parser.add("--no-lock", help="do not take the lock")\n'
        "read_timeout = 30\nCONFIG = 'etc/app.toml'\nunchanged_name = 1\n"
    )
    body = (
        "# A\n\nRun it with `--no-lock`.\n\n`read_timeout` is 30 seconds; unchanged_name stays.\n"
        "It says: do not take the lock.\nIt reads etc/app.toml.\n"
    )
    assert evidence(before, "unchanged_name = 1\n", body) == [
        ("--no-lock", 7),
        ("read_timeout", 9),
        ("do not take the lock", 10),
        ("etc/app.toml", 11),
        ("30", 9),
    ]


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ("read_all()\n", "read_some()\n", "removed"),
        ("read_some()\n", "read_all()\n", "added"),
        ("read_all(1)\nread_all\n", "read_all\n", "changed"),
        ("def read_all():\n", "def read_all(path):\n", "changed"),
        ("read_all()\n", "# read_all\n", "removed"),
    ],
)
def test_evidence_names_what_happened_to_the_name(repository, ask, before, after, change):
    repository.write("src/a.py", before)
    repository.page("docs/a.md", "src/a.py", body="It uses read_all.\n")
    repository.commit()
    repository.write("src/a.py", after)
    repository.git("add", "src/a.py")
    (page,) = ask(repository, staged=True).introduced
    assert page.references[0].evidence == (("read_all", 5, change),)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1  # calls read_all\n", "x = 1  # calls nothing\n"),
        ('def f():\n    """Call read_all."""\n', 'def f():\n    """Call it."""\n'),
        ("return None\n", "return 1\n"),
        ("return globalThis\n", "return 1\n"),
    ],
)
def test_comments_docstrings_and_literals_are_not_evidence(evidence, before, after):
    assert evidence(before, after, "`read_all` of `globalThis` returns `None`.\n") == []


@pytest.mark.parametrize(
    "after",
    [
        "def read_all(\n    path: str | None = None,\n) -> bytes:\n    return b''\n",
        "__all__ = ['read_all']\n\ndef read_all(path = None):\n    return b''  # pragma\n",
    ],
)
def test_definition_that_is_only_annotated_or_formatted_is_no_evidence(evidence, after):
    before = "def read_all(path=None):\n    return b''\n"
    assert evidence(before, after, "It uses `read_all`.\n") == []
    changed = after.replace("b''", "b'1'").replace("path", "file")
    assert evidence(before, changed, "It uses `read_all`.\n") == [("read_all", 5)]


def test_name_of_many_pages_is_not_evidence_even_if_the_change_adds_pages(repository, ask):
    def pages(folder, number):
        for n in range(number):
            repository.write(f"{folder}/{n}.md", f"# {n}\n\nread_all and read_alls\n")

    def names():
        (page,) = ask(repository, staged=True).pages
        return [found.name for found in page.references[0].evidence]

    repository.write("src/a.py", "read_all()\nread_some()\n")
    repository.page("docs/a.md", "src/a.py", body="read_all\n\nread_some\n")
    pages("docs/more", MAX_PAGES - 1)
    repository.commit()
    repository.write("src/a.py", "")
    pages("docs/new", 3)
    repository.git("add", ".")
    assert names() == ["read_all", "read_some"]
    repository.git("reset", "--quiet", "src")
    repository.git("commit", "-q", "-m", "More pages")
    repository.git("add", ".")
    assert names() == ["read_some"]


def test_versions_and_translations_of_a_page_count_as_one_where_a_name_is_common(repository, ask):
    repository.write("src/a.py", "read_all()\n")
    repository.page("docs/a.md", "src/a.py", body="read_all\n")
    for n in range(MAX_PAGES // 2):
        for folder in ("versioned_docs/version-1.0", "versioned_docs/version-2.0", "docs/ja"):
            repository.write(f"{folder}/{n}.md", "read_all\n")
    repository.commit()
    repository.write("src/a.py", "")
    repository.git("add", ".")
    (page,) = ask(repository, staged=True).pages
    assert [found.name for found in page.references[0].evidence] == ["read_all"]


@pytest.mark.parametrize(
    ("before", "after", "body", "expected"),
    [
        # the variable of an option is defined in another way
        (
            "shutdown_timeout: float = 5\n",
            "shutdown_timeout: float = 15\n",
            "`--shutdown-timeout`",
            "shutdown_timeout",
        ),
        (
            "clusterAddrs := x\n",
            "nodeAddrs := x\n",
            "| `--cluster_addrs` | nodes |",
            "clusterAddrs",
        ),
        # an option of one word, whose name a source has in quotes
        ('flag("password", 1)\n', 'flag("passphrase", 1)\n', "`--password`", "--password"),
        # an option with a dot, whole
        ('flag("http.config")\n', 'flag("http.settings")\n', "`--http.config`", "--http.config"),
        (
            'flag("uri", "127.0.0.1:6379")\n',
            'flag("uri", "127.0.0.1:1")\n',
            "By default 127.0.0.1:6379.",
            "127.0.0.1:6379",
        ),
    ],
)
def test_options_of_a_page_are_named_by_their_variables_and_words_in_quotes(
    evidence, before, after, body, expected
):
    assert evidence(before, after, f"{body}\n") == [(expected, 5)]


@pytest.mark.parametrize("option", ["--http.config", "--http-config"])
def test_beginning_of_an_option_is_not_that_option(evidence, option):
    before = 'flag("--http")\nopen("http")\n'
    assert evidence(before, "", f"Run it with `{option}`.\n") == []


@pytest.mark.parametrize("longer", ["--read-all", "--read.all"])
def test_option_is_removed_although_a_longer_one_remains(repository, ask, longer):
    repository.write("src/a.py", f'flag("--read")\nflag("{longer}")\n')
    repository.page("docs/a.md", "src/a.py", body="Run it with `--read`.\n")
    repository.commit()
    repository.write("src/a.py", f'flag("{longer}")\n')
    repository.git("add", "src/a.py")
    (page,) = ask(repository, staged=True).introduced
    assert page.references[0].evidence == (("--read", 5, "removed"),)


def test_word_in_quotes_that_the_source_still_has_is_no_removed_option(evidence):
    before = 'flag("password", 1)\nflag("password", 2)\n'
    assert evidence(before, 'flag("password", 3)\n', "`--password`\n") == []


@pytest.mark.parametrize("subject", ["src/a.py", "a.py", "`Reader`"])
def test_evidence_in_a_section_about_the_source_comes_first(evidence, subject):
    body = f"aa_bb and cc_dd\n\n```\n# no heading\n```\n\n## More\n\nOf {subject}:\n\ncc_dd\n"
    found = evidence("class Reader:\n    aa_bb\n    cc_dd\n", "class Reader:\n    pass\n", body)
    assert found == [("cc_dd", 15), ("aa_bb", 5)]


@pytest.mark.parametrize(
    ("before", "after", "body"),
    [
        ("login(1)\n", "login(2)\n", "People login here; 1 of them.\n"),  # a word of prose
        ("max_size = 5\n", "max_size  = 5\nother = 1\n", "max_size\n"),  # aligned
        ("a_b = 1\nc_d = 2\n", "c_d = 2\na_b = 1\n", "a_b and c_d\n"),  # lines that are moved
        ("if x:\n    call_it()\n", "call_it()\n", "`call_it`\n"),  # indented anew
        ("ttl = 30\n", "ttl = 60\n", "In 300 days or 130.\n"),
        ("old_name()\n", "new_name()\n", "old_names and an_old_name\n"),
    ],
)
def test_unchanged_text_and_prose_are_not_evidence(evidence, before, after, body):
    assert evidence(before, after, body) == []


@pytest.mark.parametrize(
    ("before", "after", "body", "name"),
    [
        ("def login(user):\n", "def login(user, token):\n", "Call `login(user)`.\n", "login"),
        ("max_size = 5\n", "max_size = 6\n", "max_size is small.\n", "max_size"),
        ("  ttl: 30\n", "  ttl: 45\n", "It lives 30 minutes.\n", "30"),
        ("call(readAll)\n", "call()\n", "日本語でreadAllを使う。\n", "readAll"),
    ],
)
def test_changed_definition_is_evidence(evidence, before, after, body, name):
    assert evidence(before, after, body) == [(name, 5)]


def test_replaced_number_beside_its_name_is_evidence(evidence):
    before = 'flag("5s", read_timeout)\n'
    found = evidence(before, before.replace("5s", "30s"), "Run it with `--read-timeout=5s`.\n")
    assert found == [("read-timeout", 5)]


def test_front_matter_is_not_evidence(evidence):
    assert evidence("x = 'src/a.py'\n", "x = 1\n", "Text.\n") == []


@pytest.fixture
def two_pages(repository):
    """A page that names what a staged change of its source removes, and one that does not."""
    repository.write("src/a.py", "read_all()\n")
    repository.page("docs/a.md", "src/a.py", body="Nothing of it.\n")
    repository.page("docs/z.md", "src/a.py", body="`read_all` reads.\n")
    repository.commit()
    repository.write("src/a.py", "read_some()\n")
    repository.git("add", "src/a.py")
    return repository


def paths(pages):
    return [page.page.filepath for page in pages]


def test_change_fails_for_pages_with_evidence_and_notes_the_others(two_pages, ask):
    report = ask(two_pages, staged=True)
    assert (paths(report.introduced), paths(report.noted)) == (["docs/z.md"], ["docs/a.md"])
    assert exit_status(report, None) == 1
    two_pages.page("docs/z.md", "src/a.py", body="`read_some` reads.\n")
    two_pages.git("add", "docs/z.md")
    report = ask(two_pages, staged=True)
    assert (paths(report.introduced), paths(report.noted)) == ([], ["docs/a.md"])
    assert exit_status(report, None) == 0
    two_pages.git("rm", "--quiet", "--cached", "src/a.py")
    report = ask(two_pages, staged=True)
    assert (paths(report.introduced), paths(report.noted)) == (["docs/a.md", "docs/z.md"], [])
    assert exit_status(report, None) == 1


@pytest.mark.parametrize("alarms", ["configured", "given"])
def test_change_fails_for_every_page_with_alarms_any(two_pages, ask, alarms):
    opening = {"alarms": "any"}
    if alarms == "configured":
        two_pages.write(".ubp/config.json", '{"staleness": {"alarms": "any"}}')
        opening = {}
    report = ask(two_pages, staged=True, opening=opening)
    assert (paths(report.introduced), paths(report.noted)) == (["docs/z.md", "docs/a.md"], [])
    report = ask(two_pages, staged=True, opening={"alarms": "named"})
    assert (paths(report.introduced), paths(report.noted)) == (["docs/z.md"], ["docs/a.md"])


def test_absent_blobs_are_reported_and_undetermined(repository, ask, new_repository):
    repository.write("src/a.py", "read_all()\n")
    repository.page("docs/a.md", "src/a.py", body="`read_all` reads.\n")
    repository.commit()
    repository.write("src/a.py", "read_some()\n")
    repository.commit()
    repository.git("config", "uploadpack.allowFilter", "true")
    clone = new_repository("partial")
    clone.git("remote", "add", "origin", f"file://{repository.root}")
    clone.git("fetch", "--quiet", "--filter=blob:none", "origin", "main")
    clone.git("update-ref", "refs/heads/main", "FETCH_HEAD")
    page = clone.git("rev-parse", "FETCH_HEAD:docs/a.md")
    clone.git("fetch", "--quiet", "origin", page)
    report = ask(clone, base="HEAD~1", ref="HEAD")
    (reference,) = report.introduced[0].references
    assert (reference.evidence, reference.is_unread) == ((), True)
    assert exit_status(report, None) == 2
    assert exit_status(report._replace(alarms="any"), None) == 1


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("src/a.py", ["other_name", "read_all"]),
        ("src/a.py#reader", ["read_all"]),
        ("src/a.py#L3-L4", ["read_all"]),
        ("src/a.md#Reader", ["read_all"]),
    ],
)
def test_evidence_for_a_part_comes_from_its_own_lines(repository, ask, source, names):
    def write(first, second):
        repository.write("src/a.py", f"{first} = 1\n\ndef reader():\n    return {second}\n")
        repository.write("src/a.md", f"# A\n\n{first}\n\n## Reader\n\n{second}\n")

    write("other_name", "read_all")
    repository.page("docs/a.md", source, body="other_name and read_all\n")
    repository.commit()
    write("another", "nothing")
    repository.git("add", "src")
    (page,) = ask(repository, staged=True).introduced
    assert sorted(found.name for found in page.references[0].evidence) == names


@pytest.mark.parametrize(
    ("before", "body"),
    [
        ("released = '2023-11-04'\n", "Since 2023 it has 11 modes and 04 sizes.\n"),
        ("at = '12:30'\n", "It waits 30 seconds, 12 times.\n"),
        ("schema = 'draft-07'\n", "It is number 07.\n"),
        ("limit = 10\n", "It needs Python 3.10, since 2019-10-01.\n"),
        ("limit = 10\n", "See docs/10/notes.md.\n"),
        ("see = 'https://example.com/guide'\n", "Mirrors are at example.com.\n"),
        ('import "example.com/acme/guide"\n', "Clone git@example.com:acme/reader.\n"),
        (
            "go install example.com/acme/reader@latest\n",
            "Its issues: https://example.com/issues.\n",
        ),
        ("FROM example.com/acme/reader:1\n", "Its issues: https://example.com/issues.\n"),
    ],
)
def test_parts_of_dates_versions_and_addresses_are_no_evidence(evidence, before, body):
    assert evidence(before, "", body) == []


@pytest.mark.parametrize(
    "before", ["x = cfg.retry_limit/step/2\n", "cd Acme.retry_limit/Services/Api\n"]
)
def test_attribute_that_is_divided_and_name_of_a_folder_are_no_host(evidence, before):
    assert [name for name, _ in evidence(before, "", "The `retry_limit` is 3.\n")] == [
        "retry_limit"
    ]


def test_words_of_a_message_in_quotes_are_no_names(evidence):
    before = "fail(\"it has failed to lock the file\", mode)\nask('read or lock?', 'lock')\n"
    assert evidence(before, "", "`failed`, `read` and `file` are states.\n") == []
    assert evidence(before, "", "`lock` is a mode.\n") == [("lock", 5)]


@pytest.mark.parametrize(
    ("before", "name"),
    [
        ("let x: &'a mut reader = wrap(retries, &'b y);\n", "reader"),
        ("fn wrap<'a>(reader: of retries, x: Y<'a>) {}\n", "retries"),
        ("ask(\"don't\", reader if no else 'b')\n", "reader"),
        ("ask(f'has failed to read', reader, b'is gone by now')\n", "reader"),
    ],
)
def test_apostrophe_and_lifetime_begin_no_message(evidence, before, name):
    assert evidence(before, "", f"`{name}` is one.\n") == [(name, 5)]


@pytest.mark.parametrize("prefix", ["", "f", "rb", "Rb"])
@pytest.mark.parametrize("quote", ['"', "'"])
def test_words_of_a_message_with_a_prefix_are_no_names(evidence, prefix, quote):
    before = f"ask({prefix}{quote}has failed to read{quote})\n"
    assert evidence(before, "", "`failed` is a state.\n") == []


@pytest.mark.parametrize(
    ("before", "names"),
    [
        ("FILES: list[str] = []\n", []),
        ("def list():\n    pass\n", [("list", 5)]),
        ('parser.add("list")\n', [("list", 5)]),
        ("uint32_t count(std::size_t last);\n", []),
        ("type size_t = number;\n", [("size_t", 6)]),
    ],
)
def test_type_of_a_language_is_evidence_where_it_is_defined_or_quoted(evidence, before, names):
    rows = "| `choices` | `list` | `None` |\n| `sizes` | `uint32_t` | `size_t` |\n"
    assert evidence(before, "", rows) == names


def test_number_and_path_of_an_address_are_evidence(evidence):
    before = "port = 8080\nfetch('https://api.example.com/v1/read_all')\n"
    body = "It listens on 8080 and calls https://api.example.com/v1/read_all.\n"
    found = [name for name, _ in evidence(before, "", body)]
    assert "8080" in found
    assert "https://api.example.com/v1/read_all" in found


@pytest.mark.parametrize(
    ("names", "sentence"), [((), ""), (("a",), "a"), (("a", "b"), "a and b"), ("abc", "a, b and c")]
)
def test_names_are_joined_as_in_a_sentence(names, sentence):
    assert join_names(names) == sentence


@pytest.fixture
def drifted(repository):
    """A page about names that have left its source."""
    repository.write("src/a.py", "read_all()\nread_some()\n")
    repository.page("docs/a.md", "src/a.py", body="read_all\n\nread_some\n")
    repository.commit()
    repository.write("src/a.py", "read_some()\n")
    return repository


@pytest.fixture
def state_evidence(drifted):
    """The evidence of the work tree for `docs/a.md`, and how many candidates the index stores."""

    def find():
        with Workspace.open(str(drifted.root)) as workspace:
            report = report_stale(workspace.session, Target(), has_evidence=True)
            (page,) = [page for page in report.pages if page.page.filepath == "docs/a.md"]
            rows = workspace.session.view().context.store.database.rows(
                "SELECT count(*) FROM names WHERE kind LIKE 'evidence %'"
            )
        return [(found.name, found.line) for found in page.references[0].evidence], rows[0][0]

    return find


def test_stored_evidence_of_a_state_is_that_of_the_first_run(state_evidence):
    first = state_evidence()
    assert first == ([("read_all", 5)], 1)
    assert state_evidence() == first


def test_stored_evidence_is_not_that_of_another_version(drifted, state_evidence):
    state_evidence()
    drifted.write("src/a.py", "")
    assert state_evidence() == ([("read_all", 5), ("read_some", 7)], 2)
    drifted.page("docs/a.md", "src/a.py", body="New.\n\nread_some\n\nread_all\n")
    drifted.git("commit", "-q", "-m", "Reorder", "docs")
    drifted.write("src/a.py", "read_all()\n")
    assert state_evidence() == ([("read_some", 7)], 3)


def test_stored_name_that_many_pages_get_is_no_evidence(drifted, state_evidence):
    assert state_evidence()[0] == [("read_all", 5)]
    for number in range(MAX_PAGES):
        drifted.write(f"docs/more/{number}.md", "read_all\n")
    assert state_evidence()[0] == []
    drifted.write("docs/more/0.md", "other\n")
    assert state_evidence()[0] == [("read_all", 5)]


def test_evidence_of_a_source_that_is_excluded_since_is_not_read(drifted, state_evidence):
    state_evidence()
    drifted.write(".ubp/config.json", '{"version": 1, "source": {"exclude": ["src/**"]}}')
    assert state_evidence()[0] == []

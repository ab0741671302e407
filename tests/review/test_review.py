"""The cases of a change: which pages it concerns, and what a reader sees of each."""

import pytest

from ubp.index.session import Session, Target
from ubp.output.ci.markdown import code
from ubp.review import replaced
from ubp.review.excerpt import MAX_TOKENS, case_text, count_tokens
from ubp.review.run import Extent, review_change

STAGED = Target(staged=True)

CLIENT = '''\
"""The client."""

RETRIES = 3


def open_client(base_url, *, retry_limit=RETRIES):
    return Client(base_url, retry_limit)


class Client:
    def read_all(self):
        return self.transport.read()
'''
PAGE = """\
# Client

`open_client()` returns a client. It tries `retry_limit` times, three by default.

## Reading

`Client.read_all()` reads everything.
"""


@pytest.fixture
def client(repository):
    """A source, and a page that names what it defines and lists nothing."""
    repository.write("src/client.py", CLIENT)
    repository.write("docs/client.md", PAGE)
    repository.write("docs/other.md", "# Other\n\nNothing to see.\n")
    repository.commit()
    return repository


@pytest.fixture
def review():
    """Review a change of a repository; by default the staged one."""

    def ask(repository, target=STAGED, paths=(), limit=20):
        with Session.open(str(repository.root)) as session:
            return review_change(session, target, paths, Extent(limit))

    return ask


def stage(repository, path, old, new):
    text = (repository.root / path).read_text()
    assert old in text
    repository.write(path, text.replace(old, new))
    repository.git("add", "--all")


def bind(repository, path="docs/client.md", source="src/client.py"):
    text = (repository.root / path).read_text()
    repository.write(path, f"---\nsource_refs:\n  - {source}\n---\n{text}")
    repository.commit()


def test_listed_source_with_a_removed_name_is_the_first_case(client, review):
    bind(client)
    stage(client, "src/client.py", "retry_limit", "attempts")
    case, *_ = review(client).cases
    assert (case.filepath, case.line) == ("docs/client.md", 7)
    assert [reason.kind for reason in case.reasons] == ["removed-name", "bound"]
    assert case.sentence == "It tries `retry_limit` times, three by default."
    assert all(("retry_limit", 7, "removed") in reason.names for reason in case.reasons)
    assert case.sources == ("src/client.py",)
    assert any(
        "-def open_client(base_url, *, retry_limit=RETRIES):" in h.lines for h in case.excerpt.hunks
    )


def test_sources_in_a_comment_are_no_passage_of_the_page(client, review):
    text = (client.root / "docs/client.md").read_text()
    head = "<!-- ubp\nsource_refs:\n  - src/client.py\n-->\n"
    client.write("docs/client.md", head + text)
    client.commit()
    stage(client, "src/client.py", "retry_limit", "attempts")
    case, *_ = review(client).cases
    lines = [line for passage in case.excerpt.passages for _, line in passage.lines]
    assert not {*head.splitlines()}.intersection(lines)
    assert min(n for passage in case.excerpt.passages for n, _ in passage.lines) > head.count("\n")


def test_page_without_sources_that_names_what_changed_is_proposed(client, review):
    stage(
        client, "src/client.py", "*, retry_limit=RETRIES", "*, attempts=RETRIES, retry_limit=None"
    )
    case, *_ = review(client).cases
    assert (case.filepath, case.kind) == ("docs/client.md", "proposed")
    assert case.reasons[0].path == "src/client.py"
    assert case.reasons[0].confidence > 0.2


def test_page_that_names_nothing_of_the_change_is_no_case(client, review):
    stage(client, "src/client.py", "read_all", "read_everything")
    assert "docs/other.md" not in {case.filepath for case in review(client).cases}


def test_page_that_the_change_edits_is_no_case(client, review):
    stage(client, "src/client.py", "retry_limit", "attempts")
    stage(client, "docs/client.md", "retry_limit", "attempts")
    assert review(client).cases == ()


def test_work_tree_with_an_untracked_file_is_reviewed_without_staging(client, review):
    text = (client.root / "src/client.py").read_text()
    client.write(
        "src/client.py", text.replace("    def read_all(self):\n", "    def read(self):\n")
    )
    client.write("src/reader.py", "def read_all(client):\n    return client.read()\n")
    case, *_ = review(client, Target()).cases
    assert case.filepath == "docs/client.md"
    assert case.excerpt.destinations == ("read_all: now in src/reader.py: def read_all(client):",)


def test_removed_name_that_no_source_has_is_a_case_of_its_rule(client, review):
    client.write("src/client.py", "def start():\n    return 1\n")
    client.git("add", "--all")
    case, *_ = review(client).cases
    assert case.kind == "removed-name"
    assert {reason.kind for reason in case.reasons} >= {"removed-name"}


def test_removed_name_is_found_in_the_work_tree(client, review):
    client.write("src/client.py", "def start():\n    return 1\n")
    case, *_ = review(client, Target()).cases
    assert case.kind == "removed-name"


def test_changed_signature_of_a_named_function_is_shown_whole(client, review):
    bind(client)
    stage(
        client,
        "src/client.py",
        "(base_url, *, retry_limit=RETRIES)",
        "(\n    base_url,\n    *,\n    timeout,\n    retry_limit=RETRIES,\n)",
    )
    case, *_ = review(client).cases
    (signature,) = case.excerpt.signatures
    assert signature.name == "open_client"
    assert signature.before == "def open_client(base_url, *, retry_limit=RETRIES):"
    assert signature.after.endswith("    timeout,\n    retry_limit=RETRIES,\n):")


def test_deleted_file_that_the_page_does_not_name_makes_no_probable_case(client, review):
    client.write("src/example.py", "def show(client):\n    return client.read_all()\n")
    client.commit()
    client.remove("src/example.py")
    client.git("add", "--all")
    assert all(case.probability < 0.1 for case in review(client).cases)


def test_deleted_file_that_the_page_names_makes_a_probable_case(client, review):
    client.write("docs/client.md", PAGE + "\nSee `src/example.py`, which calls `read_all`.\n")
    client.write("src/example.py", "def show(client):\n    return client.read_all()\n")
    client.commit()
    client.remove("src/example.py")
    client.git("add", "--all")
    case, *_ = review(client).cases
    assert case.probability > 0.2


def test_file_that_only_calls_a_removed_name_is_not_where_it_went(client, review):
    text = (client.root / "src/client.py").read_text()
    client.write(
        "src/client.py", text.replace("    def read_all(self):\n", "    def read(self):\n")
    )
    client.write("src/app.py", "def run(client):\n    return client.read_all()\n")
    case, *_ = review(client, Target()).cases
    assert case.filepath == "docs/client.md"
    assert case.excerpt.destinations == ()


def test_suffix_of_a_removed_file_name_is_not_where_it_went(client, review):
    client.write("docs/client.md", PAGE + "\nSourced by `helpers.sh`, in `t/client.sh`.\n")
    client.write("t/client.sh", ". helpers.sh\nread_everything\n")
    client.commit()
    client.remove("t/client.sh")
    client.write("src/ssh.py", 'sh = "sh: command not found"\n')
    client.git("add", "--all")
    case, *_ = review(client).cases
    assert case.excerpt.destinations == ()


def test_changed_lines_of_a_manifest_are_left_out_where_no_name_went(client, review):
    bind(client)
    client.write("pyproject.toml", '[project]\ndependencies = ["retrying"]\n')
    stage(client, "src/client.py", "retry_limit=RETRIES", "retry_limit=RETRIES, wait=1")
    case, *_ = review(client).cases
    assert case.excerpt.manifests == ()


def test_changed_lines_of_a_manifest_are_shown(client, review):
    bind(client)
    client.write("pyproject.toml", '[project]\ndependencies = ["retrying"]\n')
    stage(client, "src/client.py", "retry_limit", "attempts")
    case, *_ = review(client).cases
    assert 'pyproject.toml: +dependencies = ["retrying"]' in case.excerpt.manifests


def test_link_to_a_deleted_page_is_a_case(client, review):
    client.write("docs/other.md", "# Other\n\nSee [client](client.md).\n")
    client.commit()
    client.remove("docs/client.md")
    client.git("add", "--all")
    case, *_ = review(client).cases
    assert (case.filepath, case.kind, case.line) == ("docs/other.md", "link", 3)


def test_line_of_the_case_is_cut_around_its_reason(client, review):
    words = "Nothing of it is about clients. " * 20
    client.write("docs/other.md", f"# Other\n\n{words}See [it](client.md). {words}\n")
    client.commit()
    client.remove("docs/client.md")
    client.git("add", "--all")
    case, *_ = review(client).cases
    ((_, line),) = [line for line in case.excerpt.passages[-1].lines if line[0] == case.line]
    assert "See [it](client.md)." in line
    assert line.startswith("… ")


def test_translation_of_an_edited_page_is_a_case(client, review):
    client.write("docs/client.ja.md", "# クライアント\n")
    client.commit()
    stage(client, "docs/client.md", "three by default", "four by default")
    case, *_ = review(client).cases
    assert (case.filepath, case.kind) == ("docs/client.ja.md", "translation")
    assert any("+`open_client()`" in line for hunk in case.excerpt.hunks for line in hunk.lines)


def test_deciding_hunk_of_many_is_among_those_shown(client, review):
    lines = "    start()\n" * 8
    noise = "".join(f"def noise_{n}():\n{lines}    return {n}\n\n\n" for n in range(200))
    client.write("src/client.py", noise + CLIENT)
    client.commit()
    bind(client)
    text = (client.root / "src/client.py").read_text()
    for number in range(200):
        text = text.replace(f"    return {number}\n", f"    return {number} + open_{number}\n")
    client.write(
        "src/client.py",
        text.replace("RETRIES = 3", "MAX_RETRIES = 3").replace("retry_limit", "attempts"),
    )
    client.git("add", "--all")
    case, *_ = review(client).cases
    assert case.excerpt.hunk_count > 100
    shown = [line for hunk in case.excerpt.hunks for line in hunk.lines]
    assert "-def open_client(base_url, *, retry_limit=RETRIES):" in shown


def test_case_of_a_long_page_and_a_long_change_fits_the_limit(client, review):
    rows = "".join(f"| option_{n} | the option number {n} of `open_client` |\n" for n in range(400))
    table = "| option | meaning |\n|---|---|\n"
    client.write(
        "docs/client.md", f"# Options\n\n{table}{rows}| retry_limit | how often to try |\n{rows}"
    )
    client.commit()
    bind(client)
    extra = "".join(f"    option_{n} = {n}\n" for n in range(400))
    stage(client, "src/client.py", "retry_limit", "attempts")
    text = (client.root / "src/client.py").read_text()
    client.write("src/client.py", f"{text}\n\nclass Options:\n{extra}")
    client.git("add", "--all")
    case, *_ = review(client).cases
    assert count_tokens(case_text(case, ["A subject"])) <= MAX_TOKENS
    lines = [line for passage in case.excerpt.passages for _, line in passage.lines]
    assert "| retry_limit | how often to try |" in lines
    assert "| option | meaning |" in lines


def test_range_of_commits_has_their_subjects(client, review):
    base = client.head()
    stage(client, "src/client.py", "retry_limit", "attempts")
    client.commit("client: rename the limit")
    assert review(client, Target(base=base, ref="HEAD")).subjects == ("client: rename the limit",)


def test_limit_leaves_out_the_least_probable_cases(client, review):
    client.write("docs/second.md", PAGE)
    client.commit()
    client.write("src/client.py", "def start():\n    return 1\n")
    client.git("add", "--all")
    found = review(client, limit=1)
    assert (len(found.cases), found.omitted) == (1, 1)


def test_excerpts_are_built_for_the_first_and_the_probable_cases_alone(client):
    client.write("docs/second.md", PAGE)
    client.commit()
    stage(client, "src/client.py", "retry_limit", "attempts")
    with Session.open(str(client.root)) as session:
        whole, brief = (
            review_change(session, STAGED, (), Extent(20, least_whole=least)).cases
            for least in (0.0, 1.1)
        )
    assert len(whole) == len(brief) > 1
    assert brief[0] == whole[0]
    assert all(case.sentence and case.excerpt.passages for case in whole)
    assert not any(case.sentence or case.excerpt.passages for case in brief[1:])


def test_hidden_source_is_never_shown(client, review):
    client.write(".ubp/config.json", '{"source": {"exclude": ["src/**"]}}')
    client.commit()
    stage(client, "src/client.py", "retry_limit", "attempts")
    assert review(client).cases == ()


def test_page_alone_is_reviewed_for_all_since_its_last_edit(client, review):
    client.write("docs/other.md", "# Other\n\nNothing to see, still.\n")
    client.commit()
    stage(client, "src/client.py", "retry_limit", "attempts")
    client.commit()
    client.write("src/new.py", "retry_limit = 1\n")
    (case,) = review(client, Target(), ["docs/client.md"]).cases
    assert case.filepath == "docs/client.md"
    assert "-def open_client(base_url, *, retry_limit=RETRIES):" in case.excerpt.hunks[0].lines
    assert review(client, Target()).cases == ()


def test_page_alone_is_the_only_one_reviewed_where_others_are_known(client, review):
    client.write("docs/second.md", PAGE)
    client.commit()
    stage(client, "src/client.py", "retry_limit", "attempts")
    client.commit()
    for page in ("docs/client.md", "docs/second.md"):
        found = review(client, Target(), [page])
        assert [case.filepath for case in found.cases] == [page]
        assert found.selected == 1


def test_edited_page_alone_describes_the_state_that_it_is_in(client, review):
    stage(client, "src/client.py", "retry_limit", "attempts")
    client.commit()
    stage(client, "docs/client.md", "retry_limit", "attempts")
    assert review(client, Target(), ["docs/client.md"]).cases == ()


def test_name_of_page_is_no_html_in_a_comment():
    assert code("docs/<img src=x>.md", is_in_html=True) == (
        "<code>docs/&#60;img src&#61;x&#62;&#46;md</code>"
    )


def test_folders_are_no_files_and_a_moved_file_is_one(client, review):
    client.git("mv", "src/client.py", "src/reader.py")
    client.write("docs/deep/new.md", "# New\n")
    client.git("add", "--all")
    assert review(client).changed_files == 2
    client.commit()
    change = Target(ref="HEAD", base="HEAD^")
    assert review(client, change).changed_files == 2


def test_page_that_gives_a_replaced_number_is_a_case_with_both_values(client, review):
    client.write("settings.toml", 'retry-wait = "5s"\n')
    client.write("docs/waiting.md", "# Waiting\n\nStart it with `--retry-wait=5s`.\n")
    client.commit()
    stage(client, "settings.toml", "5s", "30s")
    case = review(client).cases[0]
    assert (case.filepath, case.kind, case.line) == ("docs/waiting.md", "changed-value", 3)
    assert case.reasons[0].text == (
        "It gives 5s for `retry-wait`, which settings.toml changes to 30s."
    )
    client.write("docs/waiting.md", "# Waiting\n\nStart it with `--retry-wait=30s`.\n")
    client.git("add", "--all")
    assert "changed-value" not in {case.kind for case in review(client).cases}


def test_page_that_requires_a_raised_version_is_a_case_of_its_own_package(client, review):
    client.write("go.mod", "module reader\n\ngo 1.21\n")
    client.write("plugin/go.mod", "module reader/plugin\n\ngo 1.21\n")
    for page in ("docs/install.md", "plugin/README.md", "plugin/docs/build.md"):
        client.write(page, "# Install\n\nYou need Go 1.21 or later.\n")
    client.commit()
    stage(client, "go.mod", "1.21", "1.22.0")
    case = review(client).cases[0]
    assert (case.filepath, case.kind, case.line) == ("docs/install.md", "changed-value", 3)
    assert case.reasons[0].text == "It gives 1.21 for `Go`, which go.mod changes to 1.22."
    assert len(review(client).cases) == 1
    client.commit()
    stage(client, "plugin/go.mod", "1.21", "1.22.0")
    assert {case.filepath for case in review(client).cases} == {
        "plugin/README.md",
        "plugin/docs/build.md",
    }


def test_package_is_looked_up_only_for_pages_that_give_the_raised_version(
    client, review, monkeypatch
):
    asked = []
    monkeypatch.setattr(replaced, "_is_required_of", lambda page, *_: not asked.append(page))
    client.write("go.mod", "module reader\n\ngo 1.21\n")
    client.write("docs/install.md", "# Install\n\nYou need Go 1.21 or later.\n")
    client.commit()
    stage(client, "go.mod", "1.21", "1.22.0")
    assert len(review(client).cases) == 1
    assert asked == ["docs/install.md"]


def test_case_shows_which_deleted_files_the_page_names(client, review):
    for path in ("a/README.md", "a/use.md", "b/setup.md", "c/use.md", "c/up.md"):
        client.write(path, "# A page\n")
    page = "# Use\n\nREADME.md, setup.md and c/use.md are about `retry_limit`.\n"
    client.write("docs/first.md", page)
    client.commit()
    client.git("rm", "-q", "-r", "a", "b", "c")
    stage(client, "src/client.py", "retry_limit", "attempts")
    (case,) = [case for case in review(client).cases if case.filepath == "docs/first.md"]
    assert case.excerpt.files == ("b/setup.md: deleted", "c/use.md: deleted")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[guide](guide/README.md)", ["docs/guide/README.md"]),
        ("[guide](./guide/README.md)", ["docs/guide/README.md"]),
        ("[guide](../../docs/guide/README.md)", ["docs/guide/README.md"]),
        ("[guide](../b/use.md#top) and /c/use.md.", ["b/use.md", "c/use.md"]),
        ("https://github.com/acme/reader/blob/main/c/use.md", ["c/use.md"]),
        ("other/c/use.md, my-guide/README.md, README.md", []),
        ("https://example.com/c/use.md", []),
    ],
)
def test_case_shows_deleted_files_by_paths_that_lead_only_to_them(client, review, text, named):
    for path in ("docs/guide/README.md", "docs/old/README.md", "b/use.md", "c/use.md"):
        client.write(path, "# A page\n")
    client.write("docs/first.md", f"# Use\n\n{text}\n\nIt is about `retry_limit`.\n")
    client.commit()
    client.git("rm", "-q", "-r", "docs/guide", "docs/old", "b", "c")
    stage(client, "src/client.py", "retry_limit", "attempts")
    cases = [case for case in review(client).cases if case.filepath == "docs/first.md"]
    shown = [file for case in cases for file in case.excerpt.files]
    assert sorted(set(shown)) == [f"{path}: deleted" for path in named]


def test_number_is_no_evidence_of_a_page_that_hardly_describes_the_source(client, review):
    client.write("src/client.py", CLIENT.replace("RETRIES = 3", "RETRIES = 64"))
    client.write("results/speed.md", "# Speed\n\nArch=64-bit\n\nThe `transport` took 3 ms.\n")
    for number in range(5):
        client.write(
            f"src/part{number}.py", f"def send{number}(transport):\n    return transport\n"
        )
    client.commit()
    stage(client, "src/client.py", "return self.transport.read()", "return self.read()")
    stage(client, "src/client.py", "RETRIES = 64", "RETRIES = 32")
    (case,) = [case for case in review(client).cases if case.filepath == "results/speed.md"]
    assert [name.name for name in case.reasons[0].names] == ["transport"]


@pytest.mark.parametrize(
    ("folder", "verb"), [("src", "removes from that source alone"), ("tests", "removes")]
)
def test_name_that_another_source_still_has_is_removed_only_from_a_file(
    client, review, folder, verb
):
    client.write("docs/speed.md", "# Speed\n\nThe `transport` took 3 ms.\n")
    client.write(f"{folder}/last.py", "def send(transport):\n    return transport\n")
    client.commit()
    stage(client, "src/client.py", "return self.transport.read()", "return self.read()")
    (case,) = [case for case in review(client).cases if case.filepath == "docs/speed.md"]
    assert f"; it names what this {verb} `transport` (line 3)" in case.reasons[0].text


def test_name_that_the_change_moves_is_removed_only_from_a_file(client, review):
    client.write("docs/speed.md", "# Speed\n\nThe `transport` took 3 ms.\n")
    client.commit()
    client.write("src/new.py", "def send(transport):\n    return transport\n")
    stage(client, "src/client.py", "return self.transport.read()", "return self.read()")
    (case,) = [case for case in review(client).cases if case.filepath == "docs/speed.md"]
    text = "it names what this removes from that source alone `transport` (line 3)"
    assert any(text in reason.text for reason in case.reasons)


@pytest.mark.parametrize(
    ("folder", "verb"), [("lib", "removes from that source alone"), ("tests", "removes")]
)
@pytest.mark.parametrize("source", ["src/client.py", "src/"])
def test_name_that_another_source_still_has_is_removed_only_from_a_listed_one(
    client, review, folder, verb, source
):
    client.write("docs/speed.md", "# Speed\n\nThe `transport` took 3 ms.\n")
    client.write(f"{folder}/last.py", "def send(transport):\n    return transport\n")
    bind(client, "docs/speed.md", source)
    stage(client, "src/client.py", "return self.transport.read()", "return self.read()")
    (case,) = [case for case in review(client).cases if case.filepath == "docs/speed.md"]
    (reason,) = [reason for reason in case.reasons if reason.kind == "bound"]
    assert f"; it {verb} `transport` (line 7)" in reason.text


@pytest.mark.parametrize(
    ("other", "verb"),
    [("wire.transport.close()", "removes from that source alone"), ("wire, transport", "removes")],
)
def test_dotted_name_that_another_source_still_has_is_removed_only_from_there(
    client, review, other, verb
):
    client.write("docs/speed.md", "# Speed\n\nThe `wire.transport` took 3 ms.\n")
    client.write("lib/last.py", f"def close(wire, transport):\n    return {other}\n")
    client.write("src/link.py", "def read(wire):\n    return wire.transport\n")
    bind(client, "docs/speed.md", "src/link.py")
    stage(client, "src/link.py", "wire.transport", "wire.read()")
    (case,) = [case for case in review(client).cases if case.filepath == "docs/speed.md"]
    (reason,) = [reason for reason in case.reasons if reason.kind == "bound"]
    assert f"; it {verb} `wire.transport` (line 7)" in reason.text

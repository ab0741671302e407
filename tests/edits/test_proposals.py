"""Edits of agents: what a proposal contains, and what it never touches."""

import os
import time

import frontmatter
import pytest

from ubp.core.errors import BadArgumentError, PageNotFoundError, RepositoryError, UsageError
from ubp.edits import changes, leases, limits
from ubp.edits.model import Agent
from ubp.edits.proposals import list_proposals, read_log
from ubp.edits.propose import EditRequest, FindingsRefusedError
from ubp.edits.propose import propose as propose_edit
from ubp.edits.review import accept, reject, review, revise, withdraw
from ubp.workspace import Workspace

PAGE = "docs/auth.md"


def state_of(repository):
    """The work tree, the index and the current branch."""
    files = {
        path: path.read_bytes()
        for path in repository.root.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }
    return files, repository.git("ls-files", "--stage"), repository.git("rev-parse", "HEAD")


def text_of(repository, number, page=PAGE):
    return repository.git("show", f"ubp/proposals/{number}:{page}")


def test_section_is_replaced_on_a_branch_and_nothing_else_changes(project, propose):
    before = state_of(project)
    result = propose(changes.replace_section("## Login\n\nTakes a user.\n", "Login"))
    assert state_of(project) == before
    assert result.effect.before == {PAGE: "stale"}
    assert result.effect.after == {PAGE: "fresh"}
    assert [finding.rule for finding in result.effect.fixed] == ["stale-doc"]
    old, new = project.git("show", f"HEAD:{PAGE}"), text_of(project, 1)
    assert new == old.replace("Old.", "Takes a user.")
    assert project.git("rev-parse", f"ubp/proposals/1:{PAGE}") == result.blob
    assert project.git("diff", "--name-only", "HEAD", "ubp/proposals/1") == PAGE


def test_replaced_text_keeps_the_front_matter_byte_for_byte(project, propose):
    head = "---\r\n# kept\r\nsource_refs: [src/auth.py]\r\n---\r\n\r\n"
    project.write(PAGE, f"{head}# Auth\r\n\r\n## Login\r\n")
    project.commit()
    propose(changes.append("More\n\nlines."))
    assert project.git("cat-file", "blob", f"ubp/proposals/1:{PAGE}").startswith(head.strip())
    data = (head + "# Auth\r\n\r\n## Login\r\n\r\nMore\r\n\r\nlines.\r\n").encode()
    assert project.git("hash-object", "--stdin", stdin=data) == project.git(
        "rev-parse", f"ubp/proposals/1:{PAGE}"
    )


def test_body_replaces_the_body_and_text_with_front_matter_the_page(project, propose, workspace):
    propose(changes.replace(workspace.session, "# New\n\n## Login\n"))
    assert text_of(project, 1) == "---\nsource_refs:\n  - src/auth.py\n---\n\n# New\n\n## Login"
    page = "---\ntitle: T\nsource_refs: [src/auth.py]\n---\n# Other\n\n## Login\n"
    propose(changes.replace(workspace.session, page))
    assert text_of(project, 1) == page.strip()


def test_new_page_has_valid_front_matter(project, propose, workspace):
    change = changes.create(workspace.session, "# 新\n\n[[auth]]\n", "guide", ["src/auth.py"])
    result = propose(change, "docs/new.md", "create")
    page = frontmatter.loads(text_of(project, 1, "docs/new.md"))
    assert page.metadata == {"doc_type": "guide", "source_refs": ["src/auth.py"]}
    assert page.content == "# 新\n\n[[auth]]"
    assert result.effect.after == {"docs/new.md": "fresh"}
    with pytest.raises(BadArgumentError, match="no file or folder"):
        propose(
            changes.create(workspace.session, "# X\n", None, ["src/no.py"]), "docs/x.md", "create"
        )


def test_acknowledgement_pins_the_present_source(project, propose, workspace):
    propose(changes.acknowledge(workspace.session, PAGE, None, "Same."), action="acknowledge")
    pin = project.git("rev-parse", "HEAD:src/auth.py")[:12]
    assert f"blob: {pin}" in text_of(project, 1)
    with pytest.raises(BadArgumentError, match=r"does not list src/b\.py"):
        propose(changes.acknowledge(workspace.session, PAGE, "src/b.py", "Same."))


def test_sources_are_added(project, propose, workspace):
    propose(changes.bind(workspace.session, PAGE, ["docs/other.md"]), action="bind")
    assert "  - src/auth.py\n  - docs/other.md\n" in text_of(project, 1)


def test_new_source_that_changed_after_the_page_is_named(project, propose, workspace):
    project.write("src/keys.py", "KEY = 1\n")
    project.write("docs/keys.md", "# Keys\n\nThe key is 1.\n")
    project.commit()
    project.write("src/keys.py", "KEY = 2\n")
    project.commit()
    project.write("src/same.py", "SAME = 1\n")
    project.write("docs/same.md", "# Same\n\nThe same is 1.\n")
    project.commit()
    for name in ("keys", "same"):
        change = changes.bind(workspace.session, f"docs/{name}.md", [f"src/{name}.py"])
        result = propose(change, f"docs/{name}.md", action="bind")
        assert result.effect.after == {f"docs/{name}.md": "fresh"}
        assert len(result.warnings) == (1 if name == "keys" else 0)
        assert all(w.startswith("src/keys.py has changed since") for w in result.warnings)
        (change,) = review(workspace.session, result.proposal.id).changes
        assert change.warnings == result.warnings


def test_edit_that_breaks_links_is_refused_unless_allowed(project, propose):
    away = changes.replace_section("## Sign in\n\nOld.", "Login")
    with pytest.raises(FindingsRefusedError) as error:
        propose(away)
    assert error.value.cause.startswith("docs/other.md:3 ")
    assert project.git("for-each-ref", "refs/heads/ubp") == ""
    result = propose(away, allow_findings=True)
    assert [finding.rule for finding in result.effect.introduced] == ["missing-anchor"]


def test_edits_of_a_session_share_a_proposal_and_other_sessions_wait(project, propose, monkeypatch):
    first = propose(changes.append("One."))
    assert propose(changes.append("Two.")).proposal.id == first.proposal.id
    with pytest.raises(UsageError, match=r"locked by proposal 1"):
        propose(changes.append("Three."), session="b")
    other = propose(changes.append("Three."), "docs/other.md", session="b")
    assert other.proposal.id == 2
    with pytest.raises(BadArgumentError, match="not an open proposal of this session"):
        propose(changes.append("Four."), "docs/other.md", session="b", proposal=1)
    monkeypatch.setattr(leases, "LEASE_SECONDS", -1)
    assert propose(changes.append("Five."), session="b").proposal.id == 3
    assert project.git("rev-parse", "HEAD") == first.proposal.base


def test_edit_of_an_outdated_text_is_refused(project, propose):
    blob = project.git("rev-parse", f"HEAD:{PAGE}")
    project.write(PAGE, "# Changed\n\n## Login\n")
    with pytest.raises(BadArgumentError) as error:
        propose(changes.append("X"), expected_blob=project.git("hash-object", PAGE))
    assert error.value.cause == "docs/auth.md has changes that are not committed."
    project.commit()
    with pytest.raises(BadArgumentError, match="not the text"):
        propose(changes.append("X"), expected_blob=blob)
    assert propose(changes.append("X"), expected_blob=project.git("rev-parse", f"HEAD:{PAGE}")[:12])


@pytest.mark.parametrize(
    "path",
    [
        "../out.md",
        "/etc/x.md",
        ".git/x.md",
        ".GIT/x.md",
        "docs/.git/x.md",
        ".git./x.md",
        "GIT~1/x.md",
        ".github/x.md",
        ".ubp/x.md",
        "CODEOWNERS",
        "docs/CODEOWNERS",
        "docs\\x.md",
        "docs/x.md ",
        "docs/x.md:stream.md",
        "docs/x\u202e.md",
        "docs/x\x00.md",
        "Docs/x.md",
        "docs/AUTH.md",
        "docs/cafe\u0301.md",
        "link/x.md",
        "docs/link.md",
        "src/auth.py/x.md",
        "src/auth.py",
        "docs/private/x.md",
        "docs//x.md",
        "\udcff.md",
    ],
)
def test_files_that_are_not_documents_cannot_be_written(path, project, propose, workspace):
    os.symlink("docs", project.root / "link")
    os.symlink("auth.md", project.root / "docs/link.md")
    project.write("docs/caf\u00e9.md", "# C\n")
    project.commit()
    with pytest.raises(BadArgumentError, match="may not write"):
        propose(changes.create(workspace.session, "# X\n", None, []), path, "create")


def test_only_the_configured_paths_can_be_written(project):
    project.write(".ubp/config.json", '{"edit": {"paths": ["guides"], "max_page_bytes": 1000}}')
    project.commit()

    def create(path, content="# X\n"):
        with Workspace.open(str(project.root)) as opened:
            change = changes.create(opened.session, content, None, [])
            edit = EditRequest(Agent("c", "s"), "create", path, change, "New.")
            propose_edit(opened.session, edit)

    with pytest.raises(BadArgumentError, match=r"may not write docs/x\.md"):
        create("docs/x.md")
    with pytest.raises(BadArgumentError, match=r"2,00. bytes"):
        create("guides/x.md", "x" * 2000)
    create("guides/x.md")


def test_text_that_pages_never_contain_is_refused_or_shown(propose):
    for content in ("a\x1b[31m", "a\x00", "\ud800"):
        with pytest.raises(BadArgumentError, match="`content` has"):
            propose(changes.append(content))
    text = "ghp_" + "a" * 36 + "\n\nTurned \u202e round."
    assert propose(changes.append(text)).warnings == (
        "Line 16 contains what looks like a GitHub token.",
        "Line 18 contains invisible or bidirectional characters.",
    )


def test_agent_over_the_rate_limit_waits(propose, workspace, monkeypatch):
    settings = workspace.session.config.edit._replace(edits_per_minute=2)
    workspace.session.config = workspace.session.config._replace(edit=settings)
    now = time.monotonic()
    monkeypatch.setattr(limits.time, "monotonic", lambda: now)
    propose(changes.append("1"))
    propose(changes.append("2"))
    with pytest.raises(UsageError, match="Too many edits") as error:
        propose(changes.append("3"))
    assert error.value.hint == "Try again in 60 s."
    monkeypatch.setattr(limits.time, "monotonic", lambda: now + 61)
    propose(changes.append("3"))


def test_missing_page_or_section_is_not_edited(propose):
    for name in ("docs/auht.md", "auth.md"):
        with pytest.raises(PageNotFoundError, match=rf"no page {name}") as missing:
            propose(changes.append("X"), name)
        assert missing.value.near[0] == PAGE
    with pytest.raises(BadArgumentError, match="no section Lgin") as error:
        propose(changes.replace_section("## X", "Lgin"))
    assert error.value.hint == "Did you mean login?"
    with pytest.raises(BadArgumentError, match="must not be empty"):
        propose(changes.append("X"), reason=" ")


def test_reason_cannot_forge_trailers(propose, workspace):
    forged = "Good.\n\nUBP-Proposal: 9\nUBP-Client: root\n\nUBP-Event: accepted"
    propose(changes.append("X"), reason=forged)
    (proposal,) = list_proposals(workspace.session.repository)
    assert (proposal.id, proposal.client) == (1, "client-a 1.0")
    (entry,) = read_log(workspace.session.repository)
    assert (entry.event, entry.proposal, entry.client) == ("proposed", 1, "client-a 1.0")


def test_accepting_commits_as_the_reviewer_with_hooks(project, propose, workspace):
    propose(changes.replace_section("## Login\n\nNew.", "Login"))
    project.write("src/other.py", "x = 1\n")
    project.git("add", "src/other.py")
    hook = project.write(".git/hooks/pre-commit", "#!/bin/sh\ntouch ran; test ! -e refuse\n")
    hook.chmod(0o755)
    project.write("refuse", "")
    before = state_of(project)[1:]
    with pytest.raises(RepositoryError, match="was not committed"):
        accept(workspace.session, 1)
    assert state_of(project)[1:] == before
    assert project.git("status", "--short", PAGE) == ""
    project.remove("refuse")
    project.git("config", "user.name", "Rae Viewer")
    commit = accept(workspace.session, 1)
    who = project.git("show", "--no-patch", "--format=%an|%ae|%cn|%P", commit)
    assert who == f"client-a 1.0|agent@ubp.invalid|Rae Viewer|{before[1]}"
    assert project.git("diff", "--name-only", "HEAD~", "HEAD") == PAGE
    assert project.git("status", "--short", "docs", "src") == "A  src/other.py"
    assert "New." in (project.root / PAGE).read_text()
    assert list_proposals(workspace.session.repository) == ()
    entry = next(read_log(workspace.session.repository))
    assert (entry.event, entry.by, entry.accepted_as) == ("accepted", "Rae Viewer", commit)


def test_accepting_merges_and_refuses_conflicts(project, propose, workspace):
    propose(changes.replace_section("## Login\n\nNew.", "Login"))
    propose(changes.append("Other."), "docs/other.md", session="b")
    project.write(PAGE, (project.root / PAGE).read_text().replace("Bye.", "See you."))
    with pytest.raises(UsageError, match="not committed"):
        accept(workspace.session, 1)
    project.commit()
    accept(workspace.session, 1)
    text = (project.root / PAGE).read_text()
    assert "New." in text
    assert "See you." in text
    project.write("docs/other.md", "# Other\n\nSomething else\n")
    project.commit()
    with pytest.raises(RepositoryError, match=r"conflicts .* in docs/other\.md") as error:
        accept(workspace.session, 2)
    assert error.value.hint.startswith("Merge it yourself: git merge ubp/proposals/2; ")
    project.git("merge", "--quiet", "-X", "theirs", "ubp/proposals/2")
    assert accept(workspace.session, 2) == project.git("rev-parse", "HEAD")
    assert list_proposals(workspace.session.repository) == ()


def test_an_edit_of_a_page_that_was_renamed_meanwhile_stays_open(project, propose, workspace):
    propose(changes.append("New."))
    project.git("mv", PAGE, "docs/renamed.md")
    project.commit()
    head = project.git("rev-parse", "HEAD")
    with pytest.raises(RepositoryError, match=f"conflicts .* in {PAGE}"):
        accept(workspace.session, 1)
    (proposal,) = list_proposals(workspace.session.repository)
    assert proposal.id == 1
    assert project.git("rev-parse", "HEAD") == head


def test_bare_repository_accepts_on_the_branch_of_head_but_a_mirror_does_not(project, tmp_path):
    bare = tmp_path / "notes.git"
    project.git("clone", "--quiet", "--bare", str(project.root), str(bare))
    git = ["--git-dir", str(bare)]
    project.git(*git, "config", "user.name", "Rae Viewer")
    project.git(*git, "config", "user.email", "rae@example.com")
    before = project.git("rev-parse", "HEAD")
    with Workspace.open(str(bare)) as workspace:
        for session, page in (("a", PAGE), ("b", "docs/other.md")):
            edit = EditRequest(
                Agent(f"client-{session} 1.0", session), "update", page, changes.append("New."), "x"
            )
            propose_edit(workspace.session, edit)
        with pytest.raises(UsageError, match="the mirror of another repository"):
            accept(workspace.session, 1)
        project.git(*git, "remote", "remove", "origin")
        first, second = accept(workspace.session, 1), accept(workspace.session, 2)
        assert list_proposals(workspace.session.repository) == ()
    history = project.git(*git, "log", "--format=%H|%an|%ae|%cn|%ce", f"{before}..HEAD").split("\n")
    assert history == [
        f"{second}|client-b 1.0|agent@ubp.invalid|Rae Viewer|rae@example.com",
        f"{first}|client-a 1.0|agent@ubp.invalid|Rae Viewer|rae@example.com",
    ]
    assert project.git(*git, "diff", "--name-only", before, "HEAD") == f"{PAGE}\ndocs/other.md"
    assert project.git(*git, "show", f"HEAD:{PAGE}").endswith("New.")
    assert project.git("rev-parse", "HEAD") == before


def test_rejected_and_withdrawn_proposals_stay_in_the_log(project, propose, workspace):
    tip = propose(changes.append("One.")).proposal.tip
    propose(changes.append("Two."), "docs/other.md", session="b")
    reject(workspace.session, 1, "Wrong.")
    with pytest.raises(UsageError, match="not one of this session"):
        withdraw(workspace.session, 2, Agent("c", "a"), "Mine.")
    withdraw(workspace.session, 2, Agent("c", "b"), "Oops.")
    assert list_proposals(workspace.session.repository) == ()
    with pytest.raises(UsageError, match="No open proposal 1") as error:
        review(workspace.session, 1)
    assert error.value.cause == "It was rejected by Ann Author."
    events = [(e.event, e.proposal, e.reason) for e in read_log(workspace.session.repository)]
    assert events[:2] == [("withdrawn", 2, "Oops."), ("rejected", 1, "Wrong.")]
    project.git("reflog", "expire", "--expire=now", "--all")
    project.git("gc", "--quiet", "--prune=now")
    assert project.git("cat-file", "-t", tip) == "commit"
    assert propose(changes.append("Three.")).proposal.id == 3


def test_proposal_is_revised_here_or_in_a_work_tree(project, propose, workspace):
    propose(changes.append("One."))
    revise(workspace.session, 1, PAGE, b"# Auth\n\n## Login\n")
    tree = project.root.parent / "review"
    project.git("worktree", "add", "--quiet", str(tree), "ubp/proposals/1")
    (tree / PAGE).write_text("# Mine\n\n## Login\n")
    project.git("-C", str(tree), "commit", "--quiet", "--all", "--message", "by hand")
    with pytest.raises(RepositoryError, match="Cannot write"):
        propose(changes.append("Two."))
    project.git("worktree", "remove", str(tree))
    (proposal,) = list_proposals(workspace.session.repository)
    assert [(edit.action, edit.author) for edit in proposal.edits] == [
        ("update", "client-a 1.0"),
        ("revise", "Ann Author"),
        ("revise", "Ann Author"),
    ]
    accept(workspace.session, 1)
    assert (project.root / PAGE).read_text() == "# Mine\n\n## Login\n"


def test_edit_that_nobody_has_seen_is_not_accepted(project, propose, workspace):
    seen = propose(changes.append("One.")).proposal.tip
    last = propose(changes.append("Two.")).proposal.tip
    with pytest.raises(UsageError, match=f"last edit of proposal 1 is not {seen}") as error:
        accept(workspace.session, 1, seen)
    assert error.value.cause == f"It is {last}, of {PAGE}."
    assert accept(workspace.session, 1, last[:10]) == project.git("rev-parse", "HEAD")


def test_proposal_whose_last_commit_changes_nothing_is_accepted_at_its_last_edit(
    project, propose, workspace
):
    last = propose(changes.append("One.")).proposal.tip
    empty = project.git("commit-tree", "-p", last, "-m", "Looked at it.", f"{last}^{{tree}}")
    project.git("update-ref", "refs/heads/ubp/proposals/1", empty)
    assert accept(workspace.session, 1, last) == project.git("rev-parse", "HEAD")


def test_edit_added_while_git_commits_stays_open(project, propose, workspace):
    first = propose(changes.append("One.")).proposal
    git = project.root / ".git"
    proposed = propose(changes.append("Two.")).proposal
    project.git("update-ref", "refs/heads/ubp/proposals/1", first.tip)
    hook = project.write(
        ".git/hooks/pre-commit",
        f"#!/bin/sh\ngit --git-dir={git} update-ref refs/heads/ubp/proposals/1 {proposed.tip}\n",
    )
    hook.chmod(0o755)
    commit = accept(workspace.session, 1)
    assert (project.root / PAGE).read_text().endswith("One.\n")
    entry = next(read_log(workspace.session.repository))
    assert (entry.event, entry.accepted_as, entry.commit) == ("accepted", commit, first.tip)
    assert [proposal.tip for proposal in list_proposals(workspace.session.repository)] == [
        proposed.tip
    ]
    hook.unlink()
    accept(workspace.session, 1)
    assert (project.root / PAGE).read_text().endswith("One.\n\nTwo.\n")
    assert list_proposals(workspace.session.repository) == ()


def test_lease_lasts_while_its_session_edits_the_page(project, propose, workspace, monkeypatch):
    now = float(project.clock) + 1
    monkeypatch.setattr(workspace.session, "clock", lambda: now)
    agent = Agent("client-a 1.0", "a")
    request = EditRequest(agent, "update", PAGE, changes.append("One."), "It changed.")
    propose_edit(workspace.session, request)
    for about in (PAGE, 1, None):
        now += leases.LEASE_SECONDS - 60
        leases.renew(workspace.session.repository, agent, about, now)
    now += leases.LEASE_SECONDS - 60
    with pytest.raises(UsageError, match="locked by proposal 1") as error:
        propose(changes.append("Two."), session="b")
    assert error.value.cause == "client-a 1.0 has edited it in another session, for 116 min."
    assert error.value.hint.startswith("The lock ends in 1 min unless that session continues")
    leases.renew(workspace.session.repository, agent, "docs/other.md", now)
    leases.renew(workspace.session.repository, Agent("client-b 1.0", "b"), PAGE, now)
    now += 61
    assert propose(changes.append("Two."), session="b").proposal.id == 2
    leases.renew(workspace.session.repository, agent, None, now)
    reject(workspace.session, 1, "no")
    assert list((project.root / ".git/ubp/leases").iterdir()) == []


def test_edit_that_makes_another_page_stale_is_reported_and_not_refused(project, propose):
    project.page("docs/derived.md", PAGE)
    project.commit()
    result = propose(changes.append("More."))
    assert [(found.rule, found.filepath) for found in result.effect.introduced] == [
        ("stale-doc", "docs/derived.md")
    ]


def test_edit_with_invalid_front_matter_is_refused(propose):
    with pytest.raises(FindingsRefusedError, match="introduces 1 finding"):
        propose(lambda _, __: b"---\nsource_refs: [/etc/passwd]\n---\n\n# Auth\n\n## Login\n")


def test_error_after_an_own_edit_names_the_proposal_and_its_blob(project, propose):
    blob = project.git("rev-parse", f"HEAD:{PAGE}")
    first = propose(changes.append("More."), expected_blob=blob)
    with pytest.raises(BadArgumentError) as caught:
        propose(changes.append("And more."), expected_blob=blob)
    assert caught.value.cause == (
        f"Your proposal 1 has changed it: its blob id there is {first.blob}."
    )
    assert f"expected_blob {first.blob}" in caught.value.hint


@pytest.mark.parametrize("source", ["src/auht.py", "source/auth.py"])
def test_misspelt_source_is_refused_with_the_nearest_file(source, propose, workspace):
    with pytest.raises(BadArgumentError) as caught:
        propose(changes.bind(workspace.session, PAGE, [source]), action="bind")
    assert caught.value.hint == "Did you mean src/auth.py?"


def test_source_that_does_not_exist_is_refused(propose, workspace):
    with pytest.raises(FindingsRefusedError) as caught:
        propose(changes.bind(workspace.session, PAGE, ["src/auth.py#no"]), action="bind")
    assert "src/auth.py#no never existed." in caught.value.cause
    assert caught.value.hint == "Correct it."
    page = "---\nsource_refs: [src/no.py]\n---\n# Auth\n\n## Login\n"
    with pytest.raises(FindingsRefusedError) as caught:
        propose(changes.replace(workspace.session, page))
    assert caught.value.hint.startswith("Correct it, or pass allow_findings")
    propose(changes.replace(workspace.session, page), allow_findings=True)
    propose(changes.append("More."))


def test_misspelt_source_does_not_name_an_excluded_file(project):
    project.write(".ubp/config.json", '{"source": {"exclude": ["secrets/**"]}}')
    project.write("secrets/auth_key.py", "key = 1\n")
    project.commit()
    with Workspace.open(str(project.root)) as workspace, pytest.raises(BadArgumentError) as caught:
        propose_edit(
            workspace.session,
            EditRequest(
                Agent("client 1.0", "a"),
                "bind",
                PAGE,
                changes.bind(workspace.session, PAGE, ["src/auth_key.py"]),
                "It describes it.",
            ),
        )
    assert "secrets" not in caught.value.hint


def test_review_contains_what_changed_in_the_sources_of_a_page(propose, workspace):
    propose(changes.append("More."))
    (change,) = review(workspace.session, 1).changes
    (source,) = change.sources
    assert (source.name, source.verdict) == ("src/auth.py", "modified")
    assert "\n-def login():\n+def login(user):\n" in source.diff

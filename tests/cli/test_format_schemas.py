"""The formats for programs match their schemas and contain the findings."""

import pytest


@pytest.fixture
def faulty(repository, at):
    """A repository with findings of every rule, two of them ignored."""
    repository.write("src/a.py", "".join(f"{n}\n" for n in range(30)))
    repository.write("src/old.py", "".join(f"old {n}\n" for n in range(30)))
    repository.write("src/pkg/x.py", "1\n")
    repository.write("one/same.md", "# One\n")
    repository.write("two/same.md", "# Two\n")
    repository.write(
        "docs/日本 a.md",
        "---\nsource_refs:\n  - src/a.py\n  - src/old.py\n  - src/pkg/\n  - src/never.py\n  - /x\n"
        "---\n# A\n\n日本 [b](b.md) [[x]] [y](#y) [[same]] [[same|depend_on]]\n\n"
        "[z](z.md) <!-- ubp: ignore[broken-link] -->\n",
    )
    repository.write("docs/b.md", "# B\n\n[[ignored]]\n")
    repository.write(
        ".ubp/config.json",
        '{"check": {"ignore": [{"path": "docs/c.md", "rule": "broken-link"}],'
        ' "severity": {"orphan-doc": "warning"}}}',
    )
    repository.commit("Begin")
    repository.write("src/a.py", "".join(f"{n}\n" for n in range(15)) + "changed\n")
    repository.git("mv", "src/old.py", "src/new.py")
    repository.git("mv", "docs/b.md", "docs/c.md")
    repository.write("src/pkg/x.py", "2\n")
    repository.commit("Change")
    at(repository, days=10)
    repository.git("remote", "add", "origin", "https://ann:secret@example.com/ann/project.git")
    return repository


@pytest.mark.parametrize("command", ["check", "stale"])
@pytest.mark.parametrize("question", [[], ["--base", "HEAD~1"], ["--ref", "HEAD~1"]], ids=str)
def test_machine_formats_match_their_schemas(faulty, ubp, fits, command, question):
    for name in ("sarif", "rdjson", "gitlab"):
        answer = ubp(faulty, command, *question, "--format", name)
        assert answer.err == ""
        assert fits(name, answer.out) or question == ["--ref", "HEAD~1"]


def test_sarif_has_rules_places_sources_and_suppressions(faulty, ubp, fits):
    (run,) = fits("sarif", ubp(faulty, "check", "--format", "sarif").out)["runs"]
    driver = run["tool"]["driver"]
    assert [rule["id"] for rule in driver["rules"]] == [
        "stale-doc",
        "missing-source",
        "unbound-page",
        "removed-name",
        "broken-link",
        "missing-anchor",
        "ambiguous-link",
        "unknown-link-type",
        "orphan-doc",
        "bad-front-matter",
        "ignored-fragment",
        "obsolete-debt",
        "relaxed-check",
        "stale-translation",
    ]
    for rule in driver["rules"]:
        assert rule["help"]["text"].startswith(rule["shortDescription"]["text"])
    assert run["versionControlProvenance"] == [
        {
            "repositoryUri": "https://example.com/ann/project.git",
            "revisionId": faulty.head(),
            "mappedTo": {"uriBaseId": "%SRCROOT%"},
        }
    ]
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    found = {
        (
            result["ruleId"],
            result["locations"][0]["physicalLocation"]["region"]["startLine"],
        ): result
        for result in run["results"]
        if result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].startswith("docs")
    }
    stale = found["stale-doc", 3]
    assert stale["level"] == "error"
    assert stale["locations"][0]["physicalLocation"] == {
        "artifactLocation": {
            "uri": "docs/%E6%97%A5%E6%9C%AC%20a.md",
            "uriBaseId": "%SRCROOT%",
        },
        "region": {"startLine": 3},
    }
    assert stale["relatedLocations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "src/a.py", "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": 16},
            },
            "message": {"text": "The source changed here."},
        }
    ]
    moved = found["missing-source", 4]["relatedLocations"]
    assert [place["message"]["text"] for place in moved] == ["The source moved here."]
    assert found["broken-link", 11]["locations"][0]["physicalLocation"]["region"] == {
        "startLine": 11,
        "startColumn": 14,
        "endLine": 11,
        "endColumn": 19,
    }
    suppressed = {
        r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]: r["suppressions"]
        for r in run["results"]
        if r["suppressions"]
    }
    assert suppressed == {
        "docs/%E6%97%A5%E6%9C%AC%20a.md": [
            {
                "kind": "inSource",
                "status": "accepted",
                "justification": "Ignored by a comment in the page.",
            }
        ],
        "docs/c.md": [
            {
                "kind": "external",
                "status": "accepted",
                "justification": "Ignored by check.ignore in .ubp/config.json: docs/c.md",
            }
        ],
    }


def test_reviewdog_counts_bytes_and_gets_only_unique_fixes(faulty, ubp, fits):
    listed = fits("rdjson", ubp(faulty, "check", "--format", "rdjson").out)["diagnostics"]
    link = next(
        finding for finding in listed if finding["message"].startswith("b.md does not exist.")
    )
    assert link["location"]["range"] == {
        "start": {"line": 11, "column": 8},
        "end": {"line": 11, "column": 17},
    }
    answer = ubp(faulty, "check", "--base", "HEAD~1", "--format", "rdjson")
    link = next(
        diagnostic
        for diagnostic in fits("rdjson", answer.out)["diagnostics"]
        if "suggestions" in diagnostic
    )
    assert link["suggestions"] == [
        {
            "range": {"start": {"line": 11, "column": 12}, "end": {"line": 11, "column": 16}},
            "text": "c.md",
        }
    ]


def test_fingerprints_are_equal_in_all_formats(faulty, ubp, fits):
    record = ubp(faulty, "check", "--json").record
    names = [finding["fingerprint"] for finding in record["findings"]]
    assert len(set(names)) == len(names)
    gitlab = fits("gitlab", ubp(faulty, "check", "--format", "gitlab").out)
    assert [issue["fingerprint"] for issue in gitlab] == names
    (run,) = fits("sarif", ubp(faulty, "check", "--format", "sarif").out)["runs"]
    sarif = [r["partialFingerprints"]["ubpFinding/v1"] for r in run["results"]]
    assert sarif[: len(names)] == names


def test_unverified_sources_do_not_look_green(repository, shallow, ubp, at, fits):
    at(repository)
    for command in ("check", "stale"):
        answer = ubp(shallow, command, "--format", "sarif")
        (run,) = fits("sarif", answer.out)["runs"]
        (invocation,) = run["invocations"]
        assert answer.status == 2
        assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 2)
        (notification,) = invocation["toolExecutionNotifications"]
        assert notification["message"]["text"] == (
            "1 source could not be verified because this clone is shallow."
        )
        (doubt,) = fits("rdjson", ubp(shallow, command, "--format", "rdjson").out)["diagnostics"]
        assert doubt["severity"] == "INFO"
        (issue,) = fits("gitlab", ubp(shallow, command, "--format", "gitlab").out)
        assert issue["severity"] == "info"
        assert ubp(shallow, command, "--format", "github").out == (
            "::warning title=not verified::1 source could not be verified because this clone is"
            " shallow.%0AFetch the history (fetch-depth: 0), or pin the pages that you reviewed.\n"
        )
        assert "1 source could not be verified" in ubp(shallow, command, "--format", "markdown").out


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://user:token@example.com:8443/a/b.git?x=y#z", "https://example.com:8443/a/b.git"),
        ("git@example.com:a/b c.git", None),
        ("git@example.com:a/b.git", "ssh://example.com/a/b.git"),
        ("example.com:a/日本.git", "ssh://example.com/a/%E6%97%A5%E6%9C%AC.git"),
        ("ssh://git@example.com/a/b", "ssh://example.com/a/b"),
        ("file:///srv/a", None),
        ("/srv/a", None),
        ("../a", None),
        ("C:\\a", None),
        ("https://a)b/c", None),
        ("https://example.com:x/", None),
    ],
)
def test_origin_is_shown_without_secrets(drifted, ubp, fits, address, shown):
    drifted.git("remote", "add", "origin", address)
    (run,) = fits("sarif", ubp(drifted, "check", "--format", "sarif").out)["runs"]
    seen = run.get("versionControlProvenance", [{}])[0]
    assert seen.get("repositoryUri") == shown


def test_ci_environment_gives_the_address_of_pages(drifted, ubp, fits, monkeypatch):
    drifted.write("untracked.md", "# U\n")
    head = drifted.head()
    monkeypatch.setenv("CI_PROJECT_URL", "https://gitlab.example.com/a/b")
    monkeypatch.setenv("CI_COMMIT_REF_NAME", "topic")
    answer = ubp(drifted, "stale", "--format", "markdown").out
    assert f"[`docs/a.md`](https://gitlab.example.com/a/b/-/blob/{head}/docs/a.md)" in answer
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.example.com")
    monkeypatch.setenv("GITHUB_REPOSITORY", "a/b")
    monkeypatch.setenv("GITHUB_REF_NAME", "12/merge")
    monkeypatch.setenv("GITHUB_HEAD_REF", "feature")
    answer = ubp(drifted, "stale", "--format", "markdown").out
    assert f"[`docs/a.md`](https://github.example.com/a/b/blob/{head}/docs/a.md)" in answer
    (run,) = fits("sarif", ubp(drifted, "stale", "--format", "sarif").out)["runs"]
    assert run["versionControlProvenance"] == [
        {
            "repositoryUri": "https://github.example.com/a/b",
            "branch": "feature",  # and no revision: a file differs from it
            "mappedTo": {"uriBaseId": "%SRCROOT%"},
        }
    ]

"""Attacks on a server of several repositories, of which the second one has a secret page.

Nothing is asked about the second one by its name, so no answer may contain what it says.
"""

import json
from pathlib import Path

from attacks import ESCAPES, Abuse, calls, is_refused, leaks, methods
from victim import SECRET, Server, Victim

NAMES = (
    *(
        "../other",
        "/other",
        "other/",
        "OTHER",
        "other\x00",
        " other",
        "other/../other",
        "repository/../other",
    ),
    *("*", "", "x" * 10_000, "\u202eother", "file:///other", "--all", "o%74her", ESCAPES),
)
NOT_NAMES = (0, 1, True, [], ["other"], {}, {"other": 1}, 1.5)
PATHS = (
    "../other/docs/only.md",
    "other/docs/only.md",
    "other:docs/only.md",
    "docs/only.md",
    "only.md",
)


def prepare_other(victim: Victim, folder: Path) -> Victim:
    """Make the second repository, called `other`, with a secret page and a source."""
    made = Victim(folder, victim)
    made.write(
        "docs/only.md", f"---\nsource_refs: [src/only.py]\n---\n# {SECRET}\n\n{SECRET} page\n"
    )
    made.write("src/only.py", f"{SECRET} = 1\n")
    made.commit()
    moved = folder / "other"
    made.root.rename(moved)
    made.root = moved
    return made


def serve_both(victim: Victim, other: Victim) -> Server:
    """Start a server of both."""
    return Server(victim.root, str(victim.root), str(other.root))


def id_of(page: str) -> str:
    """Return the id that a page of any repository has."""
    from ubp.core.model import FilePath
    from ubp.core.paths import doc_id

    return doc_id(FilePath(page))


AMONG_REPOSITORIES = (
    Abuse(
        "names of repositories that are paths",
        "checked arguments",
        calls(*(("ubp_list_pages", {"repository": name}) for name in NAMES)),
        is_refused,
    ),
    Abuse(
        "names of repositories of wrong types",
        "checked arguments",
        calls(*(("ubp_search", {"query": "page", "repository": name}) for name in NOT_NAMES)),
        is_refused,
    ),
    Abuse(
        "pages of another repository by their paths",
        "inside",
        calls(
            *(
                (tool, {name: path})
                for tool, name in (
                    *(("ubp_get_page", "filepath"), ("ubp_get_context", "filepath")),
                    *(("ubp_get_graph", "center"), ("ubp_check_staleness", "filepath")),
                )
                for path in PATHS
            )
        ),
        is_refused,
    ),
    Abuse(
        "pages of another repository by their ids",
        "inside",
        calls(
            *(
                ("ubp_get_page", {"doc_id": value})
                for value in (id_of("docs/only.md"), id_of("other/docs/only.md"), "x")
            )
        ),
        is_refused,
    ),
    Abuse(
        "impact of sources of another repository",
        "inside",
        calls(*(("ubp_get_impact", {"path": f"{path[:-7]}only.py"}) for path in PATHS)),
        leaks,
    ),
    Abuse(
        "searches across repositories",
        "inside",
        calls(
            *(
                ("ubp_search", {"query": query})
                for query in (
                    "s3cret outside",
                    "path:other",
                    "only",
                    "repository:other page",
                    "page",
                )
            ),
            ("ubp_suggest_links", {}),
            ("ubp_check_staleness", {}),
        ),
        leaks,
    ),
    Abuse(
        "cursors of another repository",
        "checked arguments",
        lambda server: [
            server.ask(
                "tools/call",
                {"name": "ubp_list_pages", "arguments": {"limit": 1, "cursor": cursor}},
            )
            for cursor in ("b3RoZXI", json.dumps({"repository": "other"}), "other", "0")
        ],
        is_refused,
    ),
    Abuse(
        "revisions and collections that are repositories",
        "checked arguments",
        calls(
            *(
                ("ubp_get_page", {"filepath": "docs/only.md", "ref": ref})
                for ref in ("other", "../other", "other/HEAD")
            ),
            *(
                ("ubp_search", {"query": "page", "collection": name})
                for name in ("other", "../other", ["other"])
            ),
        ),
        is_refused,
    ),
    Abuse(
        "addresses of resources of another repository",
        "inside",
        methods(
            *(
                ("resources/read", {"uri": f"ubp://page/{path}{query}"})
                for path in ("docs/only.md", "../other/docs/only.md", "other/docs/only.md")
                for query in (
                    "",
                    "?repository=../other",
                    "?repository=",
                    "?repository=OTHER",
                    "?x=other",
                    "#other",
                )
            )
        ),
        is_refused,
    ),
    Abuse(
        "prompts about another repository",
        "checked arguments",
        methods(
            *(
                (
                    "prompts/get",
                    {"name": name, "arguments": {"filepath": path, "repository": repository}},
                )
                for name in ("ubp_update_page", "update_page", "review")
                for path in PATHS[:2]
                for repository in ("../other", "x")
            )
        ),
        is_refused,
    ),
)

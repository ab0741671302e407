"""Where the files and commits of a repository are shown: on its forge, and in an editor."""

import re
from typing import Literal, NamedTuple
from urllib.parse import quote, urlsplit

from ubp.core.model import FilePath, ObjectId
from ubp.core.paths import PAGE_SUFFIXES

Editor = Literal["vscode", "cursor", "zed", "idea"]

_EDITORS: dict[Editor, str] = {
    "vscode": "vscode://file{path}:{line}",
    "cursor": "cursor://file{path}:{line}",
    "zed": "zed://file{path}:{line}",
    "idea": "idea://open?file={path}&line={line}",
}


class _Forge(NamedTuple):
    """A kind of forge: the hosts that are one, and what follows the repository's address.

    `plain` shows a rendered file as text, of which lines can be linked to.
    """

    host: str
    file: str
    line: str
    commit: str
    plain: str = ""


# From the documentation of each; the first whose pattern is found in the host's name counts.
_FORGES = (
    _Forge(r"github", "/blob/{commit}/{path}", "#L{line}", "/commit/{commit}", "?plain=1"),
    _Forge(r"gitlab", "/-/blob/{commit}/{path}", "#L{line}", "/-/commit/{commit}", "?plain=1"),
    _Forge(r"^bitbucket\.org$", "/src/{commit}/{path}", "#lines-{line}", "/commits/{commit}"),
    _Forge(r"^git\.sr\.ht$", "/tree/{commit}/item/{path}", "#L{line}", "/commit/{commit}"),
    _Forge(
        r"^codeberg\.org$|gitea|forgejo",
        "/src/commit/{commit}/{path}",
        "#L{line}",
        "/commit/{commit}",
        "?display=source",
    ),
)


class Places(NamedTuple):
    """Addresses of files and commits; an address is empty where none is known.

    `url` is the repository's on a forge, where `commit` is known to be; commits in `unpushed` are
    not there. `root` is the folder whose files an `editor` opens.
    """

    url: str = ""
    commit: ObjectId | None = None
    unpushed: frozenset[ObjectId] = frozenset()
    editor: Editor | None = None
    root: str = ""

    def file_url(self, path: FilePath, line: int | None = None) -> str:
        """Return where a file, or a line of it, is shown."""
        if self.editor is not None:
            absolute = _quote(f"/{self.root}/{path}".replace("//", "/"))
            return _EDITORS[self.editor].format(path=absolute, line=line or 1)
        forge = _find_forge(self.url)
        if forge is None or self.commit is None:
            return ""
        address = self.url + forge.file.format(commit=self.commit, path=_quote(path))
        if line is None:
            return address
        plain = forge.plain if path.lower().endswith(PAGE_SUFFIXES) else ""
        return f"{address}{plain}{forge.line.format(line=line)}"

    def commit_url(self, commit: ObjectId) -> str:
        """Return where a commit is shown."""
        forge = _find_forge(self.url)
        if forge is None or commit in self.unpushed:
            return ""
        return self.url + forge.commit.format(commit=commit)


def web_url(address: str) -> str:
    """Return the address for browsers of a repository that Git knows by another one.

    Empty where the host is not a forge of a known kind.
    """
    parts = urlsplit(address)
    port = f":{parts.port}" if parts.port and parts.scheme in {"http", "https"} else ""
    scheme = "http" if parts.scheme == "http" else "https"
    path = parts.path.rstrip("/").removesuffix(".git")
    url = f"{scheme}://{parts.hostname}{port}{path}"
    return url if _find_forge(url) else ""


def _quote(path: str) -> str:
    return quote(path, errors="surrogateescape")


def _find_forge(url: str) -> _Forge | None:
    host = urlsplit(url).hostname or ""
    return next((forge for forge in _FORGES if re.search(forge.host, host)), None)

"""The repositories that a server serves, each with a name, workers and tools of its own.

One is the usual case, and then nobody needs its name. Where there are several, requests choose one
with the argument `repository` (addresses with `?repository=NAME`), by default the first, and every
answer says which it is about.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any, NamedTuple

from ubp.core.errors import BadArgumentError
from ubp.core.text import closest_name
from ubp.frame.wording import MAX_NAMES, list_names, printable
from ubp.server.scheduler import Scheduler
from ubp.server.tools.registry import offer_collections
from ubp.server.tools.tool import AnyTool, repeating
from ubp.table import Kit, offered_kits

REPOSITORY = "repository"  # the argument
QUERY = f"?{REPOSITORY}="


class ServedRepository(NamedTuple):
    """A repository by its name, with the workers that read it and the collections it names.

    `languages` are those of its collections that are specifications.
    """

    name: str
    scheduler: Scheduler
    collections: Sequence[str] = ()
    languages: Sequence[str] = ()


OpenFolders = Callable[[Sequence[str]], Sequence[ServedRepository]]


class Repositories:
    """The repositories of a server, and the tools that it offers for them.

    `open_folders` opens those around the folders that a client names, where the server was started
    outside a repository and was given none.
    """

    def __init__(
        self,
        served: Sequence[ServedRepository],
        tools: Sequence[AnyTool],
        open_folders: OpenFolders | None = None,
    ) -> None:
        """Serve one repository or more; their workers are not started yet."""
        self._tools = tuple(tools)
        self._open_folders = open_folders
        self._preparations: list[asyncio.Task[None]] = []
        self._is_preparing = False
        self._serve(served)

    @property
    def wants_folders(self) -> bool:
        """Whether there is no repository yet, and a client's folders would be served."""
        return self._open_folders is not None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the repositories; empty where there is no choice."""
        return tuple(self._served) if len(self._served) > 1 else ()

    @property
    def kits(self) -> tuple[Kit, ...]:
        """The kits whose resources and prompts are offered."""
        return offered_kits(tool.name for tool in self._tools)

    def start(self) -> None:
        """Start the workers for the running event loop."""
        for served in self._served.values():
            served.scheduler.start()

    def prepare(self) -> None:
        """Index each repository before it is needed, from now on."""
        self._is_preparing = True
        for served in self._served.values():
            self._preparations.append(asyncio.create_task(served.scheduler.keep_ready()))

    def close(self) -> None:
        """Abandon the current calls; what they saved stays."""
        for served in self._served.values():
            served.scheduler.close()

    def stop_preparing(self) -> None:
        """Index no more."""
        for task in self._preparations:
            task.cancel()

    def serve_folders(self, folders: Sequence[str]) -> None:
        """Serve the repositories around a client's folders; nothing changes if there are none."""
        if self._open_folders is None:
            return
        served = self._open_folders(folders)
        if not served:
            return
        self._open_folders = None
        self.stop_preparing()
        self.close()
        self._serve(served)
        self.start()
        if self._is_preparing:
            self.prepare()

    def choose(self, name: object) -> ServedRepository:
        """Return the repository of a name, by default (None) the first.

        Raises:
            BadArgumentError: there is none of this name.
        """
        if name is None:
            return next(iter(self._served.values()))
        if not isinstance(name, str) or name not in self._served:
            closest = closest_name(str(name), self._served)
            raise BadArgumentError(
                REPOSITORY,
                f"This server has no repository {name}.",
                cause=f"It has {list_names(self._served)}.",
                hint=f"Did you mean {closest}?" if closest else "",
            )
        return self._served[name]

    def take(self, given: Mapping[str, Any]) -> tuple[ServedRepository, dict[str, Any]]:
        """Return the repository that arguments choose, and the other arguments.

        Raises:
            BadArgumentError: there is no such repository.
        """
        if not self.names:
            return self.choose(None), {**given}
        rest = {key: value for key, value in given.items() if key != REPOSITORY}
        return self.choose(given.get(REPOSITORY)), rest

    def tools(self, served: ServedRepository) -> Mapping[str, AnyTool]:
        """Return the tools by name as they answer about a repository."""
        tools = offer_collections(self._tools, served.collections, served.languages)
        if self.names:
            tools = tuple(_named(tool, served.name) for tool in tools)
        return {tool.name: tool for tool in tools}

    def offered(self) -> tuple[AnyTool, ...]:
        """Return the tools, with the collections that any of the repositories names."""
        served = self._served.values()
        names = dict.fromkeys(name for each in served for name in each.collections)
        # Where one of the repositories names no languages, those of the machine are offered.
        is_known = all(each.languages for each in served)
        languages = dict.fromkeys(name for each in served for name in each.languages)
        return offer_collections(self._tools, [*names], [*languages] if is_known else ())

    def schema(self) -> Mapping[str, Any]:
        """Return the schema of the argument that chooses a repository: each tool has it."""
        known = f": {list_names(self.names)}" if len(self.names) <= MAX_NAMES else ""
        return {"type": "string", "description": f"by default {self.names[0]}{known}"}

    def _serve(self, served: Sequence[ServedRepository]) -> None:
        self._served = {repository.name: repository for repository in served}


def _named(tool: AnyTool, name: str) -> AnyTool:
    about = repeating(tool, {REPOSITORY: name})
    return replace(tool, text=lambda record: f"{subject_line(name)}{about.text(record)}")


def subject_line(name: str) -> str:
    """Return the first line of an answer about one of several repositories."""
    return f"Repository {printable(name)}:\n"


def short_names(roots: Sequence[str]) -> tuple[str, ...]:
    """Return a name for each folder: its last part, with more of the path where several share it.

    >>> short_names(["/home/ann/api", "/home/ann/web/docs", "/home/ann/app/docs"])
    ('api', 'web/docs', 'app/docs')
    """
    paths = [PurePath(root) for root in roots]
    longest = max((len(path.parts) for path in paths), default=0)
    shared = [Counter(path.parts[-length:] for path in paths) for length in range(1, longest)]

    def name(path: PurePath) -> str:
        for length in range(1, len(path.parts)):
            ending = path.parts[-length:]
            if shared[length - 1][ending] == 1:
                return "/".join(ending)
        return path.as_posix()

    return tuple(map(name, paths))

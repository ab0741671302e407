"""Names that pages mention in code and that a change removes from the sources for good.

What is asked of the snapshots around the change is behind `Names`: the rule asks the index, and the
benchmark a table that it moves from commit to commit.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import NamedTuple, Protocol

from ubp.bindings.path_words import is_test, records_past
from ubp.bindings.sources import is_source_path
from ubp.code.definitions import language_of
from ubp.code.dependencies import find_dependencies, is_dependency_manifest
from ubp.code.removed import ChangedSource, Removed
from ubp.core.model import FilePath
from ubp.core.names import fold_name, fragments, may_be_same, name_key, name_words
from ubp.markdown.code_names import CodeName, CodeNames, read_code_names

# In these a capital letter makes a name public, and options and keys are made from fields.
PUBLIC_UPPER = frozenset({"go", "rust", "braces"})

_PROSE = (
    r"(?i)\.(?:md|mdx|markdown|rst|rest|txt|adoc|asciidoc|tex|po|pot|ipynb|svg|csv|tsv|snap|map|log"
    r"|diff|patch|ambr|stderr|stdout|golden|out|xml|pdf|html?)$"
)
_NO_SOURCE_FOLDER = (
    r"(?i)(?:^|/)(?:\.github|\.gitlab|\.circleci|\.azure-pipelines|\.buildkite|\.ci|ci|node_modules"
    r"|vendor|godeps|third_party|[\w-]+_tests|testdata|test[-_]data|test[-_]fixtures|fixtures?"
    r"|__fixtures__|__snapshots__|snapshots|e2e|dist)/"
)
_NO_SOURCE = (
    r"(?i)(?:\.travis|\.gitlab-ci|azure-pipelines|appveyor|\.appveyor|\.pre-commit-config|\.drone)"
    r"\.ya?ml$"
    r"|(?:tox\.ini|noxfile\.py|jenkinsfile|codecov\.yml|\.codecov\.yml)$"
    r"|(?:change(?:s|log)?|history|news|releases?|release[-_]notes)(?:\.\w+)?$"
    r"|.*(?:[.-]min\.(?:js|css)|\.lock)$"
)
_NO_API = (
    r"(?i)(?:^|/)(?:docs?|docs_src|website|site|examples?|samples?|demos?|playground|benchmarks?"
    r"|scripts?|tools?|[\w-]*test[-_]?suite|\.\w[^/]*)/"
    r"|(?:^|/)(?:setup\.py|conftest\.py|gulpfile|gruntfile|[\w-]+\.config\.\w+)"
)
# What they use and do not define may be what the sources had.
_EXAMPLES = r"(?i)(?:^|/)(?:docs?|docs_src|website|site|examples?|samples?|demos?|playground)/"
# What will be, and what is somewhere else.
_OTHER_PAGES = (
    r"(?i)(?:.*/)?(?:roadmap|todo|compatib\w*|comparison\w*|(?:[\w.-]+-)?(?:plan|brief|retro|handoff))"
    r"[^/]*\.\w+$|(?:.*/)?(?:projects|plans|briefs|dispatches)/.*(?:plan|spec|brief|dispatch|slice)"
)
# What was, in any part of a path.
_RECORD = (
    r"(?i)change[-_ ]?logs?|release[-_ ]?notes?|relnotes|migrat(?:ion|ing|e)|upgrad(?:e|ing)"
    r"|(?:^|[/._-])changes(?:[/._-]|$)"
)


class RemovedMention(NamedTuple):
    """A page's first mention of a name (or path) that a change removes.

    `removed` is None for a path; `name` is then the path from the root.
    """

    page: FilePath
    mention: CodeName
    name: str
    removed: Removed | None


# Folders that a build makes again.
_BUILT = r"(?:[\w.-]+/)*(?:dist|build|target|out|output|coverage|_site|public)(?:/|$)"


class PathForm(NamedTuple):
    """A path from the root, and the text that names it in pages of a folder.

    A text without a slash is the name of a folder alone, in inline code and with nothing else.
    """

    path: FilePath
    text: str
    folder: str

    @property
    def key(self) -> int:
        """The key of the text in the index."""
        return name_key(self.text if "/" in self.text else fold_name(self.text))


class PageCode(NamedTuple):
    """The names in a page's code, all and by their keys, and the page's lines."""

    names: CodeNames
    by_key: Mapping[int, Sequence[CodeName]]
    lines: tuple[bytes, ...]


def read_page_code(data: bytes) -> PageCode:
    """Return the names in a page's code, and its lines."""
    names = read_code_names(data)
    by_key: dict[int, list[CodeName]] = {}
    for name in names.names:
        by_key.setdefault(name.key, []).append(name)
    return PageCode(names, by_key, tuple(data.split(b"\n")))


class Names(Protocol):
    """What is known about the names in the snapshot that a change leads to."""

    def pages_with(self, keys: Collection[int]) -> Mapping[int, Collection[FilePath]]:
        """Return the pages whose code has a name or path of each of these keys."""

    def occurring(self, keys: Collection[int]) -> AbstractSet[int]:
        """Return those of these keys that the sources have."""

    def building(self, keys: Collection[int]) -> AbstractSet[int]:
        """Return those of these keys of fragments from which sources may build removed names."""

    def code(self, page: FilePath) -> PageCode | None:
        """Return the names in a page's code, and its lines; None: it cannot be read."""

    def read_before(self, page: FilePath) -> bytes | None:
        """Return the contents of a page that the change edits, as they were before it."""

    def is_edited(self, page: FilePath) -> bool:
        """Return whether the change edits or adds a page."""

    def files(self) -> Collection[FilePath]:
        """Return all files."""


def is_source(path: str) -> bool:
    """Return whether a name in this file exists.

    In prose, tests, lock files, changelogs, CI files and generated files it does not.
    """
    folder, slash, name = path.rpartition("/")
    return (
        _can_have_sources(folder + slash)
        and is_source_path(name)
        and not re.search(_PROSE, name)
        and not re.match(_NO_SOURCE, name)
        and not is_test(path)
    )


@lru_cache(maxsize=10_000)
def _can_have_sources(folder: str) -> bool:
    return not (
        re.search(_NO_SOURCE_FOLDER, folder) or is_test(folder) or folder.startswith(".ubp/")
    )


def defines_names(path: str) -> bool:
    """Return whether what a source defines is for others: an example or script is not."""
    return not re.search(_NO_API, path)


def is_example(path: str) -> bool:
    """Return whether a source only keeps the names alive that it defines, not those that it uses.

    An example that still uses a name that no source defines was left behind, as pages are.
    """
    return re.search(_EXAMPLES, path) is not None


def describes_present(path: str) -> bool:
    """Return whether a page describes the sources as they are.

    Records of the past, plans, comparisons and tests do not.
    """
    return not (
        records_past(path)
        or re.match(_OTHER_PAGES, path)
        or re.search(_RECORD, path)
        or is_test(path)
    )


def changed_source(path: str, before: bytes | None, after: bytes | None) -> ChangedSource:
    """Return a source that a change touches."""
    return ChangedSource(before, after, language_of(path) if defines_names(path) else None)


def find_changed_manifest(
    sources: Mapping[str, ChangedSource], removed_from: str
) -> FilePath | None:
    """Return a manifest that shows that another package may have the names of a source now.

    It is the source's own that the change deletes, with a package that may be elsewhere, or the
    first, by path, in which the change requires another package or version.
    """
    manifests = {
        path: source
        for path, source in sorted(sources.items())
        if defines_names(path) and is_dependency_manifest(path)
    }
    is_moved = any(source.before is None for source in manifests.values())
    required = {
        dependency
        for path, source in manifests.items()
        for dependency in find_dependencies(path, source.before or b"")
    }
    for path, source in manifests.items():
        folder, slash, _ = path.rpartition("/")
        if source.after is not None:
            if not find_dependencies(path, source.after) <= required:
                return FilePath(path)
        elif slash and not is_moved and removed_from.startswith(folder + slash):
            return FilePath(path)
    return None


def find_removed_names(
    keys: Collection[int], define: Callable[[int], Removed | None], names: Names
) -> Iterator[RemovedMention]:
    """Yield the first mention in each page of each name that sources defined and do not contain.

    `define` returns the name of one of the `keys`.
    """
    pages = {key: found for key, found in names.pages_with(keys).items() if found}
    if not pages:
        return
    missing = sorted(pages.keys() - names.occurring(pages))
    defined = {key: removed for key in missing if (removed := define(key))}
    for key, removed in defined.items():
        if not occurs(removed.name, key, names):
            for page in sorted(pages[key]):
                mention = find_name(page, key, removed, names)
                if mention:
                    yield RemovedMention(page, mention, removed.name, removed)


def find_removed_paths(deleted: Collection[FilePath], names: Names) -> Iterator[RemovedMention]:
    """Yield the first mention in each page of each file, or folder, that no longer exists."""
    if not deleted:
        return
    forms: dict[int, list[PathForm]] = {}
    is_file = frozenset(deleted)
    for path in with_emptied_folders(deleted, names.files()):
        for form in path_forms(path, is_folder=path not in is_file and _is_public(path)):
            forms.setdefault(form.key, []).append(form)
    for key, pages in sorted(names.pages_with(forms.keys()).items()):
        for form in forms[key]:
            for page in sorted(pages):
                mention = find_path(page, form, names)
                if mention:
                    yield RemovedMention(page, mention, form.path, None)


def occurs(name: str, key: int, names: Names) -> bool:
    """Return whether a source has a name, or fragments from which it may build it."""
    keys = set(map(name_key, fragments(name)))
    # An environment variable is often made of a prefix and the name of a setting.
    may_build = names.occurring(keys) if name.isupper() else names.building(keys)
    return bool(names.occurring({key}) or may_build)


def find_name(page: FilePath, key: int, removed: Removed, names: Names) -> CodeName | None:
    """Return the first mention in a page that may mean a removed name."""
    is_public_upper = removed.language in PUBLIC_UPPER
    code = names.code(page)
    is_company = code is not None and any(
        name.key in removed.siblings and name.key != key for name in code.names.names
    )

    def matches(name: CodeName) -> bool:
        return (
            not name.is_path
            and (
                removed.is_option
                if name.is_option
                else (name.place != "block" or not removed.is_key)
            )
            and any(
                may_be_same(name.text, spelling, is_public_upper=is_public_upper)
                for spelling in (removed.name, *removed.others)
            )
            # a program that uses nothing else of the source may call a function of its own
            and (is_company or not name.is_program)
            and not (name.command and _is_foreign(name.command, names))
        )

    mention = _first(page, key, matches, names)
    return None if mention is None or occurs(mention.text, key, names) else mention


def find_path(page: FilePath, form: PathForm, names: Names) -> CodeName | None:
    """Return the first mention in a page of a path that no longer exists.

    A page gives a path from the root, or from its own folder.
    """
    if form.folder not in {"", page.rpartition("/")[0]} or re.match(_BUILT, form.text):
        return None
    if any(f"/{form.text.rstrip('/')}/" in f"/{file}/" for file in names.files()):
        return None
    is_bare = "/" not in form.text
    if is_bare and names.occurring({form.key}):
        return None
    code = names.code(page)

    def matches(name: CodeName) -> bool:
        if name.text != form.text or name.is_output:
            return False
        return not is_bare or (
            code is not None and f"`{name.text}`".encode() in code.lines[name.line - 1]
        )

    return _first(page, form.key, matches, names)


def _first(
    page: FilePath, key: int, matches: Callable[[CodeName], bool], names: Names
) -> CodeName | None:
    """Return the first mention with a key in lines of a page that the change did not write."""
    code = names.code(page)
    if code is None:
        return None
    found = [name for name in code.by_key.get(key, ()) if matches(name)]
    if not found or _is_imported(found[0], code.names, names):
        return None
    if names.is_edited(page):
        old_lines = _line_set(names.read_before(page) or b"")
        found = [name for name in found if code.lines[name.line - 1] in old_lines]
    return found[0] if found else None


def _is_foreign(program: str, names: Names) -> bool:
    """Return whether no source makes a program."""
    return not any(program in {*file.split("/"), _stem(file)} for file in names.files())


@lru_cache(maxsize=4)
def _line_set(data: bytes) -> frozenset[bytes]:
    return frozenset(data.split(b"\n"))


def _is_imported(name: CodeName, code: CodeNames, names: Names) -> bool:
    """Return whether the page imports a name from a package of somebody else."""
    module = code.imported.get(fold_name(name.text))
    if not module:
        return False
    root = re.split(r"[./]", module.lstrip("./@"))[0]
    if "/" in module and names.occurring([name_key(fold_name(root))]):
        return False  # an npm package, which may have a folder of another name
    return not any(root in {*file.split("/"), _stem(file)} for file in names.files())


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _is_public(folder: str) -> bool:
    return _can_have_sources(f"{folder}/") and defines_names(f"{folder}/")


def path_forms(path: str, *, is_folder: bool = False) -> Iterator[PathForm]:
    """Yield the forms in which a page may write a path: from the root, or a folder above it.

    A folder whose name has several words may be written without those above it.
    """
    parts = path.split("/")
    if is_folder and len(name_words(parts[-1])) > 1 and not parts[-1].startswith("."):
        yield PathForm(FilePath(path), parts[-1], "")
        yield PathForm(FilePath(path), f"{parts[-1]}/", "")
    for start in range(len(parts) - 1):
        if not (start and parts[start].startswith(".")):
            yield PathForm(FilePath(path), "/".join(parts[start:]), "/".join(parts[:start]))


def with_emptied_folders(
    deleted: Collection[FilePath], files: Collection[FilePath]
) -> Iterator[FilePath]:
    """Yield the deleted files, and the folders that no file is in any more."""
    folders: set[str] = set()
    for path in deleted:
        yield path
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    if folders:
        existing: set[str] = set()
        for file in files:
            folder = file.rpartition("/")[0]
            while folder and folder not in existing:
                existing.add(folder)
                folder = folder.rpartition("/")[0]
        yield from map(FilePath, sorted(folders - existing))

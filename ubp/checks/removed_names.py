"""Names that pages mention in code and that a change removes from the sources for good.

What is asked of the snapshots around the change is behind `Names`: the rule asks the index, and the
benchmark a table that it moves from commit to commit.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property, lru_cache
from typing import NamedTuple, Protocol

from ubp.bindings.path_words import is_test, records_past
from ubp.bindings.sources import is_source_path
from ubp.checks.outdated import Evidence
from ubp.code.definitions import is_cmake, language_of
from ubp.code.dependencies import (
    find_dependencies,
    find_package_name,
    find_required_names,
    is_dependency_manifest,
)
from ubp.code.removed import ChangedSource, Removed, SourceChange
from ubp.core.model import FilePath, ObjectId
from ubp.core.names import (
    constant_fragments,
    fold_name,
    fragments,
    is_camel_case,
    is_type_name,
    may_be_same,
    name_key,
    name_words,
)
from ubp.markdown.code_names import CodeName, CodeNames, documents, read_code_names
from ubp.markdown.owners import find_link_target, is_of_others

# A name that is only a key may be an argument for another package. Of pages that have one other key
# of its source 5 of 8 were right.
MIN_COMPANIONS_OF_KEY = 3
# Names of its source, gone or not, that a page has beside a removed one, and beside a key.
MIN_SIBLINGS = 2
MIN_SIBLINGS_OF_KEY = 5
# Names that a page has beside one that a source only used, and that the source loses with it.
MIN_GONE_TOGETHER = 3
MAX_MANIFESTS = 200  # of a larger repository those nearest to the root
# Two projects rarely define the same name if it has this many words.
MIN_DISTINCTIVE_WORDS = 4
# The bytes on each side of a name that an edited line must share with an old one.
CONTEXT_BYTES = 20
# In these a capital letter makes a name public, and options and keys are made from fields.
PUBLIC_UPPER = frozenset({"go", "rust", "braces"})

PROSE_SUFFIXES = (
    *("md", "mdx", "markdown", "rst", "rest", "txt", "adoc", "asciidoc", "tex", "po", "pot", "org"),
    *("ipynb", "svg", "csv", "tsv", "snap", "map", "log", "diff", "patch", "ambr", "stderr"),
    *("stdout", "golden", "out", "xml", "pdf", "htm", "html"),
)
_PROSE = rf"(?i)\.(?:{'|'.join(PROSE_SUFFIXES)})$"
_NO_SOURCE_FOLDER = (
    r"(?i)(?:^|/)(?:\.github|\.gitlab|\.circleci|\.azure-pipelines|\.buildkite|\.ci|ci|node_modules"
    r"|vendor|godeps|third_party|[\w-]+[-_]tests|test[-_]?data|test[-_]?fixtures|fixtures?"
    r"|__fixtures__|__snapshots__|snapshots|e2e|dist)/"
)
# Notes of changes for the next release: they name what a change removes, and come and go.
_NOTES = (
    r"(?i)(?:^|/)(?:changelogs?|changelog\.d|\.changes|\.changesets?[\w-]*|newsfragments"
    r"|release[-_]?notes?)/"
)
_NO_SOURCE = (
    r"(?i)(?:\.travis|\.gitlab-ci|azure-pipelines|appveyor|\.appveyor|\.pre-commit-config|\.drone)"
    r"\.ya?ml$"
    r"|(?:tox\.ini|noxfile\.py|jenkinsfile|codecov\.yml|\.codecov\.yml)$"
    r"|(?:change(?:s|log)?|history|news|releases?|release[-_]notes)(?:\.(?:ya?ml|json|toml|xml))?$"
    r"|(?:licen[cs]e|copying|notice|authors|contributors|codeowners|\.\w*ignore)(?:[.-][\w-]+)?$"
    r"|.*(?:[.-]min\.(?:js|css)|\.lock)$"
    # findings that a linter is to ignore: `phpstan-baseline.neon`, `.secrets.baseline`
    r"|(?:.*baseline\.neon|phpstan-baseline.*\.(?:php|neon)|.*\.baseline|\.rubocop_todo\.yml)$"
)
# What is for tests of others, where it is not in a folder of tests: `lib/app/test_helpers.rb`.
_FOR_TESTS = r"(?i)test[-_]?(?:helpers?|utils?|cases?)\.\w+$"
_NO_API = (
    r"(?i)(?:^|/)(?:docs?|docs_src|website|site|(?:[\w-]+[-_])?(?:example|sample|demo)s?(?:[-_]?apps?)?"
    r"|playgrounds?|buildsrc|build-?logic|[\w-]*test[-_]?suite"
    r"|features/(?:steps|step_definitions|support)|\.\w[^/]*)/"
    # below `src/` they are parts of the program: `src/main/java/com/app/tools/`
    r"|^(?:(?!src/)[^/]+/)*(?:benchmarks?|scripts?|tools?)/"
    r"|(?:^|/)(?:setup\.py|conftest\.py|gulpfile|gruntfile|tsconfig)"
    r"|^(?:(?!src/)[^/]+/)*[\w-]+\.config\.\w+"  # of a tool, and no module of the sources
)
# What they use and do not define may be what the sources had.
_EXAMPLES = r"(?i)(?:^|/)(?:docs?|docs_src|website|site|examples?|samples?|demos?|playgrounds?)/"
# What will be, and what is somewhere else; `revdep/` has what checks of other packages of R print.
_OTHER_PAGES = (
    r"(?i)(?:.*/)?(?:roadmap|todo|compatib|comparison|(?:[\w.-]+[-_])?"
    r"(?:plan|brief|retro|handoff|work[-_]queue|review[-_]notes))"
    r"[^/]*\.\w+$"
    r"|(?:.*/)?(?:plans|briefs|dispatches|designs?|proposals|rfcs?|enhancements|keps|revdep)/"
)
# For people and agents who work on the repository: these pages name the tools that it requires.
_ABOUT_WORK = (
    r"(?:.*/)?(?:(?:AGENTS|CLAUDE|GEMINI)\.md$|(?i:(?:[\w-]+\.)?contributing|development|building|hacking|releasing|maintain(?:ing|ers))[^/]*$"
    r"|(?i:contribut(?:e|ing|ors?))/"
    r"|copilot-instructions\.md$|\.(?:cursor|claude|github/instructions)/)"
)
# A folder of parts of a repository, each of which has its name in other pages, too.
_OF_PARTS = r"(?:^|/)(?:packages|crates|plugins|extensions|modules|libs)/[^/]+$"
# Documentation of a version: what changes now is of another one. `docs/v2/`, `docs/reader-1.x/`
_VERSIONED = (
    r"(?i)(?:.*/)?(?:docs?|documentation|website|site|content|versioned_docs)/(?:[^/]+/)*"
    r"(?:v\d+(?:[._](?:\d+|x))*|(?:[a-z]\w*-)?\d+\.(?:\d+|x)(?:\.\w+)*)/"
)
# What was, in any part of a path: `notes-2026-01-02.md` are of a meeting.
_RECORD = (
    r"(?i)(?<!\d)(?:19|20)\d\d-\d\d-\d\d(?!\d)"
    r"|change[-_ ]?logs?|release[-_ ]?notes?|relnotes|migrat(?:ion|ing|e)|upgrad(?:e|ing)"
    r"|(?:^|/)(?:docs?[-_])?(?:old|archived?|attic)(?:[-_]docs?)?/"
    r"|(?:^|[/._-])changes(?:[/._-]|$)|(?:^|/)\.changesets?[\w-]*/"
)


class RemovedMention(NamedTuple):
    """A page's first mention of a name (or path) that a change removes.

    `removed` and `evidence` are None for a path; `name` is then the path from the root.
    """

    page: FilePath
    mention: CodeName
    name: str
    removed: Removed | None
    evidence: Evidence | None = None


# What follows are packages.
_INSTALL = (
    r"\b(?:(?:npm|pnpm|yarn|bun|deno|uv|poetry|cargo)\s+(?:install|i|add)|pip3?\s+install"
    r"|gem\s+install|bundle\s+add|go\s+(?:get|install)|composer\s+require|conda\s+install)\s"
)
_PACKAGE_END = r"[\s\"'`]+|(?<=\w)@[\w.^~]+"  # `left-pad@1.3`
_DOMAIN = r"\.\w+/"  # a copy of `k8s.io/api` is in `k8s/api/`
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
    text: tuple[str, ...]


def read_page_code(data: bytes) -> PageCode:
    """Return the names in a page's code, and its lines."""
    names = read_code_names(data)
    by_key: dict[int, list[CodeName]] = {}
    for name in names.names:
        by_key.setdefault(name.key, []).append(name)
    text = data.decode("utf-8", "replace")
    return PageCode(names, by_key, tuple(data.split(b"\n")), tuple(text.split("\n")))


class Names(Protocol):
    """What is known about the names in the snapshot that a change leads to."""

    def pages_with(self, keys: Collection[int]) -> Mapping[int, Collection[FilePath]]:
        """Return the pages whose code has a name or path of each of these keys."""

    def pages_spelling(self, spellings: Collection[str]) -> Mapping[str, Collection[FilePath]]:
        """Return the pages whose code has each of these words and options (without dashes)."""

    def occurring(self, keys: Collection[int]) -> AbstractSet[int]:
        """Return those of these keys that the sources have."""

    def is_spelled(self, spelling: str) -> bool:
        """Return whether a source has a word or option (without dashes) in this very spelling.

        Also where a source that has another spelling may make the option from it.
        """

    def is_written(self, name: str) -> bool:
        """Return whether a source has a name of several words exactly so."""

    def building(self, keys: Collection[int]) -> AbstractSet[int]:
        """Return those of these keys of fragments from which sources may build removed names."""

    def code(self, page: FilePath) -> PageCode | None:
        """Return the names in a page's code, and its lines; None: it cannot be read."""

    def read_before(self, page: FilePath) -> bytes | None:
        """Return the contents of a page that the change edits or moves, as they were before it."""

    def is_edited(self, page: FilePath) -> bool:
        """Return whether the change edits or adds a page."""

    def find_addition(self, page: FilePath, text: str) -> "NewMention | None":
        """Return the commit that added a text to a page; None: unknown."""

    def files(self) -> Collection[FilePath]:
        """Return all files."""

    def read_files(self, paths: Collection[FilePath]) -> Mapping[FilePath, bytes]:
        """Return the contents of those of these files that can be read."""


class NewMention(NamedTuple):
    """The commit that added a mention to a page, and the files that it changed.

    `is_name_new`: whether the sources had the name then, and not a month before. `is_young`: a
    month before, the repository had no commit.
    """

    commit: ObjectId
    changed: Collection[FilePath]
    is_name_new: Callable[[], bool]
    is_young: bool = False


class Owners:
    """Whose the names are: this repository's, or another package's, program's or standard's.

    What it knows of the repository is read once, where a page mentions a removed name.
    """

    def __init__(self, names: Names) -> None:
        self.names = names

    def may_spell(self, spelling: str) -> bool:
        """Return whether a source has a name in this very spelling, or may make it.

        Of its parts, or of the name of a file, which may be a component.
        """
        if is_camel_case(spelling):
            parts = set(map(name_key, fragments(spelling)))
            if spelling in self._source_parts or self.names.building(parts):
                return True
        return self.names.is_spelled(spelling)

    def is_module(self, name: str, removed: Removed) -> bool:
        """Return whether a source that did not define a removed name has it as its own."""
        if name not in self._source_parts or len(name_words(name)) == 1:
            return False
        return any(
            _stem(file) == name and file not in removed.definers and is_source(file)
            for file in self.names.files()
        )

    def has_own_prefix(self, name: str) -> bool:
        """Return whether a name begins with that of a package of this repository.

        A word is enough for a constant; `core_size` may be of any package `core`.
        """
        words = name_words(name)
        least = 1 if name.isupper() else 2
        return any("".join(words[:end]) in self._packages for end in range(least, len(words)))

    def is_foreign(self, name: CodeName, code: PageCode, change: SourceChange) -> bool:
        """Return whether a page gives a name to another project: its sentence, or as a package."""
        is_said = name.place == "inline" and is_of_others(
            code.text, name.line, name.text, self._is_ours
        )
        return is_said or self._is_foreign_package(name, code, change)

    def _is_foreign_package(self, name: CodeName, code: PageCode, change: SourceChange) -> bool:
        """Return whether the page imports or installs a package of this name that is not ours."""
        is_used = name.text in code.names.imported.values() or any(
            name.text in re.split(_PACKAGE_END, line[command.end() :])
            for line in code.text
            if name.text in line
            for command in re.finditer(_INSTALL, line)
        )
        is_ours = fold_name(name.text) in self._packages or name.text in _own_before(change)
        return is_used and not is_ours

    def is_imported(self, name: CodeName, code: CodeNames) -> bool:
        """Return whether a page imports a name, or what it is in, from somebody else's package.

        What is imported from beside the example (`./app.module`) is of the reader's own program.
        """
        imported = code.imported
        module = imported.get(fold_name(name.text)) or imported.get(fold_name(name.qualifier))
        if not module or module in self._own_names:
            return False
        if re.match(r"\./|\.\w", module):
            return True
        root = re.split(r"[./]", module.lstrip("./@"))[0]
        if "/" in module and self.names.occurring([name_key(fold_name(root))]):
            return False  # an npm package, which may have a folder of another name
        return root not in self._parts

    def is_foreign_program(self, name: CodeName) -> bool:
        """Return whether the program that gets an option is none of this repository's."""
        if name.command in self._parts or fold_name(name.command) in self._packages:
            return False
        key = name_key(fold_name(name.command))
        return name.is_known_program or not self.names.occurring([key])

    def is_foreign_qualifier(self, qualifier: str, change: SourceChange) -> bool:
        """Return whether no source has, or had, what a name is said to be in: `Other.name`."""
        key = name_key(fold_name(qualifier))
        return (
            is_type_name(qualifier)
            and not self._is_ours(qualifier)
            and key not in change.occurred
            and not self.names.occurring([key])
        )

    def is_crate_of_others(self, qualifier: str) -> bool:
        """Return whether a name of Rust is said to be in a crate from elsewhere: `crate::name`."""
        folded = fold_name(qualifier)
        return folded in self._folded_foreign and folded not in self._packages

    def was_required(self, removed: Removed, change: SourceChange) -> bool:
        """Return whether a removed name is that of a package from elsewhere that was required."""
        names = {removed.name, *removed.others}
        return bool(names & _required_before(change) - _own_before(change))

    def moved_away(self, removed: Removed, change: SourceChange) -> bool:
        """Return whether a manifest shows that a package elsewhere has a removed name now.

        Others still require the package that the change deletes, or the change requires new ones in
        its place, or one that has the name of the deleted source, or of which that was a copy, or
        one has the words of the name in its own.
        """
        words = name_words(removed.name)
        part = f"-{'-'.join(words)}-"
        if len(words) > 1 and any(part in f"-{'-'.join(name_words(n))}-" for n in self._foreign):
            return True
        source = change.sources[removed.path]
        if source.after is not None:
            return False
        deleted = {
            path.rpartition("/")[0]: find_package_name(manifest.before or b"")
            for path, manifest in change.sources.items()
            if manifest.after is None and is_dependency_manifest(path)
        }
        newly_required = _newly_required(change) - self._own_names
        is_replaced = newly_required and not any(
            manifest.before is None for _, manifest in _changed_manifests(change)
        )
        if any(
            (name in self._required or is_replaced) and removed.path.startswith(f"{folder}/")
            for folder, name in deleted.items()
            if folder
        ):
            return True
        file = removed.path.rpartition("/")[2]
        stems = {fold_name(_stem(file)), fold_name(file.replace(".", ""))}
        return any(
            not stems.isdisjoint(map(fold_name, re.split(r"[-_./]", name)))
            or (
                re.search(_DOMAIN, name) and f"/{re.sub(_DOMAIN, '/', name)}/" in f"/{removed.path}"
            )
            for name in newly_required
        )

    def _is_ours(self, word: str) -> bool:
        folded = fold_name(word)
        return folded in self._folded_parts or folded in self._packages

    @cached_property
    def _parts(self) -> frozenset[str]:
        """The names of folders and files, with and without their endings."""
        return frozenset(
            part for file in self.names.files() for part in (*file.split("/"), _stem(file))
        )

    @cached_property
    def _source_parts(self) -> frozenset[str]:
        """The names of sources that define names for others, and of their folders."""
        sources = (file for file in self.names.files() if is_source(file) and defines_names(file))
        return frozenset(part for file in sources for part in (*file.split("/"), _stem(file)))

    @cached_property
    def _folded_parts(self) -> frozenset[str]:
        sources = (file for file in self.names.files() if is_source(file))
        return frozenset(
            fold_name(part) for file in sources for part in (*file.split("/"), _stem(file))
        )

    @cached_property
    def _manifests(self) -> Mapping[FilePath, bytes]:
        paths = [path for path in self.names.files() if is_dependency_manifest(path)]
        return self.names.read_files(
            sorted(paths, key=lambda path: path.count("/"))[:MAX_MANIFESTS]
        )

    @cached_property
    def _own_names(self) -> frozenset[str]:
        found = map(find_package_name, self._manifests.values())
        return frozenset(filter(None, found))

    @cached_property
    def _packages(self) -> frozenset[str]:
        """The names of this repository's packages, folded: `@scope/name` and its parts."""
        return frozenset(
            fold_name(part)
            for name in self._own_names
            for part in (name, *re.split(r"[/@.]", name))
        )

    @cached_property
    def _required(self) -> frozenset[str]:
        return frozenset().union(
            *(find_required_names(path, data) for path, data in self._manifests.items())
        )

    @cached_property
    def _foreign(self) -> frozenset[str]:
        """The names of other packages that are required."""
        return self._required - self._own_names

    @cached_property
    def _folded_foreign(self) -> frozenset[str]:
        return frozenset(map(fold_name, self._foreign))


def _changed_manifests(change: SourceChange) -> Iterator[tuple[str, ChangedSource]]:
    for path, source in change.sources.items():
        if is_dependency_manifest(path):
            yield path, source


def _own_before(change: SourceChange) -> frozenset[str]:
    """Return the names of the packages whose manifests a change touches."""
    found = (find_package_name(source.before or b"") for _, source in _changed_manifests(change))
    return frozenset(filter(None, found))


def _required_before(change: SourceChange) -> frozenset[str]:
    return frozenset[str]().union(
        *(find_required_names(path, m.before or b"") for path, m in _changed_manifests(change))
    )


def _newly_required(change: SourceChange) -> frozenset[str]:
    """Return the packages that a change newly requires."""
    after = (find_required_names(path, m.after or b"") for path, m in _changed_manifests(change))
    return frozenset[str]().union(*after) - _required_before(change)


def is_source(path: str) -> bool:
    """Return whether a name in this file exists.

    In prose, tests, lock files, baselines of linters, changelogs, CI files and generated files it
    does not.
    """
    folder, slash, name = path.rpartition("/")
    return (
        _can_have_sources(folder + slash)
        and is_source_path(name)
        and (not re.search(_PROSE, name) or is_cmake(name))
        and not re.match(_NO_SOURCE, name)
        and not is_test(folder + slash if re.match(_FOR_TESTS, name) else path)
    )


@lru_cache(maxsize=10_000)
def _can_have_sources(folder: str) -> bool:
    return not (
        re.search(_NO_SOURCE_FOLDER, folder)
        or re.search(_NOTES, folder)
        or is_test(folder)
        or folder.startswith(".ubp/")
    )


def defines_names(path: str) -> bool:
    """Return whether what a source defines is for others: an example or script is not."""
    return not re.search(_NO_API, path)


def is_example(path: str) -> bool:
    """Return whether a source only keeps the names alive that it defines, not those that it uses.

    An example that still uses a name that no source defines was left behind, as pages are. So was a
    configuration: it sets keys that others define.
    """
    return re.search(_EXAMPLES, path) is not None


def describes_present(path: str) -> bool:
    """Return whether a page describes the sources as they are.

    Records of the past, plans, comparisons and tests do not.
    """
    return not (
        records_past(path)
        or re.match(_OTHER_PAGES, path)
        or re.match(_VERSIONED, path)
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
    if is_dependency_manifest(removed_from):  # what it required and does not any more
        return None
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
    keys: Collection[int], spellings: Collection[str], change: SourceChange, names: Names
) -> Iterator[RemovedMention]:
    """Yield the first mention in each page of each name that sources defined and do not contain.

    `keys` are of the names, and `spellings` the words and options (without dashes) that the changed
    sources do not contain any more. Of the latter the very spelling counts where sources have
    another one: a field `ReadTimeout` is not an option `--read-timeout`.
    """
    owners = Owners(names)
    pages = {key: found for key, found in names.pages_with(keys).items() if found}
    missing = sorted(pages.keys() - names.occurring(pages)) if pages else []
    for key in missing:
        removed = change.find_definition(key) or change.find_use(key)
        if removed and not occurs(removed.name, key, names):
            yield from _find_mentions(pages[key], key, removed, owners, change)
    spelled = {text: found for text, found in names.pages_spelling(spellings).items() if found}
    with_option = names.pages_with({name_key(f"--{text}") for text in spelled})
    for spelling, holders in sorted(spelled.items()):
        key = name_key(fold_name(spelling))
        if key in missing or not names.occurring({key}):
            # found above, unless it is an option of one word, which has a key of its own
            key = name_key(f"--{spelling}")
            if key in missing or not with_option.get(key):
                continue
        removed = change.find_spelling(spelling)
        if removed and not owners.may_spell(spelling):
            yield from _find_mentions(holders, key, removed, owners, change)


def _find_mentions(
    pages: Collection[FilePath], key: int, removed: Removed, owners: Owners, change: SourceChange
) -> Iterator[RemovedMention]:
    """Yield the mentions in these pages, if one of them surely means the removed name."""
    if owners.was_required(removed, change):
        for page in sorted(pages):
            name = find_name(page, key, removed, owners, change)
            if name and re.match(_ABOUT_WORK, page):
                yield RemovedMention(page, name, removed.name, removed, Evidence())
        return
    if owners.moved_away(removed, change):
        return
    mentions = {
        page: name
        for page in sorted(pages)
        if (name := find_name(page, key, removed, owners, change))
    }
    evidence = {
        page: found
        for page, name in mentions.items()
        if (found := find_evidence(page, name, removed, owners, change))
    }
    for page, name in mentions.items():
        found = evidence.get(page)
        if evidence and not removed.is_key and name.place == "inline":
            found = found or Evidence(page=next(iter(evidence)))
        if found:
            yield RemovedMention(page, name, removed.name, removed, found)


def find_removed_paths(deleted: Collection[FilePath], names: Names) -> Iterator[RemovedMention]:
    """Yield the first mention in each page of each file, or folder, that no longer exists."""
    if not deleted:
        return
    forms: dict[int, list[PathForm]] = {}
    is_file = frozenset(deleted)
    lasting = [path for path in deleted if not re.search(_NOTES, path)]
    for path in with_emptied_folders(lasting, folders_of(names.files())):
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
    if names.occurring({key}):
        return True
    if not name.isupper():
        return bool(names.building(set(map(name_key, fragments(name)))))
    # An environment variable is often made of a prefix and the name of a setting.
    parts = [(name_key(part), name_key(rest)) for part, rest in constant_fragments(name)]
    occurring = names.occurring({key for pair in parts for key in pair})
    return any(occurring >= set(pair) for pair in parts)


def find_mention(
    page: FilePath, key: int, removed: Removed, owners: Owners, change: SourceChange
) -> RemovedMention | None:
    """Return the first mention in a page of a removed name, if it surely means that one."""
    name = find_name(page, key, removed, owners, change)
    if name is None:
        return None
    if owners.was_required(removed, change):
        evidence = Evidence() if re.match(_ABOUT_WORK, page) else None
    elif owners.moved_away(removed, change):
        evidence = None
    else:
        evidence = find_evidence(page, name, removed, owners, change)
    return RemovedMention(page, name, removed.name, removed, evidence) if evidence else None


def find_evidence(
    page: FilePath, mention: CodeName, removed: Removed, owners: Owners, change: SourceChange
) -> Evidence | None:
    """Return why a mention means this repository's name; None: it may be somebody else's.

    Measured: see docs/measurements.md, "Removed names".
    """
    if companion := _find_companion(owners.names.code(page), mention, removed):
        return companion
    own_source = _find_own_source(page, removed, change)
    own_source = own_source or _find_as_qualified(mention, removed, change)
    if own_source or _is_surely_ours(page, mention, removed, owners, change):
        return Evidence(source=own_source)
    # In a block without a language a name may be the example's own: `page = read_page()`.
    is_clear = mention.place != "block" or mention.is_program
    may_be_tested = is_clear and _is_compound(removed) and not removed.is_only_used
    if may_be_tested and (test := change.find_test(removed.name)):
        return Evidence(test=FilePath(test))
    addition = owners.names.find_addition(page, mention.text)
    if addition is None or (removed.is_only_used and addition.is_young):
        return None
    together = None if removed.is_key else _first_of(removed.definers, addition.changed)
    if together or addition.is_name_new():
        return Evidence(commit=addition.commit, source=together)
    return None


def _find_companion(code: PageCode | None, mention: CodeName, removed: Removed) -> Evidence | None:
    """Return a name of the same source that a page has beside a removed one, if it has enough."""
    if removed.is_only_used:
        least = 1, MIN_GONE_TOGETHER
    elif removed.is_key:
        least = MIN_COMPANIONS_OF_KEY, MIN_SIBLINGS_OF_KEY
    else:
        least = 1, MIN_SIBLINGS
    others = {
        name.key: name
        for name in (code.names.names if code else ())
        if name.place == "inline" or not removed.is_only_used
    }
    others.pop(mention.key, None)
    for known, number in zip((removed.companions, removed.siblings), least, strict=True):
        found = [name for key, name in others.items() if key in known]
        if len(found) >= number:
            return Evidence(found[0].text, source=FilePath(known[found[0].key]))
    return None


def _is_compound(removed: Removed) -> bool:
    return sum(word.isalpha() for word in name_words(removed.name)) > 1


def _find_own_source(page: FilePath, removed: Removed, change: SourceChange) -> FilePath | None:
    """Return a source that is named after a removed name, or is in the folder of the page.

    For a key, the source must be in the very folder; for a name that sources only used, it must be
    a deleted file of that name.
    """
    folder, name = page.rpartition("/")[0], fold_name(removed.name)
    is_compound = _is_compound(removed)

    def has_name(path: str) -> bool:
        return is_compound and fold_name(_stem(path)) == name

    if removed.is_only_used:
        deleted = (path for path, source in change.sources.items() if source.after is None)
        own = [path for path in deleted if has_name(path)]
    elif removed.is_key:
        own = [path for path in removed.definers if path.rpartition("/")[0] == folder != ""]
        own = own if is_compound else []
    else:
        below = f"{folder}/"
        own = [path for path in removed.definers if has_name(path) or path.startswith(below)]
    return FilePath(own[0]) if own else None


def _find_as_qualified(
    mention: CodeName, removed: Removed, change: SourceChange
) -> FilePath | None:
    """Return a source that had a removed name with the qualifier that the page gives it.

    A key it must have in quotes: `"server.readTimeout"`.
    """
    if not mention.qualifier:
        return None
    written = rb"\b" + re.escape(f"{mention.qualifier}.{mention.text}".encode()) + rb"\b"
    quoted = rb"[\"'`](?:[\w-]+\.)*" + written + rb"[\"'`]"
    pattern = re.compile(quoted if removed.is_key else written)
    had = (path for path, source in change.sources.items() if pattern.search(source.before or b""))
    return next(map(FilePath, had), None)


def _is_surely_ours(
    page: FilePath, mention: CodeName, removed: Removed, owners: Owners, change: SourceChange
) -> bool:
    """Return whether a name itself, its page or its sources show that it is this repository's."""
    may_be_replaced = not removed.is_key or removed.is_only_used
    if may_be_replaced and change.find_replacement(removed) is not None:
        return True
    words = [word for word in name_words(removed.name) if word.isalpha()]
    is_distinctive = len(words) >= MIN_DISTINCTIVE_WORDS
    is_about_work = re.match(_ABOUT_WORK, page) is not None
    return (
        (not removed.is_key and (is_distinctive or is_about_work))
        or (mention.is_option and removed.is_flag)
        or owners.has_own_prefix(removed.name)
        or _is_documented(mention, removed, owners.names.code(page))
        or _is_object(removed, change)
    )


def _is_documented(mention: CodeName, removed: Removed, code: PageCode | None) -> bool:
    """Return whether a page documents a defined name of several words.

    In a list or table it must be the very name, and none of a configuration, as others' keys are.
    """
    if code is None or removed.is_only_used or mention.place != "inline":
        return False
    if not _is_compound(removed):
        return False
    line = code.text[mention.line - 1]
    is_exact = mention.text in {removed.name, *removed.others}
    return line.startswith("#") or (
        is_exact and removed.language != "data" and documents(line, mention.text)
    )


def _is_object(removed: Removed, change: SourceChange) -> bool:
    """Return whether a removed name is that of an object in a manifest for Kubernetes."""
    before = change.sources[removed.path].before or b""
    named = (
        rb"(?m)^[ \t]*(?:- )?name(?:space)?:[ \t]*[\"']?"
        + re.escape(removed.name.encode())
        + rb"[\"']?\s*$"
    )
    return (
        removed.language == "data"
        and len(name_words(removed.name)) > 1
        and re.search(rb"(?m)^(?:kind|resources):", before) is not None
        and re.search(named, before) is not None
    )


def _first_of(paths: Collection[str], among: Collection[FilePath]) -> FilePath | None:
    return next((FilePath(path) for path in sorted(paths) if path in among), None)


def find_name(
    page: FilePath, key: int, removed: Removed, owners: Owners, change: SourceChange
) -> CodeName | None:
    """Return the first mention in a page that may mean a removed name."""
    names = owners.names
    is_public_upper = removed.language in PUBLIC_UPPER
    code = names.code(page)

    def is_same(name: CodeName) -> bool:
        return any(
            name.spelling == spelling.lstrip("-")
            if name.is_word or removed.is_spelling
            else may_be_same(name.text, spelling, is_public_upper=is_public_upper)
            for spelling in (removed.name, *removed.others)
        )

    def matches(name: CodeName) -> bool:
        return (
            not name.is_path
            and (
                removed.is_option
                if name.is_option
                else (name.place != "block" or not removed.is_key)
            )
            and is_same(name)
            and not (name.command and owners.is_foreign_program(name))
            and not (name.qualifier and owners.is_foreign_qualifier(name.qualifier, change))
            and not (removed.language == "rust" and owners.is_crate_of_others(name.qualifier))
            and not (name.qualifier and _is_of_another_type(name.qualifier, removed, change))
        )

    mentions = code.by_key.get(key, ()) if code else ()
    is_tool = re.match(_ABOUT_WORK, page) and owners.was_required(removed, change)
    if (
        code
        and not is_tool
        and any(owners.is_foreign(name, code, change) for name in mentions if is_same(name))
    ):
        return None
    mention = _first(page, key, matches, names)
    if code is None or mention is None or owners.is_imported(mention, code.names):
        return None
    if owners.is_module(mention.text, removed):
        return None
    return mention if removed.is_spelling or not occurs(mention.text, key, names) else None


def _is_of_another_type(qualifier: str, removed: Removed, change: SourceChange) -> bool:
    """Return whether a page says that a name is in a type that no source which defined it has."""
    word = re.compile(rb"\b%b\b" % re.escape(qualifier.encode()))
    contents = [change.sources[path].before or b"" for path in removed.definers]
    return is_type_name(qualifier) and bool(contents) and not any(map(word.search, contents))


def find_path(page: FilePath, form: PathForm, names: Names) -> CodeName | None:
    """Return the first mention in a page of a path that no longer exists.

    A page gives a path from the root, or from its own folder.
    """
    if form.folder not in {"", page.rpartition("/")[0]} or re.match(_BUILT, form.text):
        return None
    is_bare = "/" not in form.text
    if (is_bare or form.text.startswith(".")) and not _may_name_folder(page, form):
        return None
    if any(f"/{form.text.rstrip('/')}/" in f"/{file}/" for file in names.files()):
        return None
    # `read-all` is the folder, and `readAll` something else
    if is_bare and names.occurring({form.key}) and names.is_written(form.text.rstrip("/")):
        return None
    code = names.code(page)

    def matches(name: CodeName) -> bool:
        if name.text != form.text or name.is_output:
            return False
        if name.place == "inline" and code is not None and _is_link_text(name, code):
            return False
        return not is_bare or (
            code is not None and f"`{name.text}`".encode() in code.lines[name.line - 1]
        )

    return _first(page, form.key, matches, names)


def _may_name_folder(page: FilePath, form: PathForm) -> bool:
    """Return whether a page may mean a folder by its bare name, or a hidden file by its path.

    Elsewhere `reader-cli` is the program that was made in `cmd/reader-cli`, and `.tool/config.json`
    a file of those who read the page.
    """
    folder = page.rpartition("/")[0]
    is_above = not folder or form.path.startswith(f"{folder}/")
    is_hidden = form.text.startswith(".")
    is_part = is_above or re.search(_OF_PARTS, form.path) is not None
    return re.match(_ABOUT_WORK, page) is not None or (is_part and not is_hidden)


def _first(
    page: FilePath, key: int, matches: Callable[[CodeName], bool], names: Names
) -> CodeName | None:
    """Return the first mention with a key in lines of a page that the change did not write.

    It may have written other words of these lines.
    """
    code = names.code(page)
    if code is None:
        return None
    found = [name for name in code.by_key.get(key, ()) if matches(name)]
    if found and names.is_edited(page):
        old_lines = _line_set(names.read_before(page) or b"")
        found = [name for name in found if _is_old(code.lines[name.line - 1], name, old_lines)]
    return found[0] if found else None


def _is_old(line: bytes, name: CodeName, old_lines: frozenset[bytes]) -> bool:
    """Return whether a name, with the words around it, was in a line before."""
    if line in old_lines:
        return True
    text = name.text.encode()
    start = line.find(text)
    around = line[max(0, start - CONTEXT_BYTES) : start + len(text) + CONTEXT_BYTES]
    return start >= 0 and any(around in old for old in old_lines)


@lru_cache(maxsize=4)
def _line_set(data: bytes) -> frozenset[bytes]:
    return frozenset(data.split(b"\n"))


def _is_link_text(name: CodeName, code: PageCode) -> bool:
    """Return whether a path is the text of a link, whose target is what counts."""
    position = code.text[name.line - 1].find(name.text)
    return position >= 0 and bool(find_link_target(code.text, name.line, position))


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
    deleted: Collection[FilePath], existing: AbstractSet[str]
) -> Iterator[FilePath]:
    """Yield the deleted files, and their folders that are not among the existing ones."""
    yield from deleted
    yield from map(FilePath, sorted(folders_of(deleted) - existing))


def folders_of(files: Iterable[FilePath]) -> set[str]:
    """Return the folders that files are in, at any depth."""
    folders: set[str] = set()
    for path in files:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return folders

"""Questions about specifications: collections with a language, each answer with its citation.

What a policy allows to show is decided here, for every tool: of a text under `excerpt_only` the
first 1,200 characters (`ubp.core.policy.excerpt`).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ubp.core.config import EXCERPT_ONLY
from ubp.core.errors import CollectionError, SectionNotFoundError
from ubp.core.model import FilePath, ObjectId
from ubp.core.policy import EXCERPT_CHARACTERS, excerpt
from ubp.index.collections import collections_dir, resolve_version
from ubp.index.specifications import (
    Specification,
    SpecificationVersion,
    check_version,
    find_specifications,
    page_address,
    specification_versions,
    specifications_of,
    version_name,
)
from ubp.markdown.outline import HeadingSpan
from ubp.search.compare import SectionChange, SectionPlace, compare_versions
from ubp.search.run import open_search
from ubp.search.specifications import (
    SectionSnippet,
    find_spec_sections,
    minutes,
    plan_learning,
    read_spec_section,
)
from ubp.workspace import Workspace


class Citation(NamedTuple):
    """Where a text is from; `section_id` is what `SpecificationReader.section` takes.

    `url` is the address of the section: of a mirror on its forge, at the commit.
    """

    language: str
    document: str
    version: str
    commit: ObjectId
    title: str
    section_path: tuple[str, ...]
    section_id: str
    filepath: FilePath
    url: str
    policy: str


class SpecificationHit(NamedTuple):
    """A section that was found; the larger the score, the better."""

    citation: Citation
    snippet: SectionSnippet
    score: float


class SpecificationSection(NamedTuple):
    """A section: its first characters, and all of it where its policy allows that."""

    citation: Citation
    excerpt: str
    is_truncated: bool
    text: str | None


class PlannedReading(NamedTuple):
    """A section of a plan."""

    citation: Citation
    minutes: int


class PlannedWeek(NamedTuple):
    """A week of a plan."""

    number: int
    topics: tuple[str, ...]
    minutes: int
    sections: tuple[PlannedReading, ...]


class SpecificationChange(NamedTuple):
    """A section that differs, with its citation in each version that has it."""

    change: SectionChange
    old: Citation | None
    new: Citation | None


class _Opened(NamedTuple):
    specification: Specification
    workspace: Workspace
    commit: ObjectId
    version: str
    has_one_page: bool

    def cite(self, filepath: FilePath, heading: HeadingSpan) -> Citation:
        return self._cite(filepath, heading.id, heading.path)

    def cite_place(self, place: SectionPlace) -> Citation:
        return self._cite(place.filepath, place.id, place.heading_path)

    def _cite(self, filepath: FilePath, heading_id: str, path: tuple[str, ...]) -> Citation:
        collection, repository = self.specification.collection, self.workspace.session.repository
        return Citation(
            self.specification.language,
            collection.name,
            self.version,
            self.commit,
            path[-1] if path else "",
            path,
            heading_id if self.has_one_page else f"{filepath}#{heading_id}",
            filepath,
            page_address(repository, collection, self.commit, filepath, heading_id),
            collection.policy,
        )


class SpecificationReader:
    """The specifications of a project; of this machine, where the project names none."""

    def __init__(self, workspace: Workspace) -> None:
        session = workspace.session
        self._workspace = workspace
        self._environment = session.environment
        self._folder = collections_dir(session.environment)
        self._all = find_specifications(
            self._folder, session.config.collections, session.environment
        )

    def languages(self) -> dict[str, tuple[str, ...]]:
        """Return the names of the documents of each language."""
        names: dict[str, list[str]] = {}
        for specification in self._all:
            names.setdefault(specification.language, []).append(specification.collection.name)
        return {language: tuple(names[language]) for language in sorted(names)}

    def versions(self, language: str) -> tuple[SpecificationVersion, ...]:
        """Return the versions of a language's documents, of each the newest first.

        Raises:
            CollectionError: there is no such language.
            RepositoryError: a document cannot be read.
        """
        return tuple(
            version
            for specification in specifications_of(language, self._all)
            for version in specification_versions(specification, self._folder, self._environment)
        )

    def search(  # noqa: PLR0913  # named, but for the first two
        self,
        language: str,
        query: str,
        *,
        version: str = "",
        document: str = "",
        section_path_prefix: str = "",
        limit: int,
    ) -> tuple[SpecificationHit, ...]:
        """Return the sections that answer a question best.

        `section_path_prefix` is the beginning of a section path: `Types > Slice`.

        Raises:
            CollectionError: there is no such language, document or version.
            UsageError: a filter in the query cannot be read.
            RepositoryError: a document cannot be read.
        """
        hits = []
        prefix = section_path_prefix.casefold()

        def is_wanted(heading: HeadingSpan) -> bool:
            return any(
                joined_path(heading.path[start:]).casefold().startswith(prefix)
                for start in range(min(2, len(heading.path)))
            )

        for specification in self._chosen(language, version, document):
            with self._open(specification, version) as opened:
                view, context = open_search(opened.workspace.session)
                found = find_spec_sections(view, query, limit, context, is_wanted=is_wanted)
                hits += [
                    SpecificationHit(
                        opened.cite(section.page.filepath, section.heading),
                        section.snippet,
                        section.score,
                    )
                    for section in found
                ]
        return tuple(sorted(hits, key=lambda hit: -hit.score)[:limit])

    def section(self, language: str, section_id: str, version: str = "") -> SpecificationSection:
        """Return a section by its id.

        Raises:
            CollectionError: there is no such language or version.
            SectionNotFoundError: no section has the id, or several have.
            RepositoryError: a document cannot be read.
        """
        missing: SectionNotFoundError | None = None
        for specification in self._chosen(language, version):
            with self._open(specification, version) as opened:
                try:
                    found = read_spec_section(opened.workspace.session.view(), section_id)
                except SectionNotFoundError as error:
                    missing = missing if missing and missing.near else error
                    continue
                policy = specification.collection.policy
                return SpecificationSection(
                    opened.cite(found.page.filepath, found.heading),
                    excerpt(found.text, EXCERPT_ONLY),
                    len(found.text) > EXCERPT_CHARACTERS,
                    None if policy == EXCERPT_ONLY else found.text,
                )
        assert missing is not None  # noqa: S101  # a language has a specification
        raise missing

    def plan(
        self, language: str, weeks: int, focus: Sequence[str] = (), version: str = ""
    ) -> tuple[PlannedWeek, ...]:
        """Divide the first document of a language among weeks, by topic.

        Raises:
            CollectionError: there is no such language or version.
            RepositoryError: the document cannot be read.
        """
        specification = self._chosen(language, version)[0]
        with self._open(specification, version) as opened:
            planned = plan_learning(opened.workspace.session.view(), weeks, focus)
            return tuple(
                PlannedWeek(
                    week.number,
                    week.topics,
                    week.minutes,
                    tuple(
                        PlannedReading(
                            opened.cite(section.page.filepath, section.heading),
                            minutes(section.characters),
                        )
                        for section in week.sections
                    ),
                )
                for week in planned
            )

    def compare(
        self, language: str, old: str, new: str, section_id: str = ""
    ) -> tuple[SpecificationChange, ...]:
        """Return the sections that differ between two versions, of each document that has both.

        Raises:
            CollectionError: there is no such language or version.
            SectionNotFoundError: no section of the two versions has the id, or several have.
            RepositoryError: a document cannot be read.
        """
        having = self._chosen(language, old)
        both = check_version(language, new, having, self._folder, self._environment)
        changes = []
        for specification in both:
            path, section = None, None
            if section_id:
                path, section = self._find_section(specification, (new, old), section_id)
            with self._open(specification, new) as opened:
                comparison = compare_versions(opened.workspace.session, old, new, path, section)
                before = opened._replace(commit=comparison.old, version=old)
                changes += [
                    SpecificationChange(
                        change,
                        before.cite_place(change.old) if change.old else None,
                        opened.cite_place(change.new) if change.new else None,
                    )
                    for change in comparison.changes
                ]
        return tuple(changes)

    def _find_section(
        self, specification: Specification, versions: Sequence[str], section_id: str
    ) -> tuple[FilePath, str]:
        """Return the page and the id of a section in the first of these versions that has it."""
        missing: SectionNotFoundError | None = None
        for version in versions:
            with self._open(specification, version) as opened:
                try:
                    found = read_spec_section(opened.workspace.session.view(), section_id)
                except SectionNotFoundError as error:
                    missing = missing or error
                    continue
                return found.page.filepath, found.heading.id
        assert missing is not None  # noqa: S101  # there are two versions
        raise missing

    def _chosen(
        self, language: str, version: str = "", document: str = ""
    ) -> tuple[Specification, ...]:
        found = specifications_of(language, self._all)
        if document:
            names = [specification.collection.name for specification in found]
            found = tuple(each for each in found if each.collection.name == document)
            if not found:
                raise CollectionError(
                    f"There is no document {document} of {language}.",
                    cause=f"There are: {', '.join(names)}.",
                )
        if version:
            found = check_version(language, version, found, self._folder, self._environment)
        return found

    @contextmanager
    def _open(self, specification: Specification, version: str) -> Iterator[_Opened]:
        collection = specification.collection
        with self._workspace.in_collection(collection.name, version) as workspace:
            repository = workspace.session.repository
            wanted = version or specification.at
            commit = resolve_version(repository, collection, wanted)
            name = version or version_name(repository, commit)
            has_one_page = workspace.session.view().count_documents() == 1
            yield _Opened(specification, workspace, commit, name, has_one_page)


def joined_path(path: Sequence[str]) -> str:
    """Return a section path as it is shown: `Types > Slice types`."""
    return " > ".join(path)

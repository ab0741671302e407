"""The specifications of a project, opened at a version, and what their sections are cited as."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from ubp.core.config import EXCERPT_ONLY
from ubp.core.errors import CollectionError, SectionNotFoundError
from ubp.core.model import FilePath, ObjectId
from ubp.index.addresses import page_address
from ubp.index.collections import collections_dir, resolve_version
from ubp.index.session import Session
from ubp.kits.specs.collections import (
    Specification,
    SpecificationVersion,
    check_version,
    find_specifications,
    specification_versions,
    specifications_of,
    version_name,
)
from ubp.kits.specs.fields import CitationRecord
from ubp.kits.specs.sections import ReadSection, read_spec_section
from ubp.markdown.outline import HeadingSpan
from ubp.search.compare import SectionPlace

T = TypeVar("T")


class Opened(NamedTuple):
    """A specification that is open at a version."""

    specification: Specification
    session: Session
    commit: ObjectId
    version: str
    has_one_page: bool

    def cite(self, filepath: FilePath, heading: HeadingSpan) -> CitationRecord:
        """Return where the section of a heading is."""
        return self._cite(filepath, heading.id, heading.path)

    def cite_place(self, place: SectionPlace) -> CitationRecord:
        """Return where a section that differs is."""
        return self._cite(place.filepath, place.id, place.heading_path)

    def _cite(self, filepath: FilePath, heading_id: str, path: tuple[str, ...]) -> CitationRecord:
        collection, repository = self.specification.collection, self.session.repository
        return CitationRecord(
            title=path[-1] if path else "",
            section_path=joined_path(path),
            section_id=self._section_id(filepath, heading_id),
            url=page_address(repository, collection, self.commit, filepath, heading_id),
            language=self.specification.language,
            doc=collection.name,
            version=self.version,
            commit=self.commit,
            source_policy="excerpt_only"
            if collection.policy == EXCERPT_ONLY
            else "local_fulltext_ok",
        )

    def _section_id(self, filepath: FilePath, heading_id: str) -> str:
        if not heading_id:  # the text before the first heading
            return filepath
        return heading_id if self.has_one_page else f"{filepath}#{heading_id}"


class SpecificationReader:
    """The specifications of a project; of this machine, where the project names none."""

    def __init__(self, session: Session) -> None:
        self._session = session
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

    def choose(
        self, language: str, version: str = "", document: str = ""
    ) -> tuple[Specification, ...]:
        """Return the specifications of a language that have a version; all, or one document.

        Raises:
            CollectionError: there is no such language, document or version.
        """
        found = specifications_of(language, self._all)
        if document:
            names = [specification.collection.name for specification in found]
            found = tuple(each for each in found if each.collection.name == document)
            if not found:
                raise CollectionError(
                    f"There is no document {document} of {language}.",
                    cause=f"There are: {', '.join(names)}.",
                )
        return self.having(language, version, found) if version else found

    def having(
        self, language: str, version: str, specifications: Sequence[Specification]
    ) -> tuple[Specification, ...]:
        """Return those that have a version.

        Raises:
            CollectionError: none has it.
        """
        return check_version(language, version, specifications, self._folder, self._environment)

    @contextmanager
    def open(self, specification: Specification, version: str = "") -> Iterator[Opened]:
        """Open a specification at a version; "": the pinned or newest one."""
        collection = specification.collection
        if version:
            with self._session.in_collection(collection.name, version) as session:
                yield self._opened(specification, session, version)
        else:  # it stays open: versions are many, specifications few
            session = self._session.kept_collection(collection.name)
            yield self._opened(specification, session, version)

    def _opened(self, specification: Specification, session: Session, version: str) -> Opened:
        repository, collection = session.repository, specification.collection
        commit = resolve_version(repository, collection, version or specification.at)
        name = version_name(repository, commit, version)
        has_one_page = session.view().count_documents() == 1
        return Opened(specification, session, commit, name, has_one_page)

    def find_section(
        self,
        places: Sequence[tuple[Specification, str]],
        section_id: str,
        use: Callable[[Opened, ReadSection], T],
    ) -> T:
        """Return what `use` makes of a section, of the first of these versions that has it.

        Raises:
            SectionNotFoundError: no section has the id, or several have.
            RepositoryError: a document cannot be read.
        """
        missing: SectionNotFoundError | None = None
        for specification, version in places:
            with self.open(specification, version) as opened:
                try:
                    found = read_spec_section(opened.session.view(), section_id)
                except SectionNotFoundError as error:
                    missing = missing if missing and missing.near else error
                    continue
                return use(opened, found)
        assert missing is not None  # noqa: S101  # there is a place
        raise missing


def joined_path(path: Sequence[str]) -> str:
    """Return a section path as it is shown: `Types > Slice types`."""
    return " > ".join(filter(None, path))

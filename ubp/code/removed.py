"""Which names a change removes from sources, and which took their places."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from ubp.code.definitions import (
    MAX_BYTES,
    SUFFIX,
    Language,
    find_definitions,
    find_keys,
    language_of,
    without_comment_lines,
)
from ubp.code.dependencies import is_dependency_manifest
from ubp.core.names import (
    fold_name,
    is_camel_case,
    is_constant,
    is_type_name,
    is_word_option,
    name_key,
    name_words,
)

# Shorter names, with the signs between their words (`x-pii`), occur in every program.
MIN_LETTERS = 5
# How many of two names' words must be the same: with none in common a method is often taken for its
# neighbor. Of 22 replacements that needed no equal lines 6 were right.
MIN_SHARED = 0.3
# Words that are this long may be parts of others.
MIN_WORD = 4
# Libraries that make options from parameters, fields and words without dashes: clap, typer,
# go-flags, CommandLineParser and the like, and those that read the fields of a data class.
OPTION_MAKERS = (
    b"#[arg(",
    b"#[clap(",
    b"#[structopt(",
    b"typer.",
    b'long:"',
    b'kong:"',
    b'[Option("',
    b"@dataclass",
)
# Libraries that read environment variables by the names of settings.
VARIABLE_MAKERS = (
    *(b"AutomaticEnv", b"BaseSettings", b"ConfigurationProperties", b"envconfig", b'env:"'),
    *(b"EnvPrefix", b"env_prefix", b"env_nested", b"#[arg(", b"#[clap("),
)
# New definitions on lines that differ in nothing else: each is compared with each removed one, in
# 10 µs. More were made by a machine, and none of them is named.
MAX_ALIKE = 300
# Longer lines were made by machines.
MAX_LINE = 400

_OPTION = rb"(?<=--)[A-Za-z0-9][A-Za-z0-9-]*"
_QUOTED = rb"(?=([\"'`])([A-Za-z0-9-]+)\1)"
# Words, those with hyphens, as options have them, and `readTimeout`, `READ_TIMEOUT`.
_SPELLING = (
    rb"(?<![\w-])(?:--)?"
    rb"([A-Za-z][a-z0-9]+(?:-[a-z0-9]+)*|[A-Za-z][A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*"
    rb"|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?![\w-])"
)
_ATTRIBUTE = SUFFIX.capitalize()
_SCRIPTS = frozenset({"script", "typed script"})
# `override fun close()`, `void close() override;`: the word as a modifier, not `"--override"`.
_OVERRIDES = rb"(?m)^[^\n\"'`#]*\boverride(?:[ \t]+\w|[ \t]*[;{])[^\n]*$|@Override\s*?\n[^\n]*"
# `opts.timeout`, `options["timeout"]`, `kwargs.get("timeout")`, and the object as a whole, not what
# it has: `**self.options`
_READ = rb"\b(\w+)(?:\??\.|\[[\"':]|\.get\([\"'])%b\b"
_WHOLE = rb"(?:\.\.\.|\*\*|\bObject\.assign\([^()\n]*\b)%b\b(?!\s*(?:\?\.|[.\[(]))"
_NAME = r"-{0,2}[A-Za-z_]\w*(?:-\w+)*"
# The names that a source takes from a module. `import { a, b } from "module"` is read backward from
# its end, because a file may have thousands of beginnings alone.
_FROM = r"\bfrom[ \t]*['\"](?P<module>[^'\"\n]+)['\"]"
_MAX_IMPORT = 2_000
_IMPORTED = (
    r"\b(?:const|let|var)\s+(?P<names>\w+|\{[^{}]*\})\s*=\s*require\(['\"](?P<module>[^'\"\n]+)",
    r"(?m)^[ \t]*from[ \t]+(?P<module>[\w.]+)[ \t]+import[ \t]+(?P<names>\([^()]*\)|[^\n]*)",
    r"(?m)^[ \t]*import[ \t]+(?:static[ \t]+)?(?P<names>(?P<module>[\w.]+)(?:\{[^{}]*\})?)",
    r"(?m)^[ \t]*(?:pub[ \t]+)?use[ \t]+(?P<names>(?P<module>\w+)[^;{}]*(?:\{[^;{}]*\})?)",
)
# A class of a script's runtime: `globalThis.WeakRef`. Of `window` programs make names of their own.
_OF_RUNTIME = r"(?<![\w.])(?P<names>(?P<module>global|globalThis)\.[A-Z]\w*[a-z]\w*)"
_OWN_MODULE = r"[.~#/]|@/|(?:crate|self|super)\b"


class ChangedSource(NamedTuple):
    """The bytes of a source before and after a change, and its language; None: no such file."""

    before: bytes | None
    after: bytes | None
    language: Language | None


class Removed(NamedTuple):
    """A name that the changed sources defined and no longer contain, and one that defined it.

    `is_key`: only as a key or field. `is_option`: the source has it as a command-line option.
    `others` has the other spellings that were defined: `page_size` in one source, `PAGE_SIZE` in
    another. `definers` are the sources that defined it, `companions` the keys of the names that
    these defined too and still define, each with one that does; `siblings` those of all names that
    they defined, if they still exist. `is_spelling`: sources still have the name in another
    spelling, but not in this one. `is_only_used`: none of these sources defined it; then `siblings`
    are the names that the source loses with it.
    """

    name: str
    path: str
    language: Language
    is_key: bool = False
    is_option: bool = False
    others: frozenset[str] = frozenset()
    definers: tuple[str, ...] = ()
    companions: Mapping[int, str] = MappingProxyType({})
    siblings: Mapping[int, str] = MappingProxyType({})
    is_spelling: bool = False
    is_only_used: bool = False

    @property
    def is_flag(self) -> bool:
        """Whether a source made it an option by its bare name: `Flags().String("read-timeout")`.

        `"--read-timeout"` may as well be an argument for another program.
        """
        return not self.is_key and any(
            "-" in name and not name.startswith("-") for name in (self.name, *self.others)
        )


class Replacement(NamedTuple):
    """A name that took another's place, and the source that defines it now."""

    name: str
    path: str


class SourceChange:
    """The sources that a change touches; `read_tests` returns the tests that it touches."""

    def __init__(
        self,
        sources: Mapping[str, ChangedSource],
        read_tests: Callable[[], Mapping[str, ChangedSource]] = dict,
    ) -> None:
        self.sources = sources
        self._read_tests = read_tests
        self._replacements: dict[tuple[str, str, bool], Replacement | None] = {}
        self._definers: dict[int, list[Removed]] = {}
        self._tests_by_name: dict[str, str | None] = {}
        self._lost_by_path: dict[str, Mapping[int, str]] = {}
        self._old_lines: dict[str, dict[str, list[str]]] = {}

    @cached_property
    def defined(self) -> Mapping[int, Removed]:
        """The names that the sources defined before the change, by key."""
        defined: dict[int, Removed] = {}
        for path, source in self.sources.items():
            if source.before is None or source.language is None:
                continue
            before = re.sub(_OVERRIDES, b"", source.before)  # others define these
            definitions = find_definitions(before, source.language)
            for name in (*sorted(definitions.names), *sorted(definitions.keys)):
                folded = fold_name(name)
                if _is_long(name):
                    is_key = name in definitions.keys
                    new = Removed(name, path, source.language, is_key)
                    self._definers.setdefault(name_key(folded), []).append(new)
                    old = defined.setdefault(name_key(folded), new)
                    if old.is_key > is_key:
                        defined[name_key(folded)] = new
        return defined

    def find_definition(self, key: int) -> Removed | None:
        """Return the name of a key that the sources defined before the change."""
        found = self.defined.get(key)
        if found is None or self._is_passed_on(found):
            return None
        definers = tuple(dict.fromkeys(definer.path for definer in self._definers[key]))
        return found._replace(
            is_option=self._makes_options or self._is_option(found.name),
            others=frozenset(definer.name for definer in self._definers[key]) - {found.name},
            definers=definers,
            companions=self._companions(definers),
            siblings=self._siblings(definers),
        )

    def find_use(self, key: int) -> Removed | None:
        """Return the name of a key that the sources had before the change, and did not define.

        It has several words: a single one may be any.
        """
        found = self._used.get(key)
        if found is None or self._is_passed_on(found):
            return None
        return found._replace(
            is_option=self._is_option(found.name), siblings=self._lost(found.path)
        )

    def _is_passed_on(self, removed: Removed) -> bool:
        """Return whether the change passes on, whole, an object of which a source read a name."""
        source = self.sources[removed.path]
        before, after = source.before or b"", source.after or b""
        return any(
            len(re.findall(_WHOLE % name, after)) > len(re.findall(_WHOLE % name, before))
            for name in set(re.findall(_READ % re.escape(removed.name.encode()), before))
        )

    def _lost(self, path: str) -> Mapping[int, str]:
        """Return the keys of the names that a source had and no source has after the change."""
        if path not in self._lost_by_path:
            lost = find_keys(self.sources[path].before or b"") - self._kept
            self._lost_by_path[path] = dict.fromkeys(lost, path)
        return self._lost_by_path[path]

    @cached_property
    def _kept(self) -> frozenset[int]:
        """The keys of all names in the sources after the change."""
        contents = (source.after for source in self.sources.values() if source.after)
        return frozenset().union(*map(find_keys, contents))

    @cached_property
    def _used(self) -> Mapping[int, Removed]:
        used: dict[int, Removed] = {}
        imported = frozenset[str]().union(
            *(
                _imported_names(source.before, source.language)
                for source in self.sources.values()
                if source.before
            )
        )
        for path, source in self.sources.items():
            if source.before is None or source.language is None:
                continue
            for name in sorted(_names_in(without_comment_lines(source.before)) - imported):
                folded = fold_name(name)
                if _is_long(name) and len(name_words(name)) > 1:
                    new = Removed(name, path, source.language, is_key=True, is_only_used=True)
                    used.setdefault(name_key(folded), new)
        return used

    @cached_property
    def removed_spellings(self) -> frozenset[str]:
        """The words, and names of several, that the sources do not contain any more as spelled."""
        before, after = set[bytes](), set[bytes]()
        for source in self.sources.values():
            before.update(re.findall(_SPELLING, source.before or b""))
            after.update(re.findall(_SPELLING, source.after or b""))
        gone = {spelling.decode() for spelling in before - after}
        return frozenset(gone.union(name.removesuffix(_ATTRIBUTE) for name in gone))

    def find_spelling(self, spelling: str) -> Removed | None:
        """Return the name that the sources defined in this very spelling before the change.

        None also where the change only writes its letters in another case, except of a constant.
        """
        key = name_key(fold_name(spelling))
        if key not in self.defined:
            return None
        same = [name for name in self._definers[key] if name.name.lstrip("-") == spelling]
        if is_camel_case(spelling):  # in data it may be a title: `LangChain: langchain.md`
            same = [name for name in same if name.language != "data"]
        if not same:
            return None
        definers = tuple(dict.fromkeys(name.path for name in same))
        removed = min(same, key=lambda name: name.is_key)._replace(is_spelling=True)
        new = self.find_replacement(removed)
        is_same = new is not None and fold_name(new.name) == fold_name(spelling)
        if is_same and "-" not in spelling and not is_constant(spelling):
            return None
        return removed._replace(
            is_option="-" in spelling or self._is_option(spelling),
            definers=definers,
            companions=self._companions(definers),
            siblings=self._siblings(definers),
        )

    def _siblings(self, definers: Sequence[str]) -> Mapping[int, str]:
        """Return the keys of the names that those of these sources defined that still exist."""
        return {
            key: path
            for path in definers
            if self.sources[path].after is not None
            for key in self._keys(path, self.sources[path].before)
        }

    def _companions(self, definers: Sequence[str]) -> Mapping[int, str]:
        """Return the keys of the names that these sources define before and after the change.

        One that is gone may have moved: then a file of its name elsewhere has most of them.
        """
        siblings: set[int] = set()
        for path in definers:
            siblings |= self._keys(path, self.sources[path].before)
        files = {path.rpartition("/")[2] for path in definers}
        found: dict[int, str] = {}
        for path, source in self.sources.items():
            kept = self._keys(path, source.after) & siblings
            is_moved = path.rpartition("/")[2] in files and 2 * len(kept) >= len(siblings)
            if path in definers or is_moved:
                found.update(dict.fromkeys(kept, path))
        return found

    def _keys(self, path: str, data: bytes | None) -> frozenset[int]:
        language = self.sources[path].language
        if data is None or language is None:
            return frozenset()
        names = _defined(data, language).difference(_namespaces(data))
        return frozenset([name_key(fold_name(name)) for name in names if _is_long(name)])

    @cached_property
    def occurred(self) -> frozenset[int]:
        """The keys of all names in the sources before the change."""
        contents = (source.before for source in self.sources.values() if source.before)
        return frozenset().union(*map(find_keys, contents))

    def find_replacement(self, removed: Removed) -> Replacement | None:
        """Return the name that a change writes where the removed one was; None: it shows none.

        A line of the old file and one that the change adds must differ in nothing but the name, the
        names must share words, and the new one must be new to the file that defines it, or to the
        very file that used the old one.
        """
        key = removed.path, removed.name, removed.is_spelling
        if key not in self._replacements:
            self._replacements[key] = self._find_replacement(removed)
        return self._replacements[key]

    def _find_replacement(self, removed: Removed) -> Replacement | None:
        if is_dependency_manifest(removed.path):  # every package has a line with its name
            return None
        added = self._added_uses if removed.is_only_used else self._added
        old_words = set(name_words(removed.name))
        before = self.sources[removed.path].before or b""
        known = _defined(before, removed.language)  # in a file that moved they are not new
        found: dict[str, tuple[float, Replacement]] = {}
        for line in self._lines_with(removed):
            rest = _without(line, removed.name, is_spelling=removed.is_spelling)
            if removed.is_only_used and not re.search(r"\w", rest):  # an item of a list
                continue
            alike = added.get(rest) or added.get(_without(line, removed.name)) or []
            for path, name in alike if len(alike) <= MAX_ALIKE else ():
                if removed.is_only_used and path != removed.path:  # `kind: Role` of another one
                    continue
                shared = _share_words(old_words, set(name_words(name)))
                if shared >= MIN_SHARED and name not in known:
                    found.setdefault(fold_name(name), (shared, Replacement(name, path)))
        best = sorted(found.values(), reverse=True)
        is_clear = len(best) == 1 or (best and best[0][0] > best[1][0])
        return best[0][1] if is_clear else None

    def find_test(self, name: str) -> str | None:
        """Return a test that had a name; None also where one that the change touches still has it.

        It must be written exactly so.
        """
        if name not in self._tests_by_name:
            self._tests_by_name[name] = self._find_test(name)
        return self._tests_by_name[name]

    def _find_test(self, name: str) -> str | None:
        word = re.compile(rb"(?<![\w-])(?:--)?%b(?![\w-])" % re.escape(name.lstrip("-").encode()))
        tests = self._tests.items()
        if any(word.search(test.after or b"") for _, test in tests):
            return None
        return min((path for path, test in tests if word.search(test.before or b"")), default=None)

    @cached_property
    def _tests(self) -> Mapping[str, ChangedSource]:
        return self._read_tests()

    def _lines_with(self, removed: Removed) -> list[str]:
        """Return the lines of the old source that contain a removed name."""
        if removed.path not in self._old_lines:
            before = self.sources[removed.path].before or b""
            by_name: dict[str, list[str]] = {}
            for line in _lines(before):
                for name in dict.fromkeys(re.findall(_NAME, line)):
                    by_name.setdefault(fold_name(name), []).append(line)
            self._old_lines[removed.path] = by_name
        return self._old_lines[removed.path].get(fold_name(removed.name), [])

    @cached_property
    def _makes_options(self) -> bool:
        """Whether a source makes options from its names."""
        contents = (source.before for source in self.sources.values() if source.before)
        return any(maker in data for data in contents for maker in OPTION_MAKERS)

    def _is_option(self, name: str) -> bool:
        """Return whether a source has an option of this name, or one that begins with it."""
        if is_word_option(name):
            return True
        options, strings = self._options
        # `k3s-arg` has the words k, 3, s and arg
        for option in ("-".join(name_words(name)).encode(), name.lstrip("-").encode()):
            position = bisect_left(options, option)
            begins = position < len(options) and options[position].startswith(option)
            if begins or option in strings:
                return True
        return "." in name

    @cached_property
    def _options(self) -> tuple[list[bytes], frozenset[bytes]]:
        """The options in the sources, sorted and without dashes, and their quoted words."""
        options: set[bytes] = set()
        strings: set[bytes] = set()
        for source in self.sources.values():
            if source.before:
                options.update(re.findall(_OPTION, source.before))
                strings.update(word for _, word in re.findall(_QUOTED, source.before))
        return sorted(options), frozenset(strings)

    @cached_property
    def _added(self) -> Mapping[str, list[tuple[str, str]]]:
        """The path and name of each new definition, by its line without the name."""
        return self._by_line(_defined)

    @cached_property
    def _added_uses(self) -> Mapping[str, list[tuple[str, str]]]:
        """The path and name of each new name, by its line without the name."""
        return self._by_line(lambda data, _: _names_in(data))

    def _by_line(
        self, names_of: Callable[[bytes, Language], frozenset[str]]
    ) -> Mapping[str, list[tuple[str, str]]]:
        added: dict[str, list[tuple[str, str]]] = {}
        for path, source in self.sources.items():
            if source.after is None or source.language is None:
                continue
            before = source.before or b""
            new = names_of(source.after, source.language) - names_of(before, source.language)
            new = frozenset(filter(_is_long, new))
            old_lines = set(_lines(before)) if new else set()
            for line in _lines(source.after) if new else ():
                if line not in old_lines:
                    for name in sorted(new.intersection(re.findall(_NAME, line))):
                        added.setdefault(_without(line, name), []).append((path, name))
        return added


def may_spell(path: str, data: bytes, spelling: str) -> bool:
    """Return whether a source has a name in this very spelling, or may make it of another.

    Scripts get `--read-timeout` as `readTimeout`, and write `ReadTimeout` as `read-timeout` in a
    template; elsewhere `readTimeout` may be made of a field of any spelling, and a class
    `FixedAttribute` is written `Fixed`. Libraries read `READ_TIMEOUT` for a setting of any.
    """
    is_script, is_camel = language_of(path) in _SCRIPTS, is_camel_case(spelling)
    if "-" in spelling and (is_script or any(maker in data for maker in OPTION_MAKERS)):
        return True
    if is_constant(spelling) and any(maker in data for maker in VARIABLE_MAKERS):
        return True
    if is_camel and not is_script and not is_type_name(spelling):
        return True
    written = re.escape(spelling.encode()) + (
        rb"(?:%b)?" % _ATTRIBUTE.encode() if is_camel else b""
    )
    if is_camel and is_script:
        written += rb"|(?i:%b)" % rb"[-_]".join(word.encode() for word in name_words(spelling))
    return re.search(rb"(?<![\w-])(?:--)?(?:%b)(?![\w-])" % written, data) is not None


def _defined(data: bytes, language: Language) -> frozenset[str]:
    definitions = find_definitions(data, language)
    return definitions.names | definitions.keys


def _namespaces(data: bytes) -> Iterator[str]:
    """Yield the names of namespaces, which many sources share: a page has them for any of these."""
    return (name.decode() for name in re.findall(rb"\bnamespace[ \t]+(\w+)", data))


def _is_long(name: str) -> bool:
    return len(name.lstrip("-")) >= MIN_LETTERS


def _names_in(data: bytes) -> frozenset[str]:
    return frozenset(re.findall(_NAME, data[:MAX_BYTES].decode("utf-8", "replace")))


def _imported_names(data: bytes, language: Language | None) -> frozenset[str]:
    """Return the names that a source imports from other packages, or takes from its runtime."""
    text = data[:MAX_BYTES].decode("utf-8", "replace")
    return frozenset(
        name
        for module, names in _find_imports(text, language)
        if not re.match(_OWN_MODULE, module)
        for name in re.findall(_NAME, names)
    )


def _find_imports(text: str, language: Language | None) -> Iterator[tuple[str, str]]:
    """Yield modules, each with the part of a text that has the names that it imports from there."""
    for end in re.finditer(_FROM, text):
        before = text[max(0, end.start() - _MAX_IMPORT) : end.start()]
        names = before.rpartition("import")[2]
        if names != before and not re.search(r"['\";]", names):
            yield end["module"], names
    for pattern in (*_IMPORTED, _OF_RUNTIME) if language in _SCRIPTS else _IMPORTED:
        for found in re.finditer(pattern, text):
            yield found["module"], found["names"]


def _lines(data: bytes) -> list[str]:
    lines = data.decode("utf-8", "replace").split("\n")
    return [line.strip() for line in lines if len(line) <= MAX_LINE]


def _share_words(old: set[str], new: set[str]) -> float:
    """Return the share of words that two names have in common: `aread` contains `read`."""
    common = {
        word
        for word in old
        if word in new
        or any(
            word in other or other in word
            for other in new
            if min(len(word), len(other)) >= MIN_WORD
        )
    }
    return len(common) / max(len(old), len(new))


def _without(line: str, name: str, *, is_spelling: bool = False) -> str:
    """Return a line without a name, in any of its spellings or (`is_spelling`) only in this one."""
    folded, bare = fold_name(name), name.lstrip("-")

    def replace(found: re.Match[str]) -> str:
        text = found[0]
        is_same = text.lstrip("-") == bare if is_spelling else fold_name(text) == folded
        return "\0" if is_same else text

    return re.sub(_NAME, replace, line)

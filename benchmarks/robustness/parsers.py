"""Give every parser 100 kB of each of its separators and nesting signs.

Usage: `python benchmarks/robustness/parsers.py [NAME...]`.

Each text is read at 25, 50 and 100 kB in a process of its own, whose CPU time and memory the kernel
counts; a grammar in the child that UBP itself limits. Prints a line for each text that grows faster
than linearly, or takes too much, and exits with 1 if there is one. A NAME is that of a parser, such
as `yaml` or `grammar csharp`.
"""

import os
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress

from ubp.code.definitions import _LANGUAGES, find_definitions, find_keys
from ubp.code.dependencies import find_dependencies, find_package_name, find_required_names
from ubp.code.limited import SourceFile, find_in_files
from ubp.code.symbols import _GRAMMARS
from ubp.core.config_file import parse_config
from ubp.core.errors import UbpError
from ubp.core.model import FilePath
from ubp.markdown.code_names import read_code_names
from ubp.markdown.front_matter import read_front_matter
from ubp.markdown.includes import find_includes
from ubp.markdown.mentions import read_mentions
from ubp.markdown.parse import parse_markdown
from ubp.markdown.section_words import Sections
from ubp.markdown.sites.redirects import redirects_in
from ubp.staleness.evidence import names_in_code
from ubp.staleness.first_reference import _mentions
from ubp.sync.convert import HtmlPage, is_too_deep

SIZES = 25_000, 50_000, 100_000
MAX_CPU = 20  # seconds, after which the kernel ends a process
MAX_MEMORY = 3 << 30
# Twice the text may take twice the time; what is faster than this is not judged by its growth.
MAX_GROWTH = 2.8
JUDGED_CPU = 0.4
MAX_GRAMMAR_CPU = 4
MAX_GROWN_MB = 200  # more than the process had before

SIGNS = str.maketrans("·⏎⇥", " \n\t")
# Spaces are written as ·, line ends as ⏎, tabs as ⇥.
WRITTEN = r'''
a. a, a; a: a= a· a⏎ a| a& a+ a* a? a! a- a@ a# a( a[ a{ a< <a (a [a {a a) a] a} a> <a> </a> <a·
&a· () [] {} <> (a) [a] {a} (, [, {, ([ [( ({ {( [{ {[ a·=>· a·->· =>· ->· a:: :: a?. a·?·b·:·
a·?· ?? !! && || a:· -· ?· >· #· *· +· 1.· a·=· a·=·1⏎ a:·1⏎ -·a⏎ >·a⏎ "a" 'a' """ `a` ``` ~~~⏎
${ #{ $( \( %{ << >> /* */ // //⏎ <!-- --> <? ?> <![CDATA[ &amp; & -- ---⏎ []( ![]( [[ ]]
[a](b)· [[a]]· [a]:·b⏎ [^a]:·b⏎ ** __ ~~ == |- |a|b|⏎|-|-|⏎ |a a⏎⏎ ·⏎ ⇥-· ··-·a⏎ import·a⏎
export·a⏎ {/* */} if·a· if·(a)· else· do· fn· def·a class·a{ class·A:⏎· for· let·a= async·
lambda·a:· a·if·b·else· not· new· function(){ if·a:⏎ begin· end· case· <a·b=' @a· @a( #[a]
#if·a⏎ #define·a⏎ #include·a⏎ \⏎ <<a⏎ a<b, a<b> a<b>( int·a; a·a· a·a( a·b= template<a· (a)b
(a)( a*b; [a, {a: {a,b {a= =>{ <div> <p> <b> <p><b> <table> <table><tr><td> <ul><li> <li>
<a·href=x> <a·name=x> <h1> <h1·id=a> <sup> <dl><dd> <select> <svg> <img·src=x> <br> <blockquote>
<pre> <img <img·a·=· &a·[*a],· *a· !a· !!a· |⏎ >⏎ %a⏎ ...⏎ [[a]]⏎ [a.a]⏎ a.a=1⏎ [a]⏎
'''
UNITS = [
    *"()[]{}<>,;:.=-+*/%&|^~!?@#$\\\"'`_ \t\na0\0é語",
    "'''",
    *(unit.translate(SIGNS) for unit in WRITTEN.split()),
]
CLOSING = str.maketrans("()[]{}<>", ")(][}{><")


def texts(size: int) -> Iterator[tuple[str, bytes]]:
    """Yield each text of this size with its name."""
    for unit in UNITS:
        count = size // len(unit.encode())
        yield repr(unit), (unit * count).encode()
        closing = unit[::-1].translate(CLOSING)
        if closing != unit and any(bracket in unit for bracket in "([{<"):
            nested = unit * (count // 2) + "a" + closing * (count // 2)
            yield repr(f"{unit}…{closing}"), nested.encode()
        yield repr(f"x = {unit}…"), (f"x = {unit * count}").encode()
    lines = size // 8
    yield "names", b"".join(b"a%d = 1\n" % n for n in range(lines))
    yield "keys", b"".join(b"a%d: 1\n" % n for n in range(lines))
    yield "headings", b"".join(b"# a%d\n\n" % n for n in range(lines))
    yield "indentation", b"".join(b" " * n + b"- a\n" for n in range(int((2 * size) ** 0.5)))
    yield "nested blocks", b"".join(b" " * n + b"if a:\n" for n in range(int((2 * size) ** 0.5)))


def parsers() -> dict[str, Callable[[bytes], object]]:
    """Return a function for each parser by its name."""
    found: dict[str, Callable[[bytes], object]] = {
        "yaml": lambda text: read_front_matter(b"---\nz: " + text + b"\n---\n", ()),
        "comment": lambda text: read_front_matter(b"<!-- ubp\n" + text + b"\n-->\n", ()),
        "toml": lambda text: read_front_matter(b"+++\n" + text + b"\n+++\n", ()),
        "toml key": lambda text: read_front_matter(b"+++\na" + text + b" = 1\n+++\n", ()),
        "toml value": lambda text: read_front_matter(b"+++\na = " + text + b"\n+++\n", ()),
        "toml table": lambda text: read_front_matter(b"+++\n[a" + text + b"]\n+++\n", ()),
        "json": lambda text: parse_config(text, "config.json"),
        "json value": lambda text: parse_config(b'{"a": ' + text + b"}", "config.json"),
        "markdown": parse_markdown,
        "markdown link": lambda text: parse_markdown(b"[a](" + text + b")"),
        "sections": lambda text: Sections(b"# a\n\n" + text).all(),
        "html": convert_html,
        "names": find_keys,
        "manifest": lambda text: find_required_names("pyproject.toml", text),
        "manifest of lines": lambda text: find_dependencies("requirements.txt", text),
        "package name": find_package_name,
        "example": lambda text: list(_mentions(FilePath("docs/a.md"), text)),
        "mentions": read_mentions,
        "code names": read_code_names,
        "code names in code": lambda text: read_code_names(b"```python\n" + text + b"\n```\n"),
        "evidence": lambda text: names_in_code(text.decode().split("\n")),
        "includes": lambda text: list(find_includes(text.decode())),
        "redirects": lambda text: list(redirects_in("vitepress.config.ts", b"redirect " + text)),
    }
    for language in dict.fromkeys(_LANGUAGES.values()):
        found[f"names {language}"] = lambda text, language=language: find_definitions(
            text, language
        )
    for language in _GRAMMARS:
        found[f"grammar {language}"] = lambda text, language=language: read_grammar(text, language)
    return found


def convert_html(data: bytes) -> None:
    """Convert a page as the import does."""
    text = data.decode()
    if not is_too_deep(text):
        HtmlPage(text, "https://example.org/").convert(lambda address: address, ())


def read_grammar(data: bytes, language: str) -> None:
    """Read all definitions of a source, in a child with limits."""
    find_in_files([SourceFile(data, language, "all")])


def measure(parse: Callable[[bytes], object], data: bytes) -> tuple[float, int, int]:
    """Return the CPU seconds, the grown memory in MB, and the exit status of a parse."""
    start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    process = os.fork()
    if not process:
        resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU, MAX_CPU))
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        try:
            with suppress(UbpError):
                parse(data)
        except BaseException:  # noqa: BLE001  # any failure is a line in the table
            os._exit(1)
        os._exit(0)
    _, status, usage = os.wait4(process, 0)
    return (
        usage.ru_utime + usage.ru_stime,
        (usage.ru_maxrss - start) // 1024,
        os.waitstatus_to_exitcode(status),
    )


def main() -> None:
    """Measure, print what is not linear, and exit."""
    names = sys.argv[1:]
    count = found = 0
    for name, parse in parsers().items():
        if names and name not in names:
            continue
        slowest = 0.0
        for same in zip(*map(texts, SIZES), strict=True):
            count += 1
            results = [measure(parse, text) for _, text in same]
            seconds = [result[0] for result in results]
            slowest = max(slowest, seconds[-1])
            is_slower = seconds[-1] > JUDGED_CPU and seconds[-1] > MAX_GROWTH * seconds[-2]
            if name.startswith("grammar "):  # some are not linear, and are stopped
                is_slower = seconds[-1] > MAX_GRAMMAR_CPU
            if is_slower or results[-1][1] > MAX_GROWN_MB or any(result[2] for result in results):
                found += 1
                print(f"{name:18} {same[-1][0]:24}", *map(str, results), flush=True)
        print(f"{name:18} slowest text of 100 kB: {slowest:.2f} s of CPU", flush=True)
    print(f"{count} texts, {found} of which are not read in linear time and memory")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()

"""Attacks by source files whose symbols are read, by translations, and on HTML files and badges."""

import json
from collections.abc import Callable
from html.parser import HTMLParser

from attacks import (
    CHECK,
    ESCAPES,
    INJECTIONS,
    Attack,
    both,
    config,
    link,
    many,
    named,
    text,
    unharmed,
)
from proposal_attacks import NUMBER, file, proposed
from victim import Victim

Build = Callable[[Victim], object]
LANGUAGES = (
    "py",
    "js",
    "ts",
    "tsx",
    "go",
    "rs",
    "java",
    "kt",
    "c",
    "cpp",
    "cs",
    "rb",
    "php",
    "swift",
)
MORE_LANGUAGES = ("scala", "lua", "sh", "dart", "yaml", "json", "tf")


def described(content: str | bytes, *references: str, suffixes: tuple[str, ...] = ("py",)) -> Build:
    """Build by files of this content in several languages, whose symbols a page describes."""

    def build(victim: Victim) -> None:
        data = content.encode() if isinstance(content, str) else content
        names = [f"src/bad.{suffix}" for suffix in suffixes]
        for name in names:
            victim.write(name, b"def f():\n    return 1\n")
        sources = [f"{name}#{part}" for name in names for part in (references or ("f", "a.b"))]
        victim.page("docs/b.md", *sources, body=f"# B\n\n`{names[0]}` and `f()`\n")
        victim.commit()
        for name in names:
            victim.write(name, data)
        victim.commit()

    return build


SYMBOLS = unharmed(
    CHECK,
    ("stale", "docs/b.md", "--diff"),
    ("impact", "src/bad.py"),
    ("bind", "docs/b.md"),
    ("check", "--base", "HEAD~"),
)


def translated(rule: dict[str, object], *pages: tuple[str, str]) -> Build:
    """Build by a rule of translations, and pages with a pin."""

    def build(victim: Victim) -> None:
        for path, pin in pages or (("content/ja/a.md", "1" * 40),):
            victim.write(path, f"---\ncommit: {pin}\n---\n# T\n")
            victim.write(path.replace("/ja/", "/en/"), "# T\n")
        config({"translations": [rule]})(victim)

    return build


RULE: dict[str, object] = {
    "page": "content/{lang}/{path}",
    "source": "content/en/{path}",
    "pin": "commit",
}
TRANSLATIONS = unharmed(CHECK, ("stale", "--translations"), ("stale", "--translations", "--diff"))


def not_followed(victim: Victim) -> str:
    """Judge a rule that the configuration may not have, or that leads nowhere."""
    for command in (("stale", "--translations"), CHECK, ("list-pages",)):
        victim.ubp(*command)
    return victim.achieved()


class Markup(HTMLParser):
    """What an HTML file would run or load from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element that runs or loads something."""
        self.scripts += tag == "script"
        if tag in {"img", "iframe", "object", "embed", "base", "audio", "video"}:
            self.found.append(f"<{tag}>")
        for name, value in attrs:
            address = (value or "").strip().casefold()
            is_loaded = name in {"src", "xlink:href", "srcset", "action"}
            is_program = address.replace("\t", "").startswith(
                ("javascript:", "data:text", "vbscript:")
            )
            if name.startswith("on") or (is_loaded and "//" in address) or is_program:
                self.found.append(f"<{tag} {name}={value}>")


def pictured(victim: Victim) -> str:
    """Judge the report, the graph and the badge as files: no markup of a page or a commit."""
    before = victim.files()
    victim.ubp("report", "--html", "report.html", "--graph")
    victim.ubp("badge", "--output", "badge.svg", "--label", "<script>alert(1)</script>")
    victim.ubp("check", "--format", "html")
    if fault := victim.achieved():
        return fault
    files = [victim.root / name for name in ("report.html", "graph.html", "badge.svg")]
    texts = [
        file.read_text(encoding="utf-8")
        for file in files
        if file.is_file() and not file.is_symlink()
    ]
    texts.append(victim.answers[-1].out)
    for written in texts:
        markup = Markup()
        markup.feed(written)
        if markup.found or "<script>alert" in written:
            return f"HTML of a page is markup: {markup.found}"
        if markup.scripts > MAX_SCRIPTS:
            return f"{markup.scripts} scripts"
    if {name: status for name, status in victim.files().items() if name in before} != before:
        return "files were written"
    return "" if len(texts) > 1 or victim.answers[-3].status == 2 else "no answer"


def rendered(victim: Victim) -> str:
    """Judge a proposal as a file: nothing of its pages runs, or is loaded."""
    before = victim.files()
    victim.ubp("proposals", "show", str(NUMBER), "--html", "proposal.html")
    if fault := victim.achieved():
        return fault
    file = victim.root / "proposal.html"
    markup = Markup()
    markup.feed(file.read_text(encoding="utf-8") if file.is_file() else "")
    if markup.found or markup.scripts:
        return f"HTML of a page is markup: {markup.found} {markup.scripts}"
    if {name: status for name, status in victim.files().items() if name in before} != before:
        return "files were written"
    return "" if file.is_file() else f"no answer: {victim.answers[-1].err}"


MAX_SCRIPTS = 4
EVIL = "<img src=x onerror=alert(1)></script><script>alert(1)</script>]]>"
SOURCES: tuple[Attack, ...] = (
    *(
        Attack(f"source of {name}", "bounded input", described(content, suffixes=suffixes), SYMBOLS)
        for name, content, suffixes in (
            ("nested parentheses", "x = " + "(" * many(100_000), LANGUAGES),
            ("nested brackets", "[" * many(100_000), MORE_LANGUAGES),
            (
                "closed brackets",
                "x = " + "[" * many(50_000) + "]" * many(50_000),
                (*LANGUAGES, *MORE_LANGUAGES),
            ),
            (
                "nested braces",
                "{" * many(50_000) + "}" * many(50_000),
                (*LANGUAGES, *MORE_LANGUAGES),
            ),
            (
                "nested functions",
                "".join(f"{' ' * n}def f():\n" for n in range(many(1500))),
                ("py",),
            ),
            (
                "nested classes",
                "class f { " * many(20_000),
                ("js", "java", "cs", "cpp", "kt", "swift", "php"),
            ),
            ("nested modules", "mod f { " * many(20_000), ("rs",)),
            ("nested types", "let f: " + "Vec<" * many(20_000), ("rs", "java", "cs", "ts")),
            ("nested conditions", "if (x) " * many(20_000), ("js", "c", "java", "go", "php", "sh")),
            ("nested elements", "f = " + "<a>" * many(20_000), ("tsx",)),
            ("a long chain", "f = a" + ".b()" * many(50_000), LANGUAGES),
            ("a long sum", "f = 1" + " + 1" * many(50_000), LANGUAGES),
            ("open texts", "f = '" * many(50_000), LANGUAGES),
            ("open templates", "f = `${" * many(20_000), ("js", "ts")),
            ("many definitions of one name", "def f(): pass\n" * many(50_000), ("py", "rb")),
            (
                "many definitions",
                "".join(f"def f{n}(): pass\n" for n in range(many(50_000))),
                ("py", "rb"),
            ),
            ("3 MB", "x = 1\n" * many(500_000), ("py", "js")),
            ("nested YAML", "f: " + "{a: " * many(20_000), ("yaml",)),
            ("YAML with aliases", "f: &a [x]\n" + "b: [*a, *a, *a]\n" * many(10_000), ("yaml",)),
        )
    ),
    *(
        Attack(
            f"source of bytes that are {name}",
            "escaped output",
            described(content, suffixes=LANGUAGES),
            SYMBOLS,
        )
        for name, content in (
            ("no UTF-8", b"def f():\n    x = '\xff\xfe'\n"),
            ("NUL", b"def f():\0\n    x = '\0'\n"),
            ("UTF-16", "def f():\n    pass\n".encode("utf-16")),
            ("control sequences", f"def f():\n    x = '{ESCAPES}'\n# \u202e\u2066\n".encode()),
            ("binary", bytes(range(256)) * 100),
        )
    ),
    *(
        Attack(
            f"symbol that is {name}",
            "linear parsing",
            described("def f():\n    return 2\n", *references),
            SYMBOLS,
        )
        for name, references in (
            ("a pattern", ("$X", "$$$A", "f($$$)", "*", "f*", "[a-z]+", "(a+)+$")),
            ("thousands of parts", (".".join(["a"] * many(5000)), "::".join(["a"] * many(5000)))),
            ("a path", ("../../outside/secret.md", "/etc/passwd", "a/b#c#d")),
            (
                "a line beyond the end",
                ("L99999999", "L1-L99999999", "L9-L1", "L0", "L-1", f"L{'9' * 5000}"),
            ),
            ("control sequences", ("\x1b[31mf", "f\u202e\u200b", "f\n::error::x")),
            ("long", ("f" * many(200_000),)),
            ("shell syntax", ("$(touch harm)", "`touch harm`", "f; touch harm", "--output=harm")),
        )
    ),
    Attack(
        "source that is a link, with a symbol",
        "inside",
        both(
            link("src/l.py", "OUTSIDE/secret.md"),
            lambda victim: (
                victim.page("docs/b.md", "src/l.py#f", "docs/../../outside/secret.md#s3cret"),
                victim.commit(),
            ),
        ),
        unharmed(CHECK, ("stale", "docs/b.md", "--diff")),
    ),
    # Translations
    *(
        Attack(
            f"translation whose pin is {name}",
            "checked arguments",
            translated(RULE, ("content/ja/a.md", pin)),
            TRANSLATIONS,
        )
        for name, pin in (
            ("an option", "--output=pwned"),
            ("a range", "HEAD~1..HEAD"),
            ("a branch", "HEAD"),
            ("a search by a pattern", '":/(a*)*(a*)*b"'),
            ("a number of 5,000 digits", "9" * 5000),
            ("a list", "[a, b]"),
            ("control sequences", json.dumps(ESCAPES)),
            ("a file of another commit", '"HEAD:src/a.py"'),
            ("half a character", '"\\ud800"'),
        )
    ),
    *(
        Attack(
            f"rule of translations with {name}",
            "valid configuration",
            translated(rule),
            not_followed,
        )
        for name, rule in (
            ("originals outside", {**RULE, "source": "../outside/{path}"}),
            ("absolute originals", {**RULE, "source": "/etc/{path}"}),
            ("pages outside", {**RULE, "page": "../{lang}/{path}"}),
            ("many places", {**RULE, "page": "{lang}" * 30 + "{path}" * 30}),
            ("patterns", {**RULE, "page": "(a+)+{lang}(b*)*{path}", "source": "{path}"}),
            (
                "languages that are patterns",
                {**RULE, "languages": ["(a+)+", ".*", "..", "../x", ESCAPES]},
            ),
            ("a long key", {**RULE, "pin": ".".join(["a"] * many(50_000))}),
            ("a key that is a program", {**RULE, "pin": "$(touch harm)"}),
            ("a collection that does not exist", {**RULE, "collection": "../outside"}),
            ("wrong types", {"page": 1, "source": [], "pin": {}}),
        )
    ),
    Attack(
        "translations of names that inject",
        "escaped output",
        translated(RULE, *((f"content/ja/{name}", "1" * 40) for name in INJECTIONS)),
        TRANSLATIONS,
    ),
    Attack(
        "flood of translations",
        "bounded input",
        translated(RULE, *((f"content/ja/p{n}.md", "1" * 40) for n in range(many(2000)))),
        TRANSLATIONS,
    ),
    Attack(
        "original that is a link outside",
        "inside",
        both(
            translated(RULE),
            link("content/en/l.md", "OUTSIDE/secret.md"),
            text("content/ja/l.md", "---\ncommit: HEAD\n---\n# T\n"),
        ),
        TRANSLATIONS,
    ),
    # The report, the graph and the badge
    Attack(
        "names of pages in a report",
        "escaped output",
        named(*INJECTIONS, f"docs/{EVIL.replace('/', '')}.md"),
        pictured,
    ),
    Attack(
        "titles and tags in a report",
        "escaped output",
        both(
            text(
                "docs/b.md",
                f"---\ntitle: {json.dumps(EVIL)}\ntags: [{json.dumps(EVIL)}]\n"
                f"doc_type: {json.dumps(EVIL)}\n---\n# {EVIL}"
                f"\n\n[{EVIL}](a.md) [[{EVIL}]]\n",
            ),
            text(
                "docs/c.md",
                f"# ]]>--><svg onload=alert(1)>\u2028\u2029\n\n[x](javascript:alert(1)) "
                f"[y](<data:text/html,{EVIL}>)\n",
            ),
        ),
        pictured,
    ),
    Attack(
        "changes of sources in a report",
        "escaped output",
        both(
            text("src/a.py", f"{EVIL}\n{ESCAPES}\n"),
            lambda victim: victim.git(
                "commit",
                "--quiet",
                "--amend",
                "--message",
                f"{EVIL}\n\n{EVIL}",
                "--author",
                "x onerror=alert(1) <x@example.com>",
            ),
        ),
        pictured,
    ),
    Attack(
        "configuration in a report",
        "escaped output",
        both(
            config(
                {
                    "docs_dir": "docs",
                    "collections": {"x": {"git": "https://x.example/<script>alert(1)</script>"}},
                }
            ),
            named(*INJECTIONS),
        ),
        pictured,
    ),
    Attack(
        "report through links",
        "inside",
        both(
            link("report.html", "OUTSIDE/secret.md"),
            link("graph.html", "OUTSIDE/secret.md"),
            link("badge.svg", "OUTSIDE/secret.md"),
        ),
        pictured,
    ),
    *(
        Attack(f"proposal as a file with {name}", rule, proposed(file("docs/a.md", page)), rendered)
        for name, rule, page in (
            (
                "markup",
                "escaped output",
                f"# {EVIL}\n\n{EVIL}\n\n<svg onload=alert(1)>\n\n<iframe src=//x></iframe>\n",
            ),
            (
                "links that run programs",
                "escaped output",
                (
                    "# X\n\n[a](javascript:alert(1)) [b](<java\tscript:x>) <javascript:x>\n"
                    "[c](data:text/html,x) [d]: javascript:alert(1)\n\n[d]\n\n[e](vbscript:x)\n"
                ),
            ),
            (
                "pictures of other hosts",
                "escaped output",
                "# X\n\n![x](https://x.example/a.png) ![y](//x.example/b) ![z](data:image/svg,x)\n",
            ),
            (
                "control sequences",
                "escaped output",
                f"# {ESCAPES}\n\n\u202e &#x202e; &#0; &#x1b;\n",
            ),
            ("thousands of paragraphs", "bounded input", "x\n\n" * many(60_000)),
            ("nested quotations", "bounded input", ">" * many(20_000) + " x\n"),
        )
    ),
)

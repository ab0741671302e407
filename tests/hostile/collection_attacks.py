"""Attacks by what collections fetch: web pages and repositories."""

import gzip
import json
import os
import re
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

from attacks import ESCAPES, INJECTIONS, Attack, many
from victim import SECRET, Answer, Victim

HOST = "https://spec.example"
NETWORK_BYTES = 65_536  # that httpcore reads at once; what comes at once is unpacked at once
Pages = Mapping[str, "Page"]
Build = Callable[[Victim], object]
ASK = (
    ("list-pages", "--in", "spec"),
    ("search", "page", "--in", "spec", "--mode", "fulltext"),
    ("get-page", "index.md", "--in", "spec"),
    ("get-graph", "--in", "spec"),
    ("collections",),
    ("collections", "--json"),
    ("collections", "sync", "spec"),
)
MAX_PAGE_CHARACTERS = 30_000_000


class Page:
    """What a site answers."""

    def __init__(
        self, body: str | bytes, kind: str = "text/html", status: int = 200, **headers: str
    ) -> None:
        self.body = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
        self.status = status
        self.headers = {"content-type": kind}
        self.headers |= {name.replace("_", "-"): value for name, value in headers.items()}


def in_collections(victim: Victim, *commands: tuple[str, ...]) -> list[Answer]:
    """Run commands with the collections of the victim."""
    os.environ["UBP_COLLECTIONS"] = str(victim.folder / "collections")
    try:
        return [victim.ubp(*command) for command in commands]
    finally:
        del os.environ["UBP_COLLECTIONS"]


def imported(pages: Pages | str | bytes, start: str = "/") -> Callable[[Victim], str]:
    """Judge an import of these pages, which is asked about: nothing escapes from it."""
    given = pages if isinstance(pages, Mapping) else {start: Page(pages)}

    def judge(victim: Victim) -> str:
        import httpx2

        from ubp.sync import fetch

        asked: list[str] = []

        def answer(request: httpx2.Request) -> httpx2.Response:
            asked.append(str(request.url))
            page = given.get(request.url.path, Page(b"", status=404))
            headers = [(name.encode(), value.encode()) for name, value in page.headers.items()]
            starts = range(0, len(page.body), NETWORK_BYTES)
            pieces = (page.body[start : start + NETWORK_BYTES] for start in starts)
            return httpx2.Response(page.status, headers=headers, content=pieces)

        saved = fetch.open_transport, fetch.DELAY_SECONDS, fetch.Fetcher.__init__.__defaults__
        fetch.open_transport = lambda: httpx2.MockTransport(answer)
        fetch.DELAY_SECONDS = 0.0
        fetch.Fetcher.__init__.__defaults__ = (lambda _: None,)
        before = victim.files()
        try:
            in_collections(victim, ("collections", "add", "spec", f"{HOST}{start}", "--yes"), *ASK)
        finally:
            fetch.open_transport, fetch.DELAY_SECONDS = saved[:2]
            fetch.Fetcher.__init__.__defaults__ = saved[2]
        if elsewhere := [url for url in asked if not url.startswith(f"{HOST}/")]:
            return f"fetched {elsewhere}"
        return stored(victim, before)

    return judge


def mirrored(build: Build, *options: str) -> Callable[[Victim], str]:
    """Judge a mirror of a hostile repository, which is asked about."""

    def judge(victim: Victim) -> str:
        upstream = Victim(victim.folder / "upstream", victim)
        upstream.git("config", "uploadpack.allowFilter", "true")
        build(upstream)
        before = victim.files()
        add = ("collections", "add", "spec", upstream.root.as_uri(), "--kind", "mirror", "--yes")
        in_collections(victim, (*add, *options), *ASK, ("diff", "spec@HEAD~..HEAD"))
        if upstream.harm.exists():
            return "a program was run"
        return stored(victim, before)

    return judge


def stored(victim: Victim, before: dict[str, tuple[int, int]]) -> str:
    """Judge the answers, the files that were written, and the Markdown that was stored."""
    if fault := victim.achieved():
        return fault
    collections = str(victim.folder / "collections")
    written = [name for name in victim.files() if not name.startswith(collections)]
    if set(written) != before.keys():
        return f"files were written: {set(written) ^ before.keys()}"
    repository = Path(collections) / "spec.git"
    if not repository.exists():
        return ""
    args = ("--git-dir", str(repository), "grep", "--cached", "-h", "-e", "")
    head = victim.git(*args[:2], "rev-parse", "--verify", "--quiet", "HEAD", check=False)
    listing = victim.git(*args[:2], "ls-tree", "-r", "-z", head, check=False) if head else ""
    for line in filter(None, listing.split("\0")):
        mode, _, path = line.partition("\t")
        if (repository / "shallow").exists() or mode.startswith("160000"):
            continue
        if "/upstream/" not in str(victim.root) and {"..", ".git"} & set(path.split("/")):
            return f"stored {path}"
    return ""


def converted(html: str, forbidden: str, *, kind: str = "text/html") -> Callable[[Victim], str]:
    """Judge that the Markdown of a page does not match a pattern."""

    def judge(victim: Victim) -> str:
        if fault := imported({"/": Page(html, kind)})(victim):
            return fault
        shown = next(answer for answer in victim.answers if answer.tokens[0] == "get-page")
        folder = victim.folder / "collections/spec.git"
        text = victim.git("--git-dir", str(folder), "show", "HEAD:index.md", check=False)
        found = re.search(forbidden, f"{text}\n{shown.out}", re.IGNORECASE)
        return f"kept {found[0]!r}" if found else "" if text else "nothing was imported"

    return judge


def private_addresses(victim: Victim) -> str:
    """Judge that nothing of this machine or its network is fetched."""
    from ubp.sync import fetch

    attempts, fetch.MAX_ATTEMPTS = fetch.MAX_ATTEMPTS, 1
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.settimeout(0)
        port = listener.getsockname()[1]
        hosts = (
            *("127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0x7f000001", "2130706433"),
            *("127.1", "0.0.0.0", "169.254.169.254", "10.0.0.1", "192.168.0.1", "[fe80::1]"),
            *("[64:ff9b::7f00:1]", "017700000001", "100.64.0.1", "[2002:7f00:1::]"),
        )
        commands = [
            ("collections", "add", f"x{number}", f"https://{host}:{port}/", "--yes")
            for number, host in enumerate(hosts)
        ]
        schemes = ("http://spec.example/", "file:///etc/passwd", "ftp://spec.example/x")
        commands += [
            ("collections", "add", "y", address, "--yes", "--kind", "import")
            for address in (
                *schemes,
                "https://user:word@spec.example/",
                "https:///x",
                "gopher://x/",
            )
        ]
        try:
            answers = in_collections(victim, *commands)
            try:
                listener.accept()[0].close()
            except BlockingIOError:
                pass
            else:
                return "this machine was asked"
        finally:
            fetch.MAX_ATTEMPTS = attempts
    accepted = [answer.tokens for answer in answers if answer.status != 2]
    return victim.achieved() or (f"accepted: {accepted}" if accepted else "")


def configured(**collections: dict[str, object]) -> Callable[[Victim], str]:
    """Judge a configuration that names collections, which are synchronized and asked about."""

    def judge(victim: Victim) -> str:
        written = json.dumps({"collections": collections})
        victim.write(".ubp/config.json", written.replace("OUTSIDE", str(victim.secret.parent)))
        victim.commit()
        before = victim.files()
        names = [("search", "page", "--in", name) for name in collections]
        in_collections(victim, ("collections",), ("collections", "sync"), ("check",), *names)
        return stored(victim, before)

    return judge


def redirect(target: str, status: int = 302) -> dict[str, Page]:
    return {"/": Page("", status=status, location=target)}


def links(*targets: str) -> str:
    return "<h1>Page</h1>" + "".join(f"<p><a href='{target}'>x</a></p>" for target in targets)


NAMES = (
    *(
        "../outside/x.html",
        "..%2f..%2foutside.html",
        ".git/config.html",
        ".git%2fhooks%2fx",
        "a\\b.html",
    ),
    *(
        "%2e%2e/x.html",
        "x%00.html",
        "x%0a.html",
        ".ubp/config.html",
        "n" * 300 + ".html",
        "a//b.html",
    ),
    *(
        "%ff%fe.html",
        "%e2%80%ae.html",
        "CON.html",
        "x.html;y",
        "A.html",
        "a.html",
        "d/" * 60 + "x.html",
    ),
)
HTML = "# Page\n"
COLLECTIONS: tuple[Attack, ...] = (
    *(
        Attack(
            f"web page that redirects to {name}",
            "own network",
            lambda _: None,
            imported(redirect(target)),
        )
        for name, target in (
            ("a file", "file:///etc/passwd"),
            ("an address without encryption", "http://spec.example/x"),
            ("a user", "https://user:word@spec.example/"),
            ("itself", f"{HOST}/"),
            ("control sequences", f"https://spec.example/{ESCAPES}"),
            ("nothing", "https://[::1/"),
        )
    ),
    Attack(
        "addresses of this machine and its network",
        "own network",
        lambda _: None,
        private_addresses,
    ),
    Attack(
        "links that leave the site and its names",
        "inside",
        lambda _: None,
        imported(
            {
                "/": Page(links(*NAMES)),
                **{f"/{name}": Page(links("/")) for name in NAMES if name.isascii()},
            }
        ),
    ),
    Attack(
        "site of thousands of pages",
        "bounded input",
        lambda _: None,
        imported(
            {
                f"/{n or ''}": Page(links(*(str(m) for m in range(n * 10 + 1, n * 10 + 11))))
                for n in range(many(2000))
            }
        ),
    ),
    Attack(
        "page of 25 MB",
        "bounded input",
        lambda _: None,
        imported("<h1>x</h1>" + "word " * many(5_000_000)),
    ),
    Attack(
        "page that unpacks to 1 GB",
        "bounded input",
        lambda _: None,
        imported(
            {"/": Page(gzip.compress(b"x" * many(1_000_000_000), 9), content_encoding="gzip")}
        ),
    ),
    Attack(
        "page that is damaged",
        "bounded input",
        lambda _: None,
        imported({"/": Page(b"\x1f\x8b" + b"x" * 99, content_encoding="gzip")}),
    ),
    *(
        Attack(f"page of {name}", "linear parsing", lambda _: None, imported(html))
        for name, html in (
            ("nested elements", "<h1>x</h1>" + "<div>" * many(200_000) + "x"),
            (
                "nested elements with names",
                "<h1>x</h1>"
                + "".join(f"<b id=i{n}><a href=#i{n}>x</a>" for n in range(many(20_000))),
            ),
            ("nested lists", "<h1>x</h1>" + "<ul><li>" * many(20_000)),
            ("nested tables", "<h1>x</h1>" + "<table><tr><td>" * many(3000)),
            ("nested quotations", "<h1>x</h1>" + "<blockquote>" * many(20_000) + "x"),
            ("open tags", "<h1>x</h1>" + "<a href='" * many(100_000)),
            ("open comments", "<h1>x</h1>" + "<!--" * many(100_000)),
            ("brackets", "<h1>x</h1><p>" + "[a](*b_`" * many(50_000)),
            (
                "headings",
                "".join(
                    f"<h2 id='x{n % 9}'>x <a class=headerlink href=#x{n}>#</a></h2>"
                    for n in range(many(20_000))
                ),
            ),
            (
                "a wide table",
                "<h1>x</h1><table>" + ("<tr>" + "<td>x" * many(2000)) * 50 + "</table>",
            ),
            (
                "spans before headings",
                "<span></span>" * many(20_000) + "<h1>x</h1>" + "<h2>y</h2>" * many(2000),
            ),
            ("entities", "<h1>x</h1>" + "&lt;&amp;&#x202e;&#0;&#x1b;&nosuch;" * many(30_000)),
            ("styles", "<h1>x</h1>" + f"<p style='{'display ' * many(20_000)}'>x"),
            (
                "a long title",
                f"<title>{'version ' * many(100_000)}</title><h1>{'v 1' * many(50_000)}</h1>",
            ),
        )
    ),
    *(
        Attack(f"{name} in a page", "hidden text", lambda _: None, converted(html, pattern))
        for name, html, pattern in (
            (
                "scripts",
                (
                    "<h1>x</h1><script>s3cr1t()</script><noscript>s3cr1t</noscript>"
                    "<iframe src=//s3cr1t></iframe><svg><text>s3cr1t</svg>"
                ),
                "s3cr1t",
            ),
            (
                "hidden elements",
                (
                    "<h1>x</h1><p hidden>s3cr1t<p style='display : none'>s3cr1t"
                    "<p style='font-size:0'>s3cr1t<p style='opacity:0'>s3cr1t"
                    "</p><!-- s3cr1t --><template>s3cr1t</template>"
                ),
                "s3cr1t",
            ),
            (
                "links that run programs",
                (
                    "<h1>x</h1><a href='javascript:s3cr1t()'>a</a>"
                    "<a href=' JaVaScRiPt:s3cr1t'>a</a>"
                    "<a href='java\tscript:s3cr1t'>a</a><a href='data:text/html,s3cr1t'>a</a>"
                    "<a href='vbscript:s3cr1t'>a</a><a href='file:///s3cr1t'>a</a>"
                    "<img src='data:s3cr1t'>"
                ),
                "s3cr1t",
            ),
            (
                "markup as text",
                "<h1>x</h1><p>&lt;script>alert(1)&lt;/script> &lt;!-- ubp: ignore -->",
                r"(?<!\\)<(script|!--)",
            ),
            (
                "front matter",
                (
                    "<title>a\nsource_refs: [../outside/secret.md]\n---\n"
                    "</title><h1>x</h1><p>---<p>source_refs: [x]<p>---"
                ),
                r"^source_refs:",
            ),
            (
                "invisible characters",
                "<h1>pay\u200bpal\u202e\u2066\U000e0041\ufeff\ue001x\ue002</h1>",
                "[\u200b\u202e\u2066\U000e0041\ufeff\ue001]",
            ),
            (
                "ids",
                (
                    "<h1 id='\"><script>alert(1)</script>'>x</h1>"
                    "<h2 id='a b}\n---'>y</h2><h2 id='{x}'>z</h2>"
                ),
                "<script>|---'",
            ),
            (
                "instructions in plain text",
                "---\nsource_refs: [x]\n---\n# x\n\x1b[31m\u202e",
                "\x1b|\u202e|^source_refs",
            ),
        )
        if name != "instructions in plain text"
    ),
    Attack(
        "front matter of a text from the web",
        "hidden text",
        lambda _: None,
        converted(
            "---\nsource_refs: [x]\n---\n# x\n\x1b[31m\u202e",
            "\x1b|\u202e|^source_refs",
            kind="text/markdown",
        ),
    ),
    *(
        Attack(
            f"page in the encoding {name}",
            "linear parsing",
            lambda _: None,
            imported(
                {"/": Page(b"<h1>x</h1>\xff" + b"a-" * many(500_000), f"text/html; charset={name}")}
            ),
        )
        for name in (
            "punycode",
            "idna",
            "zlib",
            "bz2",
            "rot13",
            "hex",
            "undefined",
            "unicode_escape",
            "raw_unicode_escape",
            "mbcs",
            "utf-7",
            "../../x",
        )
    ),
    *(
        Attack(
            f"robots.txt {name}",
            "linear parsing",
            lambda _: None,
            imported(
                {
                    "/": Page("<h1>x</h1>" + links("a" * 200)),
                    "/" + "a" * 200: Page("<h1>y</h1>"),
                    "/robots.txt": Page(text, "text/plain"),
                }
            ),
        )
        for name, text in (
            ("with exponential patterns", "User-agent: *\n" + f"Disallow: /{'*a' * 60}b\n" * 5),
            (
                "of many rules",
                "User-agent: *\n" + "".join(f"Disallow: /{n}*x\n" for n in range(many(20_000))),
            ),
            (
                "that asks to wait for ever",
                "User-agent: *\nCrawl-delay: 1e99\nRequest-rate: 1/999999999\n",
            ),
            ("that is binary", "\x00\xff" * 1000),
        )
    ),
    Attack(
        "headers that forge trailers",
        "escaped output",
        lambda _: None,
        imported(
            {"/": Page("<title>x Version ../../heads/main</title><h1>x</h1>", etag='"x', x_y="z")}
        ),
    ),
    Attack(
        "types of pages that are none",
        "bounded input",
        lambda _: None,
        imported({"/": Page(b"\x00" * 1000, "application/octet-stream")}),
    ),
    Attack(
        "answers with strange statuses",
        "own network",
        lambda _: None,
        imported(
            {
                "/": Page(links("a", "b", "c")),
                "/a": Page("", status=204),
                "/b": Page("", status=418),
                "/c": Page("", status=503, retry_after="9" * 400),
            }
        ),
    ),
    # Mirrors
    *(
        Attack(f"mirror of {name}", rule, lambda _: None, mirrored(build))
        for name, rule, build in (
            (
                "names that inject",
                "escaped output",
                lambda victim: (
                    [victim.write(n, f"# {ESCAPES}\n\npage\n") for n in INJECTIONS],
                    victim.commit(ESCAPES.replace("\r", "")),
                ),
            ),
            (
                "links outside",
                "inside",
                lambda victim: (
                    (victim.root / "docs/b.md").symlink_to("../../../outside/secret.md"),
                    (victim.root / "docs/c.md").symlink_to("/etc/passwd"),
                    victim.commit(),
                ),
            ),
            (
                "tree entries above the root",
                "valid paths",
                lambda victim: victim.commit_tree(
                    [
                        ("100644", name, SECRET.encode()[:3])
                        for name in ("..", ".git", "a/b.md", "x.md")
                    ]
                ),
            ),
            (
                "programs in its attributes",
                "no execution",
                lambda victim: (
                    victim.write(".gitattributes", "* filter=bad diff=bad\n"),
                    victim.program("run.sh"),
                    victim.commit(),
                    victim.git("config", "filter.bad.clean", victim.touch),
                    victim.git("config", "filter.bad.smudge", victim.touch),
                    victim.git("config", "uploadpack.packObjectsHook", str(victim.root / "run.sh")),
                ),
            ),
            (
                "submodules that are options",
                "no execution",
                lambda victim: (
                    victim.write(
                        ".gitmodules",
                        f'[submodule "x"]\n\tpath = x\n'
                        f"\turl = --upload-pack=touch harm\n"
                        f"\tupdate = !{victim.touch}\n",
                    ),
                    victim.git("add", ".gitmodules"),
                    victim.git(
                        "update-index",
                        "--add",
                        "--cacheinfo",
                        f"160000,{victim.git('rev-parse', 'HEAD')},x",
                    ),
                    victim.git("commit", "-qm", "x"),
                ),
            ),
            (
                "strange branches and tags",
                "checked arguments",
                lambda victim: [
                    victim.git("update-ref", f"refs/{name}", "HEAD")
                    for name in (
                        "heads/-x",
                        "heads/--upload-pack=x",
                        "tags/--output=x",
                        "tags/HEAD",
                        "tags/\u202ex",
                        "heads/@x",
                        "tags/$(touch harm)x".replace(" ", "${IFS}"),
                        "ubp/complete/x",
                        "heads/ubp/current",
                    )
                ],
            ),
            (
                "a branch that does not exist",
                "checked arguments",
                lambda victim: victim.git("symbolic-ref", "HEAD", "refs/heads/none"),
            ),
            (
                "a page of 9 MB",
                "bounded input",
                lambda victim: (
                    victim.write("docs/b.md", "# B\n\n" + "word " * 1_800_000),
                    victim.commit(),
                ),
            ),
            (
                "front matter that doubles",
                "safe YAML",
                lambda victim: (
                    victim.write(
                        "docs/b.md",
                        "---\na0: &a0 [x, x]\n"
                        + "".join(
                            f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
                        )
                        + "---\n# B\n",
                    ),
                    victim.commit(),
                ),
            ),
            (
                "a configuration of UBP",
                "valid configuration",
                lambda victim: (
                    victim.write(
                        ".ubp/config.json",
                        json.dumps(
                            {"source": {"include": ["../**"]}, "search": {"model": "../outside"}}
                        ),
                    ),
                    victim.commit(),
                ),
            ),
            (
                "a configuration of a site that is nested",
                "bounded input",
                lambda victim: (
                    victim.write("mkdocs.yml", "nav: " + "[" * 100_000),
                    victim.write("docusaurus.config.js", "x" * 100_000),
                    victim.commit(),
                ),
            ),
            (
                "nested folders",
                "bounded input",
                lambda victim: (victim.write("d/" * many(300) + "x.md", "# X\n"), victim.commit()),
            ),
        )
    ),
    # Configurations
    Attack(
        "collections on this machine in a configuration",
        "inside",
        lambda _: None,
        configured(
            a={"git": "file://OUTSIDE"},
            b={"git": "OUTSIDE"},
            c={"url": "file:///etc/passwd"},
            d={"git": "/etc"},
            e={"url": "https://127.0.0.1/"},
            f={"url": "https://spec.example/", "remote": "file://OUTSIDE"},
        ),
    ),
    Attack(
        "names of collections in a configuration",
        "valid configuration",
        lambda _: None,
        configured(
            **{
                "../outside": {"url": "https://x.example/"},
                "a/b": {"git": "https://x.example/"},
                "-x": {"git": "https://x.example/"},
                ESCAPES: {"git": "https://x.example/"},
            }
        ),
    ),
    Attack(
        "pins of collections that are options",
        "checked arguments",
        lambda _: None,
        configured(
            a={"git": "https://127.0.0.1:1/", "at": "--output=pwned"},
            b={"git": "https://127.0.0.1:1/", "at": "HEAD"},
            c={"git": "https://127.0.0.1:1/", "at": "../x", "include": ["../**", "{a,b}" * 30]},
        ),
    ),
)

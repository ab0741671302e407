"""The names in a text: tools, products and projects, by how they are written. Pure.

A name is a repository or package that is linked to, a word with a capital letter inside
(`LangChain`, `SQLite`), an acronym, or a capitalized word within a sentence; in Japanese a word in
katakana (`ラズベリーパイ`, `AIエージェント`), or what stands in 「」. What is common is decided by
the caller, who knows how often a name occurs elsewhere.
"""

import re
import unicodedata
from typing import NamedTuple

# Where software is published, and which part of the path is its name.
_PUBLISHED = re.compile(
    r"https?://(?:www\.)?(?:"
    r"(?:github\.com|gitlab\.com|codeberg\.org)/(?P<owner>[\w.-]+)/(?P<repository>[\w.-]+)"
    r"|pypi\.org/project/(?P<pypi>[\w.-]+)"
    r"|npmjs\.com/package/(?P<npm>@?[\w./-]+)"
    r"|crates\.io/crates/(?P<crate>[\w-]+))"
)
_FORGE_PAGES = frozenset(
    {
        *("about", "apps", "enterprise", "features", "marketplace", "orgs", "settings", "sponsors"),
        *("stars", "topics", "user-attachments", "users"),
    }
)
# No pattern looks for its end beyond a bound: a page may be a million opening brackets.
_NOT_PROSE = re.compile(
    r"(?m)\A---\n(?s:.{0,20000}?)\n---$"
    r"|^ {0,3}(?P<fence>`{3,9}|~{3,9})(?s:.{0,20000}?)^ {0,3}(?P=fence)"
    r"|`[^`\n]{0,500}`|https?://[^\s)>\]]+|<[^<>\n]{0,500}>|^(?:    |\t).*$"
)
# Japanese text has no space beside a Latin word, and no `\b` between the two.
_WORD = re.compile(r"(?<![A-Za-zÀ-ɏ0-9_])[A-Za-z][A-Za-z0-9]*(?![A-Za-zÀ-ɏ0-9_])")
_CAPITALIZED = re.compile(r"(?<=[a-z0-9,;:)\]\"'] )[A-Z][a-z]{2,}\b")
# Words of two (`パン`) and three (`データ`) letters are seldom names.
_KATAKANA = re.compile(
    r"(?<![A-Za-z0-9ァ-ヺー])(?:[A-Za-z0-9]{1,20}[ァ-ヺ][ァ-ヺー]{1,38}|[ァ-ヺ][ァ-ヺー]{3,38}"
    r"|[ァ-ヺ][ァ-ヺー]{1,38}(?=・[ァ-ヺ]))(?:・[ァ-ヺ][ァ-ヺー]{1,38}){0,3}(?![ァ-ヺー])"
)
_QUOTED = re.compile(r"[「『]([^「」『』\s、。!?]{2,20})[」』]")  # of composed text
MAX_NAME = 40
# Words that look like names of tools, and are general terms, languages or places where all are.
GENERAL = frozenset(
    {
        *("ai", "api", "apis", "ascii", "aws", "cd", "ci", "cli", "cpu", "css", "csv", "db", "dom"),
        *("faq", "gpu", "gui", "html", "http", "https", "id", "ide", "io", "ip", "it", "json"),
        *("llm", "ml", "os", "pc", "pdf", "php", "pr", "ram", "rest", "sdk", "sns", "sql", "ssd"),
        *("ssh", "ssl", "svg", "tcp", "tls", "tv", "ui", "uri", "url", "usb", "utf", "ux", "web"),
        *("xml", "yaml", "android", "appstore", "bitbucket", "codeberg", "cpython", "github"),
        *("gitlab", "ipad", "iphone", "ios", "javascript", "linkedin", "macos", "openai", "paypal"),
        *(
            "powershell",
            "stackoverflow",
            "tiktok",
            "typescript",
            "whatsapp",
            "wikipedia",
            "youtube",
        ),
        *("データ", "サービス", "システム", "ソフトウェア", "ツール", "ユーザー", "サーバー"),
        *("プログラム", "アプリケーション", "コンピュータ", "コンピューター", "インターネット"),
    }
)
MIN_ACRONYM, MAX_ACRONYM = 2, 6


def joined_name(name: str) -> str:
    """Return what the spellings of a name have in common: LlamaIndex, llama_index, Llama Index."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    kept = "".join(letter for letter in letters if letter.isalnum() or letter in _SOUND_MARKS)
    return unicodedata.normalize("NFC", kept)


_SOUND_MARKS = "\u3099\u309a"  # of kana, where they are not accents


def is_general(name: str) -> bool:
    """Return whether a name says too little by itself: a general term, a language, a platform."""
    return joined_name(name) in _GENERAL


_GENERAL = frozenset(map(joined_name, GENERAL))


class NamesInText(NamedTuple):
    """The names of a text, as they are written, by themselves in lower case.

    `tools` are published software and words with a capital inside, `words` other capitalized ones:
    also people and months. `japanese` are words in katakana and quoted ones. `repositories` are the
    addresses of linked ones.
    """

    tools: dict[str, str]
    acronyms: dict[str, str]
    words: dict[str, str]
    japanese: dict[str, str]
    repositories: dict[str, str]


def find_names(text: str) -> NamesInText:
    """Return the names in a Markdown text, each once."""
    names = NamesInText({}, {}, {}, {}, {})
    for match in _PUBLISHED.finditer(text):
        owner, repository = match["owner"], match["repository"]
        name = (repository or match["pypi"] or match["npm"] or match["crate"]).removesuffix(".git")
        name = name.rstrip(".,;:")
        if not name or (owner and owner in _FORGE_PAGES):
            continue
        names.tools.setdefault(name.casefold(), name)
        if owner:
            host = match[0].split("/")[2].removeprefix("www.")
            names.repositories.setdefault(name.casefold(), f"https://{host}/{owner}/{name}")
    prose = _NOT_PROSE.sub(" ", text)
    if not prose.isascii():
        composed = unicodedata.normalize("NFKC", prose)
        for name in (*_QUOTED.findall(composed), *_KATAKANA.findall(composed)):
            names.japanese.setdefault(name.casefold(), name)
    _add_latin_names(names, prose)
    return names


def _add_latin_names(names: NamesInText, prose: str) -> None:
    for match in _CAPITALIZED.finditer(prose):
        names.words.setdefault(match[0].casefold(), match[0])
    for match in _WORD.finditer(prose):
        word = match[0]
        if word.islower() or word[1:].islower() or len(word) > MAX_NAME:
            continue
        if word.isupper() or word[:-1].isupper():  # `LLM`, `LLMs`
            word = word.removesuffix("s")
            if MIN_ACRONYM <= len(word) <= MAX_ACRONYM and word.isupper():
                names.acronyms.setdefault(word.casefold(), word)
        elif not word[:3].islower() and word[1:] != word[1:].lower():
            names.tools.setdefault(word.casefold(), word)

"""The words and phrases of a query, and the pieces of CJK runs that no section contains. Pure."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import NamedTuple

from ubp.core.text import identifier_parts, is_cjk, segment_cjk
from ubp.index.match import Phrase


class Term(NamedTuple):
    """A word or a phrase; `parts` are searched for if no section contains it as a whole.

    `is_stemmed`: an English word matches all its forms. `words`: the parts of an identifier, which
    are found in longer identifiers too.
    """

    written: str
    is_prefix: bool = False
    parts: tuple["Term", ...] = ()
    is_stemmed: bool = False
    words: str = ""

    @property
    def is_uniform(self) -> bool:
        """Whether it is CJK of one script: its parts are pairs of characters, not words."""
        return _is_run(self.written) and len(_SCRIPT.findall(self.written)) == 1

    @property
    def phrase(self) -> Phrase:
        """What texts that have the term contain."""
        return Phrase(" ".join(segment_cjk(self.words or self.written).split()), self.is_prefix)


class Lexeme(NamedTuple):
    """A word or phrase as typed, without its quotation marks, star and hyphen."""

    text: str
    is_quoted: bool = False
    is_prefix: bool = False
    is_excluded: bool = False


def normalize_query(text: str) -> str:
    """Normalize widths and typographic quotation marks; drop what SQLite refuses."""
    normalized = unicodedata.normalize("NFKC", text).translate(_TYPOGRAPHIC)
    return normalized.encode("utf-8", "ignore").decode()


def read_lexemes(text: str, *, has_parentheses: bool = False) -> Iterator[Lexeme]:
    """Yield the words of a normalized query with a letter or digit; parentheses as words."""
    pattern = _WITH_PARENTHESES if has_parentheses else _LEXEME
    for match in pattern.finditer(text):
        is_quoted = match["phrase"] is not None
        word = match["phrase"] if is_quoted else match["word"]
        is_prefix = bool(match["star"]) if is_quoted else word.endswith("*")
        lexeme = Lexeme(word, is_quoted, is_prefix, bool(match["minus"]))
        if has_parentheses and word in {"(", ")"} and not is_quoted:
            yield lexeme
        elif stripped := _strip(word):
            yield lexeme._replace(text=stripped)


def whole_term(lexeme: Lexeme) -> Term:
    """Return a lexeme as one term. Quoted, excluded and prefix terms are never cut."""
    if lexeme.is_quoted or lexeme.is_prefix or lexeme.is_excluded:
        return Term(lexeme.text, lexeme.is_prefix)
    parts = _split_scripts(lexeme.text)
    return parts[0] if len(parts) == 1 else Term(lexeme.text, parts=parts)


def stemmed(term: Term) -> Term:
    """Return the term for all forms of its words."""
    return term._replace(is_stemmed=True, parts=tuple(map(stemmed, term.parts)))


def terms_of(lexeme: Lexeme) -> tuple[Term, ...]:
    """Return the terms of a lexeme in a query of words joined by OR.

    An identifier in camel case is also found by its parts: `getUser` in `getUserById`.

    If it mixes scripts (OAuthの設定), a section that contains it as a whole ranks first, and one
    that contains any part of it matches.
    """
    term = whole_term(lexeme)
    is_plain = lexeme.text.isascii() and not (lexeme.is_quoted or lexeme.is_prefix)
    if is_plain and (parts := identifier_parts(f"`{lexeme.text}`")):
        return (term, *(Term(lexeme.text, words=words) for words in parts))
    if _is_run(term.written) or not term.parts or len(_split_scripts(term.written)) == 1:
        return (term,)
    return (term._replace(parts=()), *term.parts)


def _strip(word: str) -> str:
    """Return the word from its first letter or digit to its last; empty if it has none."""
    places = [index for index, character in enumerate(word) if character.isalnum()]
    return word[places[0] : places[-1] + 1] if places else ""


def _split_scripts(text: str) -> tuple[Term, ...]:
    """Return the CJK runs of a word and the parts between them."""
    groups = ("".join(group) for _, group in groupby(text, is_cjk))
    pieces = [piece for group in groups if (piece := _strip(group))]
    return tuple(
        Term(piece, parts=tuple(_cut_run(piece) if _is_run(piece) else _cut_at_punctuation(piece)))
        for piece in _drop_hiragana(pieces)
    )


def _drop_hiragana(pieces: list[str]) -> list[str]:
    """Return the pieces without those of hiragana only, unless there are no others.

    Most of them are particles and endings. For 89.0 % of 300 questions of JSQuAD the right
    paragraph comes first, with them for 87.7 % (mean reciprocal rank 0.927 and 0.916).
    """
    return [piece for piece in pieces if not _HIRAGANA.fullmatch(piece)] or pieces


def _is_run(text: str) -> bool:
    return all(map(is_cjk, text))


def _cut_at_punctuation(text: str) -> list[Term]:
    """Return the words of a text; a number with dots is one, with parts of its own."""
    words = _PIECE.findall(text)
    if len(words) > 1:
        return [Term(word, parts=tuple(_versions(word))) for word in words]
    return list(_versions(text))


def _versions(text: str) -> Iterator[Term]:
    """Yield what `v1.2.3` and `1.2.3` are written as, too; without that, its series (`1.2`).

    Four numbers are an address, not a version.
    """
    if match := _VERSION.fullmatch(text):
        number = match["number"]
        series = number.rpartition(".")[0]
        is_release = "." in series
        parts = (Term(series),) if is_release else ()
        yield Term(number if match["v"] else f"v{number}", parts=parts)


def _cut_run(run: str) -> list[Term]:
    pieces = [match[0] for match in _SCRIPT.finditer(run)]
    if len(pieces) == 1:
        return _bigrams(run)
    return [Term(piece, parts=tuple(_bigrams(piece))) for piece in _drop_hiragana(pieces)]


def _bigrams(run: str) -> list[Term]:
    return [Term(a + b) for a, b in pairwise(run)] if len(run) > 2 else []  # noqa: PLR2004  # a bigram is not cut


_TYPOGRAPHIC = dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u00ab\u00bb"), '"') | {0: " "}
_BODY = r"""(?P<minus>(?<![^\s(])-(?=["\w]))?(?:"(?P<phrase>[^"]*)"(?P<star>\*)?|(?P<word>%s))"""
_LEXEME = re.compile(_BODY % r'[^\s"]+')
_WITH_PARENTHESES = re.compile(_BODY % r'[()]|[^\s"()]+')
_PIECE = re.compile(r"[^\W_]*\d(?:\.\d+)+(?![^\W_]|\.\d)|[^\W_]+")
_VERSION = re.compile(r"(?P<v>[vV]?)(?P<number>\d+(?:\.\d+){1,2})")
_HIRAGANA = re.compile("[\u3041-\u309f\u30fc]+")
# A long vowel or repetition mark belongs to the script before it.
_SCRIPT = re.compile(
    "[\u3041-\u309f][\u3041-\u309f\u30fc]*|[\u30a0-\u30ff\u31f0-\u31ff]+|[^\u3041-\u30ff\u31f0-\u31ff]+"
)

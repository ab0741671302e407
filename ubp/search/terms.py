"""Words and phrases of a query, and what a run is cut into that no section holds whole. Pure."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import NamedTuple

from ubp.core.text import is_cjk, segment_cjk


class Term(NamedTuple):
    """A word or a phrase; `parts` are looked for where no section holds it whole.

    `is_stemmed`: an English word stands for all its forms.
    """

    written: str
    is_prefix: bool = False
    parts: tuple["Term", ...] = ()
    is_stemmed: bool = False

    @property
    def is_uniform(self) -> bool:
        """Whether it is CJK of one script: its parts are no words, but pairs of characters."""
        return _is_run(self.written) and len(_SCRIPT.findall(self.written)) == 1

    @property
    def expression(self) -> str:
        """The term in FTS5's language."""
        phrase = f'"{" ".join(segment_cjk(self.written).split())}"'
        return f"{phrase} *" if self.is_prefix else phrase


class Lexeme(NamedTuple):
    """A word as it is typed, without its quotation marks, star and hyphen."""

    text: str
    is_quoted: bool = False
    is_prefix: bool = False
    is_excluded: bool = False


def fold_query(text: str) -> str:
    """Fold widths, take typographic quotation marks for plain ones, drop what SQLite refuses."""
    folded = unicodedata.normalize("NFKC", text).translate(_TYPOGRAPHIC)
    return folded.encode("utf-8", "ignore").decode()


def read_lexemes(text: str, *, has_parentheses: bool = False) -> Iterator[Lexeme]:
    """The words of a folded query that hold something to look for; parentheses as words."""
    pattern = _WITH_PARENTHESES if has_parentheses else _LEXEME
    for match in pattern.finditer(text):
        is_quoted = match["phrase"] is not None
        word = match["phrase"] if is_quoted else match["word"]
        is_prefix = bool(match["star"]) if is_quoted else word.endswith("*")
        lexeme = Lexeme(word, is_quoted, is_prefix, bool(match["minus"]))
        if has_parentheses and word in {"(", ")"} and not is_quoted:
            yield lexeme
        elif core := _core(word):
            yield lexeme._replace(text=core)


def whole_term(lexeme: Lexeme) -> Term:
    """A lexeme as one term. What is quoted, excluded or a prefix is never cut."""
    if lexeme.is_quoted or lexeme.is_prefix or lexeme.is_excluded:
        return Term(lexeme.text, lexeme.is_prefix)
    parts = _glued(lexeme.text)
    return parts[0] if len(parts) == 1 else Term(lexeme.text, parts=parts)


def stemmed(term: Term) -> Term:
    """The same term for all forms of its words."""
    return term._replace(is_stemmed=True, parts=tuple(map(stemmed, term.parts)))


def terms_of(lexeme: Lexeme) -> tuple[Term, ...]:
    """A lexeme's terms among others, joined by OR.

    Where scripts are glued together (OAuthの設定) a section that holds them so ranks first, and
    one that holds either of them is a hit.
    """
    term = whole_term(lexeme)
    if _is_run(term.written) or not term.parts or len(_glued(term.written)) == 1:
        return (term,)
    return (term._replace(parts=()), *term.parts)


def _core(word: str) -> str:
    """The word from its first letter or digit to its last; empty where it has none."""
    kept = [index for index, character in enumerate(word) if character.isalnum()]
    return word[kept[0] : kept[-1] + 1] if kept else ""


def _glued(text: str) -> tuple[Term, ...]:
    """The CJK runs of a word and what stands between them."""
    groups = ("".join(group) for _, group in groupby(text, is_cjk))
    return tuple(map(_cuttable, _telling([core for group in groups if (core := _core(group))])))


def _telling(pieces: list[str]) -> list[str]:
    """The pieces but for those of hiragana alone, unless there is nothing else.

    Most of them are particles and endings. Of 300 questions of JSQuAD the right paragraph comes
    first for 89.0 % so, for 87.7 % with them (mean reciprocal rank 0.927 and 0.916).
    """
    return [one for one in pieces if not _HIRAGANA.fullmatch(one)] or pieces


def _cuttable(text: str) -> Term:
    cut = _cut_run if _is_run(text) else _cut_at_punctuation
    return Term(text, parts=tuple(cut(text)))


def _is_run(text: str) -> bool:
    return all(map(is_cjk, text))


def _cut_at_punctuation(text: str) -> list[Term]:
    words = _WORD.findall(text)
    return [Term(word) for word in words] if len(words) > 1 else []


def _cut_run(run: str) -> list[Term]:
    pieces = [match[0] for match in _SCRIPT.finditer(run)]
    if len(pieces) == 1:
        return _bigrams(run)
    return [Term(piece, parts=tuple(_bigrams(piece))) for piece in _telling(pieces)]


def _bigrams(run: str) -> list[Term]:
    return [Term(a + b) for a, b in pairwise(run)] if len(run) > 2 else []  # noqa: PLR2004


_TYPOGRAPHIC = dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u00ab\u00bb"), '"') | {0: " "}
_BODY = r"""(?P<minus>(?<![^\s(])-(?=["\w]))?(?:"(?P<phrase>[^"]*)"(?P<star>\*)?|(?P<word>%s))"""
_LEXEME = re.compile(_BODY % r'[^\s"]+')
_WITH_PARENTHESES = re.compile(_BODY % r'[()]|[^\s"()]+')
_WORD = re.compile(r"[^\W_]+")
_HIRAGANA = re.compile("[\u3041-\u309f\u30fc]+")
# A long vowel or a repetition goes on in the script before it.
_SCRIPT = re.compile(
    "[\u3041-\u309f][\u3041-\u309f\u30fc]*|[\u30a0-\u30ff\u31f0-\u31ff]+|[^\u3041-\u30ff\u31f0-\u31ff]+"
)

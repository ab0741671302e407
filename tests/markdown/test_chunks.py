"""Chunks: split where they are long, joined where they are short."""

from ubp.core.model import Chunk
from ubp.markdown.chunks import MAX_TOKENS, MIN_TOKENS
from ubp.markdown.parse import parse_markdown


def _chunks(text: str) -> tuple[Chunk, ...]:
    return parse_markdown(text.encode()).chunks


def _texts(text: str) -> list[str]:
    data = text.encode()
    return [data[chunk.byte_start : chunk.byte_end].decode() for chunk in _chunks(text)]


def _words(count: int, word: str = "word") -> str:
    return " ".join([word] * count)


LONG, MIDDLE, SHORT = _words(150), _words(60), _words(5)  # 195, 78 and 7 tokens


def test_section_of_medium_length_is_one_chunk() -> None:
    text = f"## A\n\n{MIDDLE}\n\n{MIDDLE}\n\n## B\n\n{MIDDLE}\n"

    assert _chunks(text) == (
        Chunk(0, 1, 5, 0, 606, 159),
        Chunk(1, 7, 9, 608, 913, 81),
    )


def test_long_section_is_split_between_paragraphs() -> None:
    text = f"## A\n\n{LONG}\n\n{LONG}\n\n{MIDDLE}\n"

    assert _texts(text) == [f"## A\n\n{LONG}", LONG, MIDDLE]
    assert [chunk.section for chunk in _chunks(text)] == [0, 0, 0]


def test_short_paragraphs_share_a_chunk() -> None:
    first, second = f"## A\n\n{MIDDLE}\n\n{MIDDLE}\n\n{MIDDLE}", f"{MIDDLE}\n\n{MIDDLE}"

    assert _texts(f"{first}\n\n{second}") == [first, second]


def test_heading_inside_a_section_stays_with_the_text_after_it() -> None:
    first, second = f"## A\n\n{LONG}", f"#### Deep\n\n{LONG}"

    assert _texts(f"{first}\n\n{second}") == [first, second]


def test_long_block_is_split_at_lines() -> None:
    lines = [_words(40)] * 8  # 52 tokens each
    text = "```\n" + "\n".join(lines) + "\n```"

    assert _texts(text) == [
        "\n".join(["```", *lines[:4]]),
        "\n".join([*lines[4:], "```"]),
    ]


def test_long_line_is_split_at_sentences() -> None:
    english = f"{_words(100)}. {_words(90)}? {_words(80)}."
    japanese = "あ" * 200 + "。" + "い" * 200 + "。「" + "う" * 50 + "。」"

    assert _texts(english) == [f"{_words(100)}. {_words(90)}?", f"{_words(80)}."]
    assert _texts(japanese) == ["あ" * 200 + "。", "い" * 200 + "。「" + "う" * 50 + "。」"]


def test_long_sentence_is_split_between_words() -> None:
    for text in (_words(1000), "漢" * 1000, "漢字word " * 300):
        assert all(0 < chunk.token_count <= MAX_TOKENS for chunk in _chunks(text))
        assert "".join(_texts(text)).replace(" ", "") == text.replace(" ", "")


def test_long_word_is_never_split() -> None:
    assert _texts("x" * 100_000) == ["x" * 100_000]


def test_short_section_joins_the_previous_chunk() -> None:
    text = f"## A\n\n{MIDDLE}\n\n## B\n\n{SHORT}\n\n## C\n\n{MIDDLE}"

    assert _texts(text) == [f"## A\n\n{MIDDLE}\n\n## B\n\n{SHORT}", f"## C\n\n{MIDDLE}"]
    assert [chunk.section for chunk in _chunks(text)] == [0, 2]


def test_short_first_section_joins_the_next_chunk_and_takes_its_heading() -> None:
    text = f"# Title\n\n{SHORT}\n\n## A\n\n{MIDDLE}"

    assert _texts(text) == [text]
    assert [chunk.section for chunk in _chunks(text)] == [1]


def test_joined_sections_stay_within_the_limit() -> None:
    text = "\n\n".join(f"## Term {number}\n\n{SHORT}" for number in range(200))
    counts = [chunk.token_count for chunk in _chunks(text)]

    assert all(MIN_TOKENS <= count <= MAX_TOKENS + MIN_TOKENS for count in counts)


def test_tokens_count_cjk_characters_and_other_words() -> None:
    def tokens(text: str) -> int:
        (chunk,) = _chunks(text)
        return chunk.token_count

    assert tokens("one two three four five six seven eight nine ten") == 13
    assert tokens("認証フロー。") == 6
    assert tokens("한국어 テスト mixed") == 8  # 3 + 3 + 1.3, rounded up

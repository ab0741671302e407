"""Texts after incremental edits, compared with a client that keeps UTF-16 code units."""

import random

import pytest

from ubp.lsp.text import Place, Text

LETTERS = ["a", "é", "日", "😀", "\u2028", "\x0c", "\x85", "\n", "\r\n", "\r", "x\n", " "]


class CodeUnits:
    """A text as JavaScript has it: a list of UTF-16 code units, lines found by the protocol."""

    def __init__(self, text):
        data = text.encode("utf-16-le")
        self.units = [data[i : i + 2] for i in range(0, len(data), 2)]

    @property
    def text(self):
        return b"".join(self.units).decode("utf-16-le")

    def lines(self):
        """The start and the end of each line, without its line end."""
        spans, start, i = [], 0, 0
        cr, lf = b"\r\x00", b"\n\x00"
        while i < len(self.units):
            if self.units[i] in {cr, lf}:
                spans.append((start, i))
                i += self.units[i] == cr and self.units[i + 1 : i + 2] == [lf]
                start = i + 1
            i += 1
        return [*spans, (start, len(self.units))]

    def place(self, chance):
        """A random place between whole characters."""
        lines = self.lines()
        line = chance.randrange(len(lines))
        start, end = lines[line]
        column = chance.randint(0, end - start)
        if start + column < len(self.units) and 0xDC <= self.units[start + column][1] <= 0xDF:
            column -= 1
        return line, column

    def replace(self, first, last, text):
        lines = self.lines()
        start, end = (lines[line][0] + column for line, column in (first, last))
        self.units[start:end] = CodeUnits(text).units


def test_text_after_random_edits_equals_that_of_the_client():
    chance = random.Random(18)
    client = CodeUnits("# 見出し\r\n😀 text\n")
    server = Text(client.text)
    for _ in range(1500):
        first, last = sorted(client.place(chance) for _ in range(2))
        if len(client.units) < 300 and chance.random() < 0.7:
            last = first
        text = "".join(chance.choices(LETTERS, k=chance.randint(0, 6)))
        client.replace(first, last, text)
        server = server.replace(Place(*first), Place(*last), text)
        assert server.text == client.text


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 7), ("utf-16", 3), ("utf-32", 2)])
def test_column_is_counted_in_the_negotiated_units(encoding, column):
    text = Text("x\nあ😀b\n", encoding)
    assert text.place(4) == Place(1, column)
    assert text.offset(Place(1, column)) == 4
    assert text.place_at(1, 2) == Place(1, column)


def test_place_beyond_line_or_text_is_its_end():
    text = Text("ab\r\ncd")
    assert text.offset(Place(0, 99)) == 2
    assert text.offset(Place(7, 0)) == 6
    assert text.offset(Place(1, 99)) == 6


def test_place_within_surrogate_pair_is_before_it():
    assert Text("😀").offset(Place(0, 1)) == 0

"""Names in sources: whatever the language, what it defines, uses and names is found."""

import pytest

from ubp.code.names import MAX_BYTES, NO_NAMES, read_names


@pytest.mark.parametrize(
    ("source", "defined"),
    [
        ("def load_it(self):\n    async def inner():\n", {"load_it", "inner"}),
        ("class Session(Base):\n    limit: int = 3\n", {"Session"}),
        ("MOST_TRIES = 5\nmost_tries == 5\n", {"MOST_TRIES"}),
        ("func (s *Store) Open() error {\ntype Store struct {\n", {"Open", "Store"}),
        ("pub fn parse(a: u8) {}\nlet mut total = 1;\n", {"parse", "total"}),
        ("export const useAuth = () => {}\n", {"useAuth"}),
        ("  public static int total(int a) {\n", {"total"}),
        ("CREATE TABLE IF NOT EXISTS user_notes (\n", {"user_notes"}),
        ("deploy_all() {\n", {"deploy_all"}),
        ("services:\n  web:\n    image: x\n", {"services", "web"}),
        ("[package]\nname = 'x'\n", {"package", "name"}),
    ],
)
def test_definitions_in_many_languages_are_found(source, defined):
    assert read_names(source.encode()).defined == defined


def test_uses_include_definitions_and_distinguish_paths():
    names = read_names("# See docs/認証.md and guide.md.\ndef go(): open_it()\n".encode())
    assert names.paths == {"docs/認証.md", "guide.md"}
    assert names.used == {"See", "docs", "and", "guide", "def", "open_it"}
    assert names.defined == frozenset()  # names of two letters are skipped


def test_binary_file_has_no_names_and_a_huge_one_those_of_its_beginning():
    assert read_names(b"def go_on():\0") == NO_NAMES
    assert read_names(b"aaa " + b" " * MAX_BYTES + b"bbb").used == {"aaa"}


def test_hostile_sources_are_read_in_linear_time():
    for hostile in (b"def ", b"pub ", b"a/", b"x", b"[", b"fn ("):
        assert len(read_names(hostile * 100_000).defined) <= 1

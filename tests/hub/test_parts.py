"""Definitions and sections are compared by digests as UBP compares them by their text."""

from ubp.hub.parts import is_same_part

OLD = """
class Session:
    def login(self):
        return 1

def charge(amount):
    # old comment
    return amount

def refund(amount):
    return -amount
"""
NEW = OLD.replace("return amount\n", "return amount + 1\n", 1).replace("old comment", "comment")


def blobs(repository, hub, path, *texts):
    found = []
    for text in texts:
        repository.write(path, text)
        repository.commit()
        hub.push(repository)
        found.append(repository.blob(path))
    return found


def same(hub, old, new, path, fragment):
    with hub.database.connection() as connection:
        return is_same_part(connection, 1, (old, new), path, fragment)


def test_changed_symbol_differs_and_the_others_do_not(repository, hub):
    old, new = blobs(repository, hub, "src/pay.py", OLD, NEW)
    assert same(hub, old, new, "src/pay.py", "charge") is False
    assert same(hub, old, new, "src/pay.py", "refund") is True
    assert same(hub, old, new, "src/pay.py", "Session.login") is True
    assert same(hub, old, new, "src/pay.py", "login") is True
    assert same(hub, old[:10], new, "src/pay.py", "Session::login()") is True


def test_removed_and_unknown_parts(repository, hub):
    old, new = blobs(repository, hub, "src/pay.py", OLD, "def charge(amount):\n    return 1\n")
    assert same(hub, old, new, "src/pay.py", "refund") is False
    assert same(hub, old, new, "src/pay.py", "never_there") is True
    assert same(hub, "0" * 40, new, "src/pay.py", "charge") is None


def test_sections_are_found_by_id_slug_and_heading(repository, hub):
    page = "# A\n\n## Token life\n\nOld text.\n\n## Other {#own}\n\nMore.\n"
    old, new = blobs(repository, hub, "docs/a.md", page, page.replace("Old", "New"))
    assert same(hub, old, new, "docs/a.md", "Token life") is False
    assert same(hub, old, new, "docs/a.md", "token-life") is False
    assert same(hub, old, new, "docs/a.md", "own") is True

"""When a text came into a file."""

from ubp.git.additions import commit_before, files_with_name, find_addition


def test_addition_is_the_first_commit_that_added_the_text_across_renames(repository, open_at):
    repository.write("docs/a.md", "# Page\n\nIt has much text.\n")
    repository.commit()
    repository.write("docs/a.md", "# Page\n\nIt has much text.\n\n`fetch_page`\n")
    added = repository.commit()
    date = repository.clock
    repository.git("mv", "docs/a.md", "docs/b.md")
    repository.commit()
    repository.write("docs/b.md", "# Page\n\nIt has much text.\n\n`fetch_page`, `fetch_page`\n")
    head = repository.commit()
    opened = open_at(repository.root)
    assert find_addition(opened, head, "docs/b.md", "fetch_page") == (added, date)
    assert find_addition(opened, head, "docs/b.md", "other_name") is None


def test_addition_by_the_first_commit_is_found_whatever_the_configuration_of_log(
    repository, open_at
):
    repository.write("docs/a.md", "`fetch_page`\n")
    head = repository.commit()
    repository.write(".gitattributes", "*.md diff=shout\n")
    repository.git("config", "diff.shout.textconv", "echo; touch textconv; true")
    repository.git("config", "log.showRoot", "false")
    repository.git("config", "log.showSignature", "true")
    found = find_addition(open_at(repository.root), head, "docs/a.md", "fetch_page")
    assert (found.commit if found else None) == head
    assert not (repository.root / "textconv").exists()


def test_addition_where_a_shallow_clone_ends_is_unknown(repository, new_repository, open_at):
    repository.write("docs/a.md", "`fetch_page`\n")
    repository.commit()
    repository.write("docs/b.md", "text\n")
    repository.commit()
    clone = new_repository("clone")
    clone.git("fetch", "-q", "--depth=1", f"file://{repository.root}", "main:cut")
    head = clone.git("rev-parse", "cut")
    assert find_addition(open_at(clone.root), head, "docs/a.md", "fetch_page") is None


def test_files_with_a_name_have_any_of_its_spellings_as_a_whole_word(repository, open_at):
    for number, text in enumerate(("fetchPage", "--fetch-page", "FETCH_PAGE=", "prefetch_pages")):
        repository.write(f"src/{number}.py", f"{text}\n")
    head = repository.commit()
    opened = open_at(repository.root)
    files = ["src/0.py", "src/1.py", "src/2.py"]
    assert files_with_name(opened, head, ["fetch", "page"]) == files
    assert files_with_name(opened, head, ["no", "such"]) == []


def test_files_with_some_suffixes_are_not_searched_for_a_name(repository, open_at):
    for name in ("a.py", "a.md", "docs/B.MD", "amd", "x.md.py"):
        repository.write(name, "fetchPage\n")
    head = repository.commit()
    found = files_with_name(open_at(repository.root), head, ["fetch", "page"], ["md", "rst"])
    assert found == ["a.py", "amd", "x.md.py"]


def test_commit_before_a_date_is_the_newest_that_is_older(repository, open_at):
    repository.write("a.py", "1\n")
    first = repository.commit()
    date = repository.clock
    repository.write("a.py", "2\n")
    head = repository.commit()
    opened = open_at(repository.root)
    assert commit_before(opened, head, date) == first
    assert commit_before(opened, head, date - 1) is None

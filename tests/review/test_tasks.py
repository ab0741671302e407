"""Commands of pages whose task a change removes."""

import pytest

from ubp.index.session import Session, Target
from ubp.review.run import Extent, review_change
from ubp.review.tasks import find_command, find_tasks, runner_of


@pytest.fixture
def lost(repository):
    """The commands of a page that have nothing to run after a change of a file."""

    def find(path, before, after, page, others=()):
        repository.write(path, before)
        repository.write("docs/building.md", page)
        for other, text in others:
            repository.write(other, text)
        repository.commit()
        repository.write(path, after)
        repository.git("add", "--all")
        with Session.open(str(repository.root)) as session:
            cases = review_change(session, Target(staged=True), (), Extent(None)).cases
        return [
            (reason.line, reason.names[0].name)
            for case in cases
            for reason in case.reasons
            if reason.text.endswith("no other file has it.")
        ]

    return find


MAKEFILE = ".PHONY: assets\nassets: $(OUT)\n\t@pack\n\nbuild:\n\tgo build\n"


def test_command_without_a_task_is_a_case(lost):
    after = MAKEFILE.replace("assets", "packed")
    assert lost("Makefile", MAKEFILE, after, "# A\n\nRun `make assets`.\n") == [(3, "make assets")]


@pytest.mark.parametrize(
    ("path", "text", "tasks"),
    [
        ("Makefile", MAKEFILE, {"assets", "build"}),
        ("Makefile", "a.out b.out: c.in\nX := 1\n", {"a.out", "b.out"}),
        ("justfile", "x := '1'\npack all='':\n  pack\n", {"pack"}),
        ("Taskfile.yml", "tasks:\n  lint:\n    cmds:\n", {"lint"}),
        ("web/package.json", '{"scripts": {"lint": "x"}}', {"lint"}),
        ("web/package.json", '{"scripts": ', set()),
    ],
)
def test_tasks_of_a_file(path, text, tasks):
    assert find_tasks(runner_of(path), text.encode()) == tasks


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("Makefile", "`make -C web X=1 lint`"),
        ("Makefile", "```\n$ make build lint  # all\n```"),
        ("justfile", "`just lint`"),
        ("Taskfile.yml", "`task lint`"),
        ("package.json", "`npm run lint`"),
        ("package.json", "`pnpm lint`"),
    ],
)
def test_command_that_runs_a_task_is_found(path, page):
    line = 2 if "\n" in page else 1
    assert find_command(page, runner_of(path), "lint")[0] == line


@pytest.mark.parametrize("page", ["We make lint.", "`make lint-all`", "`cmake lint`", "`make x`"])
def test_other_commands_and_prose_are_not_found(page):
    assert find_command(page, runner_of("Makefile"), "lint") is None


@pytest.mark.parametrize(
    ("after", "others"),
    [
        ("include tools.mk\n", [("tools.mk", "assets:\n\tpack\n")]),
        ("ALL = build assets\n$(ALL):\n\tpack $@\n", []),
        ("asset%:\n\tpack $@\n", []),
    ],
)
def test_task_that_another_file_or_rule_has_is_not_lost(lost, after, others):
    assert lost("Makefile", MAKEFILE, after, "Run `make assets`.\n", others) == []

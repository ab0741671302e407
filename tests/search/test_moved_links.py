"""After any change, the links equal those of a new index."""

import shutil
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

PATHS = (
    "a.md",
    "b.md",
    "docs/a.md",
    "docs/README.md",
    "docs/deep/b.md",
    "docs/deep/index.md",
    "c.txt",
    "docs/A.md",
)
LINKS = (
    "[[a]]",
    "[[b#One]]",
    "[[docs/a]]",
    "[[One]]",
    "[[alias]]",
    "[x](a.md)",
    "[x](docs/)",
    "[x](deep/b.md#one)",
    "[x](/docs/a.md)",
    "[x](../c.txt)",
    "[x](..)",
    "[[c.txt]]",
    "[[deep]]",
    "[x](#two)",
    "![[README]]",
)
PAGES = st.builds(
    lambda title, alias, heading, links: (
        f"---\n{title}{alias}x: 1\n---\ntext\n\n## {heading}\n\n" + "\n".join(links) + "\n"
    ),
    st.sampled_from(["", "title: One\n", "title: Two\n", "title: alias\n"]),
    st.sampled_from(["", "aliases: [alias]\n", "aliases: [One]\n"]),
    st.sampled_from(["One", "Two"]),
    st.lists(st.sampled_from(LINKS), max_size=6),
)
# A page that is only reworded has the same links, names and anchors, in other places.
REWORDED = "more\n"
# What becomes of some files (None: deleted), and where that is done.
STEPS = st.lists(
    st.tuples(
        st.dictionaries(
            st.sampled_from(PATHS), st.none() | PAGES | st.just(REWORDED), min_size=1, max_size=4
        ),
        st.sampled_from(["commit", "stage", "leave"]),
    ),
    min_size=2,
    max_size=4,
)


@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(STEPS)
def test_links_moved_step_by_step_equal_those_found_at_once(new_repository, contents_of, steps):
    repository = new_repository(f"project{next(NUMBERS)}")
    repository.write("x", "y")
    first = repository.commit()
    for files, how in steps:
        for path, content in files.items():
            file = repository.root / path
            if content == REWORDED and file.exists():
                before = file.read_text("utf-8")
                repository.write(path, before.replace("text\n", f"{REWORDED}text\n"))
            elif content is not None:
                repository.write(path, content)
            elif file.exists():
                repository.remove(path)
        if how != "leave":
            repository.git("add", "--all")
        if how == "commit":
            repository.commit()
        for question in ({}, {"staged": True}, {"ref": first}, {"ref": "HEAD"}):
            assert contents_of(repository.root, **question) == contents_of(
                repository.root, anew=True, **question
            ), question
    shutil.rmtree(Path(repository.root))


NUMBERS = iter(range(10_000))

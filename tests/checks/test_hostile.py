"""Pages that were made to be slow to check."""

import time

LINKS = 20_000


def test_tens_of_thousands_of_broken_links_are_found_in_seconds(repository, check):
    repository.write("b.md", "# B\n\n" + "".join(f"## Heading {n}\n\n" for n in range(2_000)))
    repository.write("a.md", " ".join(f"[x](b.md#no-{n}) [[b#No {n}]]" for n in range(LINKS // 2)))
    repository.write("c.md", " ".join(f"[x](no/{n}.md) [[no/{n}]]" for n in range(LINKS // 2)))
    # Two of three links of each form lead somewhere, so that the others are findings.
    repository.write("d.md", "[x](b.md#heading-1) [[b#Heading 1]] " * LINKS)
    for n in range(300):
        repository.write(f"old/{n}.md", f"{n}\n")
    repository.commit()
    repository.git("mv", "old", "new")
    started = time.process_time()
    report = check(repository)
    assert time.process_time() - started < 60  # quadratic work takes longer
    assert len(report.findings) == 2 * LINKS

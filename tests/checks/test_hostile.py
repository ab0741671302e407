"""Pages that were made to be slow to check."""

import time

LINKS = 20_000


def write_broken_links(repository, links):
    repository.write("b.md", "# B\n\n" + "".join(f"## Heading {n}\n\n" for n in range(2_000)))
    repository.write("a.md", " ".join(f"[x](b.md#no-{n}) [[b#No {n}]]" for n in range(links // 2)))
    repository.write("c.md", " ".join(f"[x](no/{n}.md) [[no/{n}]]" for n in range(links // 2)))
    # Two of three links of each form lead somewhere, so that the others are findings.
    repository.write("d.md", "[x](b.md#heading-1) [[b#Heading 1]] " * links)
    for n in range(300):
        repository.write(f"old/{n}.md", f"{n}\n")
    repository.commit()
    repository.git("mv", "old", "new")


def test_tens_of_thousands_of_broken_links_are_found_in_linear_time(new_repository, check):
    seconds = []
    for links in (LINKS // 4, LINKS):
        repository = new_repository(str(links))
        write_broken_links(repository, links)
        started = time.process_time()
        report = check(repository)
        seconds.append(time.process_time() - started)
        assert len(report.findings) == 2 * links
    assert seconds[1] < 6 * seconds[0]  # quadratic work takes 16 times as long

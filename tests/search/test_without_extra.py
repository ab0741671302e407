"""`pip install ubp` alone searches by words and links, and names the extra for meaning."""

import re
import subprocess
import sys

from ubp.core.installation import install_command

PROGRAM = """
import sys
sys.modules["numpy"] = sys.modules["model2vec"] = None
from ubp.__main__ import main
for mode in ("fulltext", "hybrid", "semantic"):
    print(main(["search", "--mode", mode, "--no-content", "token"]))
"""


def test_search_without_the_extra_uses_words_and_links_and_names_the_install_command(repository):
    repository.write("a.md", "A token, see [b](b.md).\n")
    repository.write("b.md", "Another page.\n")
    repository.commit()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=repository.root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.sub(r"score: [\d.]+", "score: #", done.stdout) == (
        'Results for "token" (1 page):\n\n1. a.md:1  score: #\n   Holds “token”.\n\n0\n'
        'Results for "token" (2 pages):\n\n1. a.md:1  score: #\n   Holds “token”.\n\n'
        "2. b.md:1  score: #\n   A token, see [b](b.md).\n   Linked from a (a.md).\n\n"
        "Keyword and link search only: UBP was installed without the `full` extra.\n"
        f"Hint: Install it: {install_command('full')}\n0\n"
        "2\n"
    )
    assert done.stderr == (
        "Error: This needs an embedding model, but the libraries to run it are not installed.\n"
        "  Cause: UBP was installed without the `full` extra.\n"
        f"  Hint: Install it: {install_command('full')}\n"
    )

"""All attacks: those on repositories, run one by one, and those on servers that are running.

The tests make those on repositories and servers, pages all in one repository, and of the others
every fifth; benchmarks/robustness/hostile.py makes all, one by one.
"""

from attacks import BY_CLIENTS, ON_REPOSITORIES, Attack, Unharmed, Written, unharmed
from collection_attacks import COLLECTIONS
from editor_attacks import BY_EDITORS
from http_attacks import ON_HTTP
from proposal_attacks import PROPOSALS
from repository_attacks import AMONG_REPOSITORIES
from source_attacks import SOURCES
from victim import Victim

SURFACES = (*PROPOSALS, *COLLECTIONS, *SOURCES)
ATTACKS = (*ON_REPOSITORIES, *SURFACES)


def is_page(attack: Attack) -> bool:
    """Return whether an attack is a page that may be beside others."""
    is_written = isinstance(attack.build, Written) and attack.build.path in {
        "docs/b.md",
        "docs/bad.md",
    }
    return is_written and isinstance(attack.judge, Unharmed)


def pages_together() -> Attack:
    """Return the attacks by single pages as one: all pages, and all questions about them."""
    attacks = [attack for attack in ON_REPOSITORIES if is_page(attack)]
    commands: dict[tuple[str, ...], None] = {}

    def build(victim: Victim) -> None:
        for number, attack in enumerate(attacks):
            assert isinstance(attack.build, Written)
            victim.write(f"docs/b{number}.md", attack.build.content)
        victim.commit()

    for number, attack in enumerate(attacks):
        assert isinstance(attack.judge, Unharmed)
        for command in attack.judge.commands:
            named = tuple(f"docs/b{number}.md" if word == "docs/b.md" else word for word in command)
            commands[named] = None
    return Attack(f"{len(attacks)} pages", "bounded input", build, unharmed(*commands))


TESTED = (
    pages_together(),
    *(attack for attack in ON_REPOSITORIES if not is_page(attack)),
    *SURFACES[::5],
)
ON_SERVERS = (*BY_CLIENTS, *AMONG_REPOSITORIES, *BY_EDITORS, *ON_HTTP)
ALL = (*ATTACKS, *ON_SERVERS)

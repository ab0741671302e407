"""All attacks: those on repositories, run one by one, and those by clients of a server.

The tests run all that are cheap, and every fourth of the others; benchmarks/hostile.py runs all.
"""

from attacks import BY_CLIENTS, ON_REPOSITORIES
from proposal_attacks import PROPOSALS

ATTACKS = (*ON_REPOSITORIES, *PROPOSALS)
TESTED = (*ON_REPOSITORIES, *PROPOSALS[::4])
ABUSES = BY_CLIENTS

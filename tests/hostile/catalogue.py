"""All attacks: those on repositories, run one by one, and those on servers that are running.

The tests make those on repositories and servers as a whole, and of the others, which take a
process or more each, every fifth; benchmarks/hostile.py makes all.
"""

from attacks import BY_CLIENTS, ON_REPOSITORIES
from collection_attacks import COLLECTIONS
from editor_attacks import BY_EDITORS
from http_attacks import ON_HTTP
from proposal_attacks import PROPOSALS
from repository_attacks import AMONG_REPOSITORIES
from source_attacks import SOURCES

SURFACES = (*PROPOSALS, *COLLECTIONS, *SOURCES)
ATTACKS = (*ON_REPOSITORIES, *SURFACES)
TESTED = (*ON_REPOSITORIES, *SURFACES[::5])
ON_SERVERS = (*BY_CLIENTS, *AMONG_REPOSITORIES, *BY_EDITORS, *ON_HTTP)
ALL = (*ATTACKS, *ON_SERVERS)

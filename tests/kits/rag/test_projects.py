"""Projects: what is read while another process purges."""

import pytest

from ubp.core.errors import RepositoryError
from ubp.index.collections import count_purge
from ubp.kits.rag.projects import unless_purged
from ubp.workspace import Workspace


def test_what_a_purge_took_away_is_read_again(repository, tmp_path, monkeypatch):
    repository.commit()
    folder = tmp_path / "collections"
    folder.mkdir()
    monkeypatch.setenv("UBP_COLLECTIONS", str(folder))
    reads = []

    def read():
        reads.append(1)
        if len(reads) == 1:
            count_purge(str(folder))
            raise RepositoryError("gone")
        return len(reads)

    with Workspace.open(str(repository.root)) as workspace:
        assert unless_purged(workspace.session, read) == 2

        def fail():
            raise RepositoryError("broken")

        with pytest.raises(RepositoryError, match="broken"):
            unless_purged(workspace.session, fail)

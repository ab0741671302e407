"""Many queries held against all rows at once."""

import numpy as np

from ubp.embed.matrix import QUERIES_A_TILE, Matrix


def test_each_query_gets_what_it_would_get_by_itself():
    chance = np.random.default_rng(7)
    rows = Matrix(chance.normal(size=(50, 8)))
    queries = Matrix(chance.normal(size=(QUERIES_A_TILE + 3, 8)))
    told = list(rows.nearest_each(queries, 4))
    alone = [rows.nearest(queries[place], 4) for place in range(len(queries))]
    assert [[row for row, _ in one] for one in told] == [[row for row, _ in one] for one in alone]
    assert np.allclose(
        [[sure for _, sure in one] for one in told], [[s for _, s in o] for o in alone]
    )

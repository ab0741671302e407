"""The organisation's own embedding model: nothing is sent unasked, and a search needs none."""

import os
import subprocess
import sys

import pytest

from tests.hub.conftest import running_hub
from tests.hub.test_search import ask, push_page
from tests.index.embed.server import NATIVE, SHAPES, Server
from ubp.core.errors import HubError, ModelError
from ubp.core.model import ignore_progress
from ubp.hub.models import HubModel, make_vectors
from ubp.index.embed import endpoint

PAGES = {
    "docs/pay.md": "# Payment\n\nCustomers pay by invoice.\n\n## Refunds\n\nWithin seven days.\n",
    "docs/zoo.md": "# Animals\n\nZebras and giraffes eat leaves.\n",
}
QUERY = "zebras customers"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(endpoint, "PAUSE_SECONDS", 0.0)
    one = Server(SHAPES["openai"])
    yield one
    one.close()


@pytest.fixture
def model(server):
    return HubModel.of(server.environment())


@pytest.fixture
def hub(database_address, issuers, model):
    with running_hub(database_address, issuers, model=model) as running:
        yield running


def push_pages(hub, repository):
    for path, text in PAGES.items():
        repository.write(path, text)
    repository.commit()
    return hub.push(repository, texts=True)


def sizes(hub):
    return hub.rows("select distinct length(vector) from chunk order by 1")


def test_nothing_is_sent_before_the_vectors_are_asked_for(hub, repository, server, model):
    push_pages(hub, repository)
    found = ask(hub, "search", query=QUERY)

    assert (server.sent, sizes(hub)) == ([], [(None,)])
    assert found["search_type"] == "fulltext_fallback"
    assert len(found["results"]) == 2

    record = make_vectors(hub.database, model, ignore_progress, is_dry=True)
    assert (record.texts, record.sections, record.embedded) == (2, 2, None)
    assert record.tokens > 10
    assert not [text for text in server.sent if "ebra" in text]


def test_vectors_stay_until_those_of_the_model_are_asked_for(
    hub, repository, server, database_address, issuers
):
    with running_hub(database_address, issuers) as bundled:
        push_pages(bundled, repository)

    assert hub.push(repository, texts=True).sent_texts == 0
    repository.write("docs/zoo.md", "# Animals\n\nOtters swim.\n")
    repository.commit()
    assert hub.push(repository, texts=True).sent_texts == 1
    assert (server.sent, sizes(hub)) == ([], [(256,), (None,)])


def test_hub_that_runs_uses_the_model_as_soon_as_it_has_vectors(hub, repository, server, model):
    push_pages(hub, repository)

    record = make_vectors(hub.database, model, ignore_progress, is_dry=False)
    found = ask(hub, "search", query=QUERY)
    meaning = ask(hub, "search", query="giraffes eat", mode="semantic")

    assert (record.texts, record.embedded, sizes(hub)) == (2, 2, [(NATIVE,)])
    assert found["search_type"] == "hybrid"
    assert meaning["results"][0]["filepath"] == "docs/zoo.md"
    ((slope,),) = hub.rows("select slope from search_model")
    assert slope > 0

    push_page(hub, repository, "github.com/acme/api", "docs/new.md", "# New\n\nOtters swim.\n")
    assert any("Otters swim." in text for text in server.sent)
    assert sizes(hub) == [(NATIVE,)]
    found = ask(hub, "search", query="otters swim", mode="semantic")
    assert found["results"][0]["filepath"] == "docs/new.md"


def test_model_that_is_down_leaves_words_and_no_half_push(hub, repository, server, model):
    push_pages(hub, repository)
    make_vectors(hub.database, model, ignore_progress, is_dry=False)
    server.statuses = [401] * 20

    found = ask(hub, "search", query=QUERY)
    status, answer = hub.call(
        "/v1/ask/search",
        token="development-token-for-tests",
        value={"query": QUERY, "mode": "semantic"},
    )
    repository.write("docs/new.md", "# New\n\nOtters swim.\n")
    repository.commit()
    with pytest.raises(HubError, match="Cannot use the model"):
        hub.push(repository, texts=True)

    assert (found["search_type"], len(found["results"])) == ("fulltext_fallback", 2)
    assert (status, b"Cannot use the model" in answer) == (503, True)
    assert hub.rows("select count(*) from text") == [(2,)]
    with pytest.raises(ModelError):
        make_vectors(hub.database, model, ignore_progress, is_dry=False)


def run_embed(address, *options):
    return subprocess.run(
        [sys.executable, "-m", "ubp", "hub", "embed", *options],
        env={**os.environ, "UBP_HUB_DATABASE": address},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_back_to_the_bundled_model(hub, repository, model, database_address):
    push_pages(hub, repository)
    make_vectors(hub.database, model, ignore_progress, is_dry=False)

    shown = run_embed(database_address)
    made = run_embed(database_address, "--yes")

    assert "2 pages of 2 to embed" in shown
    assert "ubp hub embed --yes" in shown
    assert "2 pages embedded" in made
    assert sizes(hub) == [(256,)]
    assert "every page has its vectors (2)" in run_embed(database_address)

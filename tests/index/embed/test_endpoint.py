"""Models of a server that the user names: what is sent, what is kept, and what a search does."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.index.embed.server import KEY, NATIVE, SHAPES, Server
from ubp.answers.setup.compare_models import CompareRequest
from ubp.answers.setup.compare_models import run as compare
from ubp.answers.setup.embed_model import EMBED_MODEL, EmbedRequest
from ubp.answers.setup.embed_model import run as embed
from ubp.answers.setup.model import run as show
from ubp.answers.setup.probe_model import TEST_MODEL, ModelTestRequest
from ubp.answers.setup.probe_model import run as probe
from ubp.answers.setup.reindex import ReindexRequest
from ubp.answers.setup.reindex import run as reindex
from ubp.core.errors import ModelError
from ubp.frame.writer import Writer
from ubp.index.embed import endpoint
from ubp.index.embed.endpoint import EndpointModel, batch_by_tokens
from ubp.index.embed.known import Known
from ubp.index.embed.locate import find_endpoint_model
from ubp.index.session import Session, SessionOptions
from ubp.index.store.file import FILE_NAME, PREFIX, SUFFIX, remove_unused, write_stamp
from ubp.search.pages import PageQuery
from ubp.search.run import search_pages

WORDS = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "zeta",
    "eta",
    "theta",
    "iota",
    "kappa",
    "lambda",
    "mu",
    "nu",
    "xi",
    "omicron",
    "pi",
]


@pytest.fixture
def server():
    servers = []

    def start(shape="openai", **options):
        servers.append(Server(SHAPES[shape], **options))
        return servers[-1]

    yield start
    for one in servers:
        one.close()


@pytest.fixture
def pages(repository):
    for number, word in enumerate(WORDS):
        text = f"# Page {word}\n\n## About {word}\n\nThe {word} has {number} parts. "
        repository.write(f"docs/{word}.md", text + f"{word} and nothing else. " * 8)
    repository.commit()
    return repository


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(endpoint, "PAUSE_SECONDS", 0.0)


def open_session(repository, environment):
    variables = {**os.environ, **environment}
    return Session.open(str(repository.root), SessionOptions(environment=variables))


def model_of(server, **values):
    place = find_endpoint_model(server.environment(**values), {})
    return EndpointModel(place, Known(int(values.get("DIMENSIONS", NATIVE))))


def printed(answer, record):
    return "\n".join(answer.text(record, Writer()))


@pytest.mark.parametrize("shape", SHAPES)
def test_server_of_each_documented_shape_gives_every_text_its_vector(server, shape):
    one = server(shape)
    model = model_of(one)
    texts = [f"{word} {number}" for number in range(9) for word in WORDS]
    one.awaited = 2
    rows = model.encode(texts).rows
    for text, row in zip(texts, rows, strict=True):
        assert model.encode_query(text).rows[0] @ row == pytest.approx(1, abs=1e-4)
    assert one.most_at_once >= one.awaited


@pytest.mark.parametrize("shape", ["openai", "azure v1", "voyage", "ollama", "vllm"])
def test_number_of_dimensions_is_asked_for_as_the_server_calls_it(server, shape, monkeypatch):
    one = server(shape)
    if shape == "voyage":  # the local server stands for its host
        monkeypatch.setattr("ubp.index.embed.embeddings_api.VOYAGE_HOST", "127.0.0.1")
    assert model_of(one, DIMENSIONS="16").encode(["alpha"]).dimensions == 16
    if shape == "voyage":
        model_of(one, DIMENSIONS="16").encode_query("alpha")
        assert [body["input_type"] for body in one.requests] == ["document", "query"]


def test_key_of_azure_is_sent_in_its_own_header(server, monkeypatch):
    one = server("azure deployment")
    one.shape = one.shape._replace(header="api-key", scheme="")
    monkeypatch.setattr("ubp.core.http.AZURE_HOSTS", ("127.0.0.1",))
    assert len(model_of(one).encode(["alpha", "beta"])) == 2


@pytest.mark.parametrize("shape", ["openai", "tei", "llama.cpp", "voyage"])
def test_text_that_is_too_long_is_cut_and_the_others_keep_theirs(server, shape):
    one = server(shape)
    one.shape = one.shape._replace(max_tokens=300)
    model = model_of(one)
    long = "alpha " * 1_000
    rows = model.encode(["beta", long, "gamma"]).rows
    assert rows[1] @ model.encode_query("alpha").rows[0] > 0.95
    assert rows[0] @ model.encode_query("beta").rows[0] == pytest.approx(1, abs=1e-4)


def test_text_that_no_length_suits_has_no_vector_and_is_counted(server):
    one = server("tei")
    one.shape = one.shape._replace(max_tokens=10)
    model = model_of(one)
    rows = model.encode(["beta", "alpha " * 1_000]).rows
    assert rows[0].any()
    assert not rows[1].any()
    assert model.usage.refused == 1


def test_server_that_takes_no_text_at_all_is_an_error_and_not_a_page_without_meaning(server):
    model = model_of(server(), KEY="wrong")
    with pytest.raises(ModelError) as refused:
        model.encode(["alpha", "beta"])
    assert "it answered 401" in refused.value.cause
    assert "wrong" not in str(refused.value)
    assert "wrong" not in refused.value.cause


def test_rate_limit_is_waited_for_as_long_as_the_server_says(server, monkeypatch):
    one = server()
    waits = []
    monkeypatch.setattr(endpoint._Workers, "_pause", lambda _, seconds: waits.append(seconds))
    one.statuses += [429, 503, 500]
    one.retry_after = "7"
    assert len(model_of(one).encode(["alpha"])) == 1
    assert waits == [7.0, 7.0, 8.0]


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        {"error": "Unexpected endpoint or method. (POST /v1/embeddings)"},
        {"data": []},
        {"data": [{"embedding": "AAAA", "index": 0}]},
        {"data": [{"embedding": [0.1, None], "index": 0}]},
        {"data": [{"embedding": [0.1, float("nan")], "index": 0}]},
        {"data": [{"embedding": [1.0, 2.0], "index": 5}]},
        {"data": [{"embedding": [1.0, 2.0], "index": 0}]},
        {"data": [{"embedding": [], "index": 0}]},
        b'{"data":' + b"[" * 100_000,
    ],
)
def test_answer_of_another_form_is_an_error(server, body):
    one = server()
    one.bodies.append(body)
    with pytest.raises(ModelError, match="Cannot use the model tiny"):
        model_of(one).encode(["alpha"])


def test_batches_stay_below_the_limits_of_texts_and_tokens():
    texts = ["word " * 3_000, "word " * 3_000, "word " * 3_000, *["a"] * 200]
    batches = list(batch_by_tokens(texts))
    assert [number for batch in batches for number in batch] == list(range(203))
    assert max(map(len, batches)) == endpoint.MAX_TEXTS
    assert batches[:2] == [[0, 1], [2, *range(3, 66)]]


def test_search_before_the_first_run_sends_nothing_and_names_the_command(server, pages):
    one = server()
    with open_session(pages, one.environment()) as session:
        found = search_pages(session, PageQuery("alpha"))
    assert found.search_type == "fulltext_fallback"
    assert found.fallback.reason == "No section has a vector of tiny yet."
    assert "model embed" in found.fallback.hint
    assert not one.requests


def test_cost_is_shown_before_the_first_run_and_no_text_of_a_page_is_sent(server, pages):
    one = server()
    with open_session(pages, one.environment(PRICE="0.02")) as session:
        record = embed(session, EmbedRequest())
        status = show(session, None)
    assert (record.texts, record.embedded) == (len(WORDS), None)
    assert record.tokens > 300
    assert record.cost == pytest.approx(record.tokens * 0.02 / 1e6)
    assert not any("alpha" in text for text in one.sent)
    shown = printed(EMBED_MODEL, record)
    assert f"tiny at {one.host}: 16 texts of 16 to embed: about {record.tokens} tokens" in shown
    assert "model embed --yes" in shown
    assert (status.name, status.host, status.dimensions) == ("tiny", one.host, None)


def test_first_run_makes_vectors_that_searches_use(server, pages):
    one = server()
    with open_session(pages, one.environment(PRICE="0.02")) as session:
        record = embed(session, EmbedRequest(yes=True))
        found = search_pages(session, PageQuery("gamma parts", mode="semantic", limit=1))
        status = show(session, None)
    assert (record.embedded, record.refused) == (len(WORDS), 0)
    assert record.counted_tokens
    assert "16 texts embedded in" in printed(EMBED_MODEL, record)
    assert [hit.page.filepath for hit in found.answer.pages] == ["docs/gamma.md"]
    assert (status.dimensions, status.pending) == (NATIVE, 0)
    with open_session(pages, one.environment()) as session:
        sent = len(one.sent)
        assert embed(session, EmbedRequest()).texts == 0
        assert search_pages(session, PageQuery("delta")).search_type == "hybrid"
        assert not any("delta has" in text for text in one.sent[sent:])


def test_cosines_are_read_on_the_scale_of_the_bundled_model(server, pages):
    one = server()
    with open_session(pages, one.environment()) as session:
        embed(session, EmbedRequest(yes=True))
        scale = session.model().scale
        found = search_pages(session, PageQuery("gamma parts", mode="semantic"))
    assert scale.slope != 1
    assert 0 < found.answer.pages[0].breakdown.meaning <= 1


def test_edited_page_is_embedded_without_being_asked_but_not_a_whole_repository(
    server, pages, monkeypatch
):
    one = server()
    with open_session(pages, one.environment()) as session:
        embed(session, EmbedRequest(yes=True))
    pages.write("docs/alpha.md", "# Page alpha\n\nNow the walrus sings. " * 5)
    with open_session(pages, one.environment()) as session:
        found = search_pages(session, PageQuery("walrus sings", mode="semantic", limit=1))
        assert found.answer.pages[0].page.filepath == "docs/alpha.md"
    assert sum("walrus" in text for text in one.sent) == 2  # the text and the query
    monkeypatch.setattr(endpoint, "UNASKED_TEXTS", 2)
    for word in WORDS:
        pages.write(f"docs/{word}.md", f"# Page {word}\n\nThe ostrich and {word}.")
    with open_session(pages, one.environment()) as session:
        search_pages(session, PageQuery("ostrich"))
        assert show(session, None).pending == len(WORDS)
    assert not any("ostrich and" in text for text in one.sent)


def test_excluded_file_is_never_sent(server, pages):
    one = server()
    pages.write("docs/secret/plan.md", "# Plan\n\nThe zeppelin leaves at nine.")
    pages.write("secret.md", "# Plan\n\nThe zeppelin leaves at ten.")
    pages.commit()
    pages.write(
        ".ubp/config.json", json.dumps({"source": {"exclude": ["docs/secret/**", "secret.md"]}})
    )
    with open_session(pages, one.environment()) as session:
        embed(session, EmbedRequest(yes=True))
        compare(session, CompareRequest(yes=True))
        search_pages(session, PageQuery("plan"))
    assert one.sent
    assert not any("zeppelin" in text for text in one.sent)


def test_server_that_is_down_leaves_words_that_say_so(server, pages):
    one = server()
    with open_session(pages, one.environment()) as session:
        embed(session, EmbedRequest(yes=True))
    one.close()
    with open_session(pages, one.environment()) as session:
        found = search_pages(session, PageQuery("gamma"))
        assert found.search_type == "fulltext_fallback"
        assert one.host in found.fallback.reason
        assert found.answer.pages[0].page.filepath == "docs/gamma.md"
        with pytest.raises(ModelError, match="Cannot use the model tiny"):
            search_pages(session, PageQuery("gamma", mode="semantic"))


def test_server_that_was_down_is_asked_again_after_a_pause(server, monkeypatch):
    one = server()
    monkeypatch.setattr(endpoint, "PAUSE_SECONDS", 0.3)
    model = model_of(one)
    one.statuses.append(500)
    for _ in range(5):
        with pytest.raises(ModelError):
            model.encode_query("alpha")
    assert len(one.requests) == 1
    time.sleep(0.35)
    assert model.encode_query("alpha").rows.any()
    model.encode_query("alpha")
    assert len(one.requests) == 2


def test_failure_in_the_middle_keeps_what_was_paid_for(server, pages, monkeypatch):
    one = server()
    monkeypatch.setattr(endpoint, "MAX_TEXTS", 2)
    with open_session(pages, one.environment()) as session:
        one.statuses += [200, 200, 200, 401]
        with pytest.raises(ModelError):
            embed(session, EmbedRequest(yes=True))
        kept = len(WORDS) - show(session, None).pending
    assert kept >= 4
    sent = len(one.sent)
    with open_session(pages, one.environment()) as session:
        assert embed(session, EmbedRequest(yes=True)).embedded == len(WORDS) - kept
    assert sum("nothing else" in text for text in one.sent[sent:]) == len(WORDS) - kept


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_killed_run_keeps_what_was_paid_for(server, pages, number):
    for page in range(400):
        pages.write(
            f"more/{page}.md", f"# More {page}\n\n" + f"The tapir number {page} eats. " * 40
        )
    pages.commit()
    one = server()
    one.delay = 0.2
    process = subprocess.Popen(
        [sys.executable, "-m", "ubp", "model", "embed", "--yes"],
        cwd=pages.root,
        env={**os.environ, **one.environment()},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    end = time.monotonic() + 300
    while sum("tapir" in text for text in one.sent) < 320:
        time.sleep(0.02)
        assert time.monotonic() < end
    answered = one.answered
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert KEY.encode() not in out + err
    with open_session(pages, one.environment()) as session:
        kept = 400 + len(WORDS) - show(session, None).pending
        if number == signal.SIGINT:
            # Without the probe; what was on its way is kept, too.
            assert kept == min(400 + len(WORDS), one.answered - 32)
        else:
            # Four requests of 64 texts may be on their way, and one may not be stored yet.
            assert kept >= answered - 32 - 5 * endpoint.MAX_TEXTS
        assert kept > 0
        one.delay = 0.0
        assert embed(session, EmbedRequest(yes=True)).embedded == 400 + len(WORDS) - kept


def test_several_models_are_kept_side_by_side(server, pages):
    one = server()
    for name in ("small", "large", "small"):
        with open_session(pages, one.environment(MODEL=name)) as session:
            record = embed(session, EmbedRequest(yes=True))
    assert record.texts == 0
    with open_session(pages, one.environment(MODEL="large")) as session:
        assert show(session, None).pending == 0


def test_paid_vectors_survive_reindexing_and_pruning(server, pages):
    one = server()
    with open_session(pages, one.environment()) as session:
        embed(session, EmbedRequest(yes=True))
    with open_session(pages, {}) as session:  # with the bundled model
        reindex(session, ReindexRequest())
        reindex(session, ReindexRequest(prune=True))
    with open_session(pages, one.environment()) as session:
        assert show(session, None).pending == 0


def test_vectors_of_excluded_pages_are_removed(server, pages):
    one = server()
    with open_session(pages, one.environment()) as session:
        embed(session, EmbedRequest(yes=True))
    pages.write(".ubp/config.json", json.dumps({"source": {"exclude": ["docs/alpha.md"]}}))
    with open_session(pages, one.environment()) as session:
        session.view().link_graph()
    pages.write(".ubp/config.json", "{}")
    with open_session(pages, one.environment()) as session:
        assert show(session, None).pending == 1


def test_key_is_neither_printed_nor_stored(server, pages):
    one = server()
    environment = {**os.environ, **one.environment()}
    outputs = b""
    for arguments in (
        ["model", "embed", "--yes"],
        ["model", "test"],
        ["status", "--json"],
        ["search", "alpha", "--explain"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "ubp", *arguments],
            cwd=pages.root,
            env=environment,
            capture_output=True,
            check=True,
        )
        outputs += done.stdout + done.stderr
    assert KEY.encode() not in outputs
    for folder, _, files in os.walk(pages.root):
        for name in files:
            with open(os.path.join(folder, name), "rb") as file:
                assert KEY.encode() not in file.read()


def test_reindexing_sends_nothing(server, pages):
    one = server()
    with open_session(pages, one.environment()) as session:
        assert reindex(session, ReindexRequest()).embedded is None
    assert not one.requests


def test_repository_can_name_no_server(server, pages):
    one = server()
    url = one.environment()["UBP_EMBED_URL"]
    pages.write(".ubp/config.json", json.dumps({"search": {"model": url}}))
    pages.git("config", "ubp.embedUrl", url)
    pages.git("config", "ubp.embedModel", "tiny")
    pages.write(".env", f"UBP_EMBED_URL={url}\nUBP_EMBED_MODEL=tiny\n")
    pages.commit()
    with open_session(pages, {}) as session:
        search_pages(session, PageQuery("alpha"))
        with pytest.raises(ModelError):
            embed(session, EmbedRequest(yes=True))
    assert not one.requests


def test_user_names_a_server_in_the_global_configuration_of_git(server, pages, tmp_path):
    one = server()
    values = one.environment()
    configuration = tmp_path / "gitconfig"
    configuration.write_text(
        f"[ubp]\nembedUrl = {values['UBP_EMBED_URL']}\nembedModel = tiny\n"
        'embedQueryPrefix = "q: "\n'
    )
    environment = {"GIT_CONFIG_GLOBAL": str(configuration), "UBP_EMBED_KEY": KEY}
    with open_session(pages, environment) as session:
        assert embed(session, EmbedRequest(yes=True)).embedded == len(WORDS)
        search_pages(session, PageQuery("gamma"))
    assert one.sent[-1] == "q: gamma"


def test_prefixes_are_sent_and_belong_to_the_vectors_of_passages(server, pages):
    one = server()
    prefixes = {"QUERY_PREFIX": "query: ", "PASSAGE_PREFIX": "passage: "}
    with open_session(pages, one.environment(**prefixes)) as session:
        embed(session, EmbedRequest(yes=True))
        search_pages(session, PageQuery("gamma"))
    assert one.sent[-1] == "query: gamma"
    assert all(text.startswith(("passage: ", "query: ")) for text in one.sent)
    with open_session(pages, one.environment(QUERY_PREFIX="ask: ")) as session:
        assert show(session, None).pending == len(WORDS)


def test_probe_tells_another_model_at_the_same_address(server, pages):
    one = server()
    with open_session(pages, one.environment()) as session:
        assert probe(session, ModelTestRequest()).is_same is None
        embed(session, EmbedRequest(yes=True))
        record = probe(session, ModelTestRequest())
        assert (record.is_same, record.dimensions, record.host) == (True, NATIVE, one.host)
        one.seed = b"other"
        record = probe(session, ModelTestRequest())
    assert record.is_same is False
    assert "another model than the one that made the vectors" in printed(TEST_MODEL, record)


def test_models_are_compared_on_headings_and_titles_that_are_taken_out(server, pages):
    one = server()
    with open_session(pages, one.environment()) as session:
        sized = compare(session, CompareRequest())
        assert (sized.is_asked, one.requests) == (False, [])
        record = compare(session, CompareRequest(("ubp-bilingual-256", "other"), yes=True))
    assert [model.name for model in record.models] == ["ubp-bilingual-256", "other"]
    assert (record.sections, record.headings, record.titles) == (16, 16, 16)
    for model in record.models:
        assert model.headings == model.titles == 1  # each body has the word of its heading
    assert {body["model"] for body in one.requests} == {"other"}
    assert not any(text.startswith("Page alpha\nAbout") for text in one.sent)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"URL": "http://example.com/v1"}, "not an address that texts may be sent to"),
        ({"DIMENSIONS": "many"}, "Invalid UBP_EMBED_DIMENSIONS"),
        ({"DIMENSIONS": "0"}, "Invalid UBP_EMBED_DIMENSIONS"),
        ({"PRICE": "cheap"}, "Invalid UBP_EMBED_PRICE"),
        ({"MODEL": ""}, "UBP_EMBED_MODEL is not"),
    ],
)
def test_wrong_setting_is_an_error_with_the_variable(server, values, message):
    with pytest.raises(ModelError, match=message):
        find_endpoint_model(server().environment(**values), {})


def test_vectors_that_were_paid_for_outlive_a_format_of_the_index(server, pages, monkeypatch):
    one = server()
    with open_session(pages, one.environment()) as session:
        embed(session, EmbedRequest(yes=True))
        folder = Path(session.repository.data_dir)
    older = folder / f"{PREFIX}1{SUFFIX}"
    (folder / FILE_NAME).rename(older)
    write_stamp(str(older))
    sent = len(one.sent)
    pages.write("docs/alpha.md", "# Page alpha\n\nNow the walrus sings. " * 5)
    with open_session(pages, one.environment()) as session:
        assert embed(session, EmbedRequest()).texts == 1
        found = search_pages(session, PageQuery("gamma parts", mode="semantic", limit=1))
    assert [hit.page.filepath for hit in found.answer.pages] == ["docs/gamma.md"]
    pages_sent = [text for text in one.sent[sent:] if "has" in text and "parts" in text]
    assert not [text for text in pages_sent if "nothing else" in text]
    os.utime(older, (0, time.time() - 30 * 86_400))
    write_stamp(str(older))
    os.utime(f"{older}-stamp", (0, 0))
    remove_unused(str(folder))
    assert older.exists()
    monkeypatch.setattr("ubp.index.store.file.UNUSED_PAID_SECONDS", 20 * 86_400)
    remove_unused(str(folder))
    assert not older.exists()


def test_vectors_in_an_index_that_another_program_wrote_are_not_taken_over(server, pages):
    one = server()
    with open_session(pages, one.environment()) as session:
        embed(session, EmbedRequest(yes=True))
        folder = Path(session.repository.data_dir)
    (folder / FILE_NAME).rename(folder / f"{PREFIX}1{SUFFIX}")
    with open_session(pages, one.environment()) as session:
        assert embed(session, EmbedRequest()).texts == len(WORDS)

"""Tokens: the hub is an OAuth resource server that knows whose they are, or refuses."""

import hashlib
import hmac
import json
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from ubp.hub import identity

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/list",
    "params": {},
}
MCP = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
    "mcp-protocol-version": "2025-11-25",
}


def list_tools(hub, token):
    return hub.call("/mcp", token=token, body=json.dumps(INITIALIZE).encode(), **MCP)


BOARD = "/v1/board?repository=github.com/acme/api&ref=refs/heads/main"
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)

REFUSED = {
    "other audience": {"aud": "https://other.example.org/mcp"},
    "no audience": {"aud": None},
    "audience as a beginning": {"aud": "http://127.0.0.1"},
    "other issuer": {"iss": "https://id.example.org"},
    "no issuer": {"iss": None},
    "expired": {"exp": 1},
    "expired beyond the skew": {"exp": lambda: int(time.time()) - 65},
    "no expiry": {"exp": None},
    "not valid yet": {"nbf": lambda: int(time.time()) + 3600},
    "no subject": {"sub": None},
}


@pytest.mark.parametrize("case", REFUSED)
def test_token_that_does_not_count_is_refused(hub, case):
    claims = {name: v() if callable(v) else v for name, v in REFUSED[case].items()}
    token = hub.person(**claims)
    for status, _ in (hub.call(BOARD, token=token), list_tools(hub, token)):
        assert status == 401


def test_call_without_a_token_is_refused_and_told_where_the_metadata_is(hub):
    for path in (BOARD, "/mcp"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{hub.url}{path}", timeout=10)
        with refused.value as answer:
            assert answer.code == 401
            challenge = answer.headers["www-authenticate"]
        assert (
            f'resource_metadata="{hub.url}/.well-known/oauth-protected-resource/mcp"' in challenge
        )


def test_good_token_is_taken_with_one_of_several_audiences(hub):
    for audience in (f"{hub.url}/mcp", hub.url, ["https://other.example.org", f"{hub.url}/mcp"]):
        token = hub.person(aud=audience)
        assert list_tools(hub, token)[0] == 200
        assert hub.call(BOARD, token=token)[0] == 404


def test_clock_skew_of_a_minute_is_accepted(hub):
    token = hub.person(exp=int(time.time()) - 50)
    assert hub.call(BOARD, token=token)[0] == 404
    assert list_tools(hub, token)[0] == 200


def test_token_without_the_scope_is_forbidden(hub):
    token = hub.person(scope="openid")
    assert hub.call(BOARD, token=token)[0] == 403
    assert list_tools(hub, token)[0] == 403


def test_metadata_are_those_of_rfc_9728(hub):
    status, answer = hub.call("/.well-known/oauth-protected-resource/mcp")
    metadata = json.loads(answer)
    assert status == 200
    assert metadata["resource"] == f"{hub.url}/mcp"
    assert metadata["authorization_servers"] == [hub.provider.url]
    assert metadata["scopes_supported"] == ["ubp.read"]
    assert metadata["bearer_methods_supported"] == ["header"]


def head_of(algorithm):
    return jwt.utils.base64url_encode(f'{{"alg":"{algorithm}","kid":"first"}}'.encode())


def with_public_key_as_secret(hub):
    public = hub.provider.keys["first"].public_key()
    pem = public.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    signed = head_of("HS256") + b"." + hub.person().split(".")[1].encode()
    signature = hmac.new(pem, signed, hashlib.sha256).digest()
    return (signed + b"." + jwt.utils.base64url_encode(signature)).decode()


def signed_by_other_key(hub):
    claims = jwt.decode(hub.person(), options={"verify_signature": False})
    return jwt.encode(claims, OTHER_KEY, algorithm="RS256", headers={"kid": "first"})


def changed(hub):
    head, body, signature = hub.person().split(".")
    return ".".join((head, body[:-4] + "AAAA", signature))


FORGED = {
    "none": lambda hub: (head_of("none") + b".").decode() + hub.person().split(".")[1] + ".",
    "wrong key": signed_by_other_key,
    "public key as a secret": with_public_key_as_secret,
    "cut off": lambda hub: hub.person()[:-2],
    "changed": changed,
    "rubbish": lambda _: "x.y.z",
    "long": lambda _: "a" * 40_000,
}


@pytest.mark.parametrize("kind", FORGED)
def test_forged_token_is_refused(hub, kind):
    token = FORGED[kind](hub)
    assert hub.call(BOARD, token=token)[0] == 401
    assert list_tools(hub, token)[0] == 401


def test_rotated_keys_are_read_again_and_old_ones_forgotten(hub, monkeypatch):
    monkeypatch.setattr(identity, "MIN_SECONDS_BETWEEN_READS", 0)
    issuer = hub.provider
    assert hub.call(BOARD, token=hub.person())[0] == 404
    issuer.keys["second"] = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    first = issuer.keys.pop("first")
    try:
        old = jwt.decode(hub.person(key="second"), options={"verify_signature": False})
        assert hub.call(BOARD, token=hub.person(key="second"))[0] == 404
        stale = jwt.encode(old, first, algorithm="RS256", headers={"kid": "first"})
        assert hub.call(BOARD, token=stale)[0] == 401
    finally:
        issuer.keys = {"first": first}


ODD = {"kty": "EC", "crv": "of tomorrow", "kid": "odd", "x": "AA", "y": "AA"}


@pytest.mark.parametrize("odd", [ODD, "no key at all"], ids=["curve", "text"])
def test_key_that_is_not_understood_leaves_the_others(hub, monkeypatch, odd):
    monkeypatch.setitem(hub.provider.keys, "odd", None)
    public = hub.provider.public
    monkeypatch.setattr(hub.provider, "public", lambda name: public(name) if name != "odd" else odd)
    assert hub.call(BOARD, token=hub.person())[0] == 404


def test_issuer_that_drops_two_connections_is_asked_again(hub):
    hub.provider.dropped = 2
    assert hub.call(BOARD, token=hub.person())[0] == 404
    assert hub.provider.dropped == 0


def test_log_says_why_a_token_is_refused(hub, caplog):
    assert hub.call(BOARD, token=hub.person(exp=int(time.time()) - 90))[0] == 401
    assert caplog.messages == ["A token was refused: Signature has expired."]


def test_issuer_that_is_down_is_no_fault_of_the_token(hub, monkeypatch, caplog):
    monkeypatch.setattr(identity, "SECONDS_AFTER_FAILURE", 0.2)
    hub.provider.dropped = 1 + len(identity.RETRY_SECONDS)
    for status, answer in (hub.call(BOARD, token=hub.person()), list_tools(hub, hub.person())):
        assert status == 503
        error = json.loads(answer)["error"]
        assert error["cause"] == f"The keys of {hub.provider.url} cannot be read."
    assert "cannot be read. Remote end closed connection" in caplog.text
    assert hub.call(BOARD, token="x.y.z")[0] == 401
    time.sleep(0.3)
    assert hub.call(BOARD, token=hub.person())[0] == 404


def test_whose_key_is_known_waits_for_no_issuer(hub, monkeypatch):
    monkeypatch.setattr(identity, "MIN_SECONDS_BETWEEN_READS", 0)
    assert hub.call(BOARD, token=hub.person())[0] == 404
    claims = jwt.decode(hub.person(), options={"verify_signature": False})
    unknown = jwt.encode(claims, OTHER_KEY, algorithm="RS256", headers={"kid": "other"})
    before = hub.provider.reads
    hub.provider.answers.clear()
    with ThreadPoolExecutor(1) as pool:
        try:
            waiting = pool.submit(hub.call, BOARD, token=unknown)
            while hub.provider.reads == before:
                time.sleep(0.01)
            assert hub.call(BOARD, token=hub.person())[0] == 404
            assert not waiting.done()
        finally:
            hub.provider.answers.set()
        assert waiting.result()[0] == 401


def test_tokens_with_unknown_keys_do_not_have_the_issuer_asked_each_time(hub):
    hub.call(BOARD, token=hub.person())
    before = hub.provider.reads
    claims = jwt.decode(hub.person(), options={"verify_signature": False})
    for number in range(20):
        token = jwt.encode(claims, OTHER_KEY, algorithm="RS256", headers={"kid": str(number)})
        assert hub.call(BOARD, token=token)[0] == 401
    assert hub.provider.reads - before <= 1


def test_readers_are_accounts_of_the_forge_or_clients(hub):
    def reader(token):
        return hub.hub.identities.verify(token).reader

    assert reader(hub.person("Ann")) == "github.com/ann"
    client = hub.person(None, sub="agent-7", azp="agent-7")
    assert reader(client) == f"client:{hub.provider.url} agent-7"
    account = {"azp": "Agent-7", "preferred_username": "service-account-agent-7"}
    keycloak = hub.person(None, sub="6f1c", client_id="Agent-7", **account)
    assert reader(keycloak) == f"client:{hub.provider.url} Agent-7"
    assert reader(hub.job("acme/api")) == "ci:github.com/acme/api#1"
    assert reader(hub.job("acme/api", event_name="pull_request")) == "job:github.com/acme/api#1"


# What a person may be called, and how the client is named with which the token was got.
PEOPLE = [
    {"azp": "agent-7", "preferred_username": "eve"},
    {"azp": "agent-7", "preferred_username": "service-account-agent-7"},
    {"azp": "agent-7", "client_id": "agent-7"},
    {"azp": "agent-7", "client_id": "agent-7", "preferred_username": "service-account-agent-8"},
    {"client_id": "agent-7"},
    {"cid": "agent-7"},
    {"azp": "agent-7", "clientId": ["agent-7"]},
]


@pytest.mark.parametrize("claims", PEOPLE, ids=str)
def test_person_without_an_account_is_not_the_client_of_the_token(hub, claims):
    token = hub.person(None, sub="human-1", **claims)
    assert hub.hub.identities.verify(token).reader == f"person:{hub.provider.url} human-1"


def test_owner_of_a_job_is_known_in_any_case_and_another_is_named(hub):
    assert hub.hub.identities.verify(hub.job("Acme/api")).reader == "ci:github.com/Acme/api#1"
    status, answer = hub.call(BOARD, token=hub.job("acme-evil/api"))
    assert status == 401
    assert json.loads(answer)["error"]["cause"] == (
        "The repository github.com/acme-evil/api has none of the issuer's owners."
    )


def test_board_is_read_by_those_with_a_grant_alone(repository, hub):
    repository.write("a.md", "# A\n")
    repository.commit()
    hub.push(repository)
    hub.push(repository, "github.com/acme/web")
    ann, bob = hub.person("ann"), hub.person("bob")
    hub.grant("github.com/ann", "github.com/acme/api")
    web = BOARD.replace("acme/api", "acme/web")

    assert (hub.call(BOARD, token=ann)[0], hub.call(web, token=ann)[0]) == (200, 404)
    assert (hub.call(BOARD, token=bob)[0], hub.call(web, token=bob)[0]) == (404, 404)
    hub.execute("update repository set forge_id = '1' where name like '%%api'")
    assert hub.call(BOARD, token=hub.job("acme/api"))[0] == 200
    assert hub.call(web, token=hub.job("acme/api"))[0] == 404
    missing = hub.call(BOARD.replace("acme/api", "acme/none"), token=bob)
    assert missing == hub.call(web, token=bob)

    hub.execute("update repository set visibility = 'internal' where name like '%%web'")
    assert hub.call(web, token=bob)[0] == 200
    assert hub.call(web, token=hub.job("acme/api", event_name="pull_request"))[0] == 404
    hub.execute("delete from grants")
    assert hub.call(BOARD, token=ann)[0] == 404

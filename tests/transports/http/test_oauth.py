"""JWTs of an authorization server: what they grant, and why one is refused."""

from __future__ import annotations

import time

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from oauth_issuer import oauth_issuer
from server_process import serving
from support import kept

from mnemic.errors import Invalid
from mnemic.settings import Settings
from mnemic.transports.http.auth import AuthPolicy
from mnemic.transports.http.oauth import Issuer, issuer

RESOURCE = "https://memory.example"
SPACES = "mnemic_namespaces"
GOOD = {"aud": RESOURCE, "scope": "mnemic:read mnemic:write", SPACES: ["acme"]}


@pytest.fixture(scope="module")
def server():
    with oauth_issuer() as running:
        yield running


@pytest.fixture
def url(ctx, server):
    kept(ctx, "Acme deploys on Fridays", namespace="acme")
    kept(ctx, "Globex deploys on Mondays", namespace="globex")
    with serving(ctx, AuthPolicy("127.0.0.1", issuer=Issuer(server.url, RESOURCE, SPACES))) as where:
        yield where


def call(url, token, tool, **arguments):
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.post(f"{url}/api/v1/tools/mnemic/{tool}", json=arguments, headers=headers)


def test_client_without_a_token_is_shown_the_way(url, server):
    answered = httpx.post(f"{url}/mcp", json={})
    assert answered.status_code == 401
    where = f"{RESOURCE}/.well-known/oauth-protected-resource/mcp"
    assert f'resource_metadata="{where}"' in answered.headers["WWW-Authenticate"]
    about = httpx.get(f"{url}/.well-known/oauth-protected-resource/mcp").json()
    assert about["resource"] == f"{RESOURCE}/mcp"
    assert about["authorization_servers"] == [server.url]
    assert httpx.get(f"{url}/.well-known/oauth-protected-resource").json()["resource"] == RESOURCE


def test_token_grants_its_namespaces_and_names_its_caller(ctx, url, server):
    token = server.token(**GOOD, preferred_username="ann")
    found = call(url, token, "recall", query="who deploys?", namespace="*", min_relevance=0).json()[
        "memories"
    ]
    assert [one["text"] for one in found] == ["Acme deploys on Fridays"]
    assert call(url, token, "remember", text="Acme is closed on Sundays").status_code == 200
    assert call(url, token, "remember", text="x", namespace="globex").status_code == 403
    latest = call(url, token, "history", limit=1).json()["changes"][0]
    assert latest["actor"] == "ann"


def test_read_scope_cannot_write_and_star_sees_all(url, server):
    token = server.token(aud=f"{RESOURCE}/mcp", scope="mnemic:read", **{SPACES: "*"})
    found = call(url, token, "recall", query="who deploys?", namespace="*", min_relevance=0).json()[
        "memories"
    ]
    assert len(found) == 2
    assert call(url, token, "remember", text="x").status_code == 403


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"exp": int(time.time()) - 3600}, "expired"),
        ({"aud": "https://elsewhere.example"}, "audience"),
        ({"aud": f"{RESOURCE}/mcpx"}, "audience"),
        ({"iss": "https://elsewhere.example"}, "issuer"),
        ({"scope": "email"}, "scopes"),
        ({SPACES: []}, "names no namespaces"),
        ({"key": ec.generate_private_key(ec.SECP256R1())}, "Signature"),
        ({"key": "shared secret of at least thirty-two bytes", "algorithm": "HS256"}, "alg value"),
    ],
)
def test_token_that_does_not_count_is_refused_with_the_reason(url, server, changed, why):
    answered = call(url, server.token(**{**GOOD, **changed}), "stats")
    assert answered.status_code == 401
    assert why.lower() in answered.json()["error"].lower()


def test_text_that_is_no_token_is_refused(url):
    assert call(url, "nonsense", "stats").status_code == 401
    assert call(url, "a.b.c", "stats").status_code == 401


def test_unreachable_issuer_is_a_passing_fault(ctx, server):
    policy = AuthPolicy("127.0.0.1", issuer=Issuer("http://127.0.0.1:9", RESOURCE, SPACES))
    with serving(ctx, policy) as url:
        assert call(url, server.token(**GOOD), "stats").status_code == 503


def test_settings_name_what_is_missing():
    assert issuer(Settings()) is None
    with pytest.raises(Invalid, match="oauth_resource: set it to the public address"):
        issuer(Settings(oauth_issuer="https://login.example"))
    made = issuer(Settings(oauth_issuer="https://login.example", oauth_resource=RESOURCE + "/"))
    assert made is not None and made.resource == RESOURCE

"""Who gets in: by host, by origin, by token; and what a token may do."""

from __future__ import annotations

import base64
import socket
import time

import httpx
import pytest
from server_process import serving
from support import kept

from mnemic.core.access import TokenRequest, create_token, revoke_token, rotate_token, tokens
from mnemic.core.history import history
from mnemic.errors import Denied
from mnemic.model.access import Quota
from mnemic.model.time import HOUR
from mnemic.transports.http.auth import AuthPolicy, check_start, is_loopback
from mnemic.transports.http.failed_logins import DELAY_SECONDS

LOCAL = AuthPolicy("127.0.0.1")
LOCKED = AuthPolicy("127.0.0.1", "open sesame é")
ABROAD = AuthPolicy("0.0.0.0")


def basic(password: str) -> str:
    """What a browser sends after its user typed *password*."""
    return "Basic " + base64.b64encode(f"anyone:{password}".encode()).decode()


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "127.0.0.1:9077", "[::1]:9077", "LOCALHOST:1", "127.8.8.8"]
)
def test_on_this_machine_we_answer_to_its_names(ctx, host):
    with serving(ctx, LOCAL) as url:
        assert httpx.get(f"{url}/api/v1/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "10.0.0.1",
        "",
        "[",
        "x@127.0.0.1.evil",
    ],
)
def test_and_to_no_other(ctx, host):
    with serving(ctx, LOCAL) as url:
        answered = httpx.get(f"{url}/api/v1/health", headers={"Host": host})
    assert answered.status_code in (400, 403)


@pytest.mark.parametrize("path", ["/api/v1/tools/mnemic/stats", "/mcp"])
@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://localhost:1", "https://127.0.0.1.evil.example"]
)
def test_a_page_from_elsewhere_may_not_speak_to_us(ctx, path, origin):
    with serving(ctx, LOCAL) as url:
        answered = httpx.post(url + path, json={}, headers={"Origin": origin})
    assert answered.status_code == 403 and answered.json()["code"] == "DENIED"
    assert "access-control-allow-origin" not in answered.headers


def test_nor_have_us_asked_by_its_links_and_pictures(ctx):
    with serving(ctx, LOCAL) as url:
        for site, status in (("cross-site", 403), ("same-origin", 200), ("none", 200)):
            answered = httpx.get(f"{url}/api/v1/stats", headers={"Sec-Fetch-Site": site})
            assert answered.status_code == status


@pytest.mark.parametrize("scheme", ["chrome-extension", "ftp", "file", ""])
def test_an_origin_is_a_page_of_the_web(ctx, scheme):
    with serving(ctx, LOCAL) as url:
        origin = f"{scheme}://{url.removeprefix('http://')}"
        answered = httpx.post(f"{url}/api/v1/tools/mnemic/stats", headers={"Origin": origin})
    assert answered.status_code == 403


def test_our_own_page_may(ctx):
    with serving(ctx, LOCAL) as url:
        assert httpx.post(f"{url}/api/v1/tools/mnemic/stats", headers={"Origin": url}).status_code == 200


@pytest.mark.parametrize(
    "path", ["/api/v1/openapi.json", "/api/v1/tools", "/api/v1/whoami", "/api/v1/stats", "/nope"]
)
def test_with_a_token_set_nothing_but_health_and_pages_is_open(ctx, path):
    with serving(ctx, LOCKED) as url:
        answered = httpx.get(url + path)
        assert answered.status_code == 401
        assert answered.headers["www-authenticate"] == 'Bearer realm="mnemic"'
        assert answered.json()["code"] == "UNAUTHORIZED"
        assert answered.json()["error"].startswith("missing or invalid API key")
        for open_path in ("/api/v1/health", "/", "/api/v1/docs", "/web/index.js"):
            assert httpx.get(url + open_path).status_code == 200
        assert httpx.post(f"{url}/mcp", json={}).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer open sesame é".encode()},
        {"authorization": "bearer  open sesame é".encode()},
        {"X-API-Key": "open sesame é".encode()},
        {"Authorization": basic("open sesame é").encode()},
    ],
)
def test_the_token_opens_in_every_form(ctx, headers):
    with serving(ctx, LOCKED) as url:
        assert httpx.get(f"{url}/api/v1/tools", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer open sesame"},
        {"Authorization": "Bearer"},
        {"Authorization": "open sesame é".encode()},
        {"Authorization": "Basic !!!"},
        {"Authorization": basic("")},
        {"X-API-Key": ""},
        {"X-API-Key": b"\xff\xfe"},
    ],
)
def test_and_nothing_else_does(ctx, headers):
    with serving(ctx, LOCKED) as url:
        assert httpx.get(f"{url}/api/v1/tools", headers=headers).status_code == 401


def test_of_a_header_that_comes_twice_the_first_counts(ctx):
    with serving(ctx, AuthPolicy("127.0.0.1", "secret")) as url:
        keys = [("X-API-Key", "secret"), ("X-API-Key", "wrong")]
        assert httpx.get(f"{url}/api/v1/stats", headers=keys).status_code == 200
        assert httpx.get(f"{url}/api/v1/stats", headers=keys[::-1]).status_code == 401


def test_the_token_may_stand_in_the_address_of_rest_alone(ctx):
    with serving(ctx, LOCKED) as url:
        right, wrong = {"api_key": LOCKED.token}, {"api_key": "open barley"}
        assert httpx.get(f"{url}/api/v1/tools", params=right).status_code == 200
        refused = httpx.get(f"{url}/api/v1/tools", params=wrong)
        assert refused.status_code == 401
        assert refused.json()["error"].startswith("missing or invalid API key")
        assert httpx.get(f"{url}/api/v1/tools", params={"api_key": ""}).status_code == 401
        both = httpx.get(f"{url}/api/v1/tools", params=right, headers={"X-API-Key": "open barley"})
        assert both.status_code == 401
        assert httpx.post(f"{url}/mcp", params=right, json={}).status_code == 401
        greeted = httpx.get(f"{url}/api/v1/memories", params=right)
        assert (greeted.status_code, greeted.json()["count"]) == (200, 0)


def test_a_browser_is_asked_for_a_password(ctx):
    with serving(ctx, LOCKED) as url:
        answered = httpx.get(f"{url}/api/v1/openapi.json", headers={"Accept": "text/html"})
    assert answered.headers["www-authenticate"].startswith("Basic")


def test_a_stored_token_sees_its_namespaces_only(ctx):
    kept(ctx, "Ours", namespace="ours")
    kept(ctx, "Theirs", namespace="theirs")
    secret = create_token(ctx, TokenRequest(name="reader", namespaces=("ours",), can_write=False))
    with serving(ctx, LOCAL) as url, httpx.Client(base_url=f"{url}/api/v1/tools/mnemic/") as client:
        client.headers["Authorization"] = f"Bearer {secret}"
        assert client.post("open", json={"ids": ["Ours"]}).status_code == 200
        assert client.post("open", json={"ids": ["Theirs"]}).status_code == 404
        refused = client.post("remember", json={"text": "x", "namespace": "ours"})
        assert refused.status_code == 403 and refused.json()["code"] == "DENIED"


def test_a_stored_token_counts_over_mcp_too(ctx):
    kept(ctx, "Theirs", namespace="theirs")
    secret = create_token(ctx, TokenRequest(name="reader", namespaces=("ours",), can_write=False))
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "open", "arguments": {"ids": [1]}},
    }
    with serving(ctx, LOCAL) as url:
        answered = httpx.post(f"{url}/mcp", json=call, headers={"X-API-Key": secret})
        without = httpx.post(f"{url}/mcp", json=call)
    assert answered.json()["result"]["isError"] is True
    assert without.status_code == 401, "once there is a token, one is needed on this machine too"


@pytest.mark.parametrize("header", [{"X-API-Key": "anything"}, {"Authorization": "Bearer anything"}])
def test_a_key_is_ignored_where_none_is_needed(ctx, header):
    with serving(ctx, LOCAL) as url:
        assert httpx.get(f"{url}/api/v1/tools", headers=header).status_code == 200
        assert httpx.get(f"{url}/api/v1/stats?api_key=anything").status_code == 200


def test_a_token_is_needed_as_long_as_there_is_one(ctx):
    with serving(ctx, LOCAL) as url:
        create_token(ctx, TokenRequest(name="new", namespaces=None, can_write=True))
        assert httpx.get(f"{url}/api/v1/tools").status_code == 401
        assert httpx.get(f"{url}/api/v1/tools", headers={"X-API-Key": "anything"}).status_code == 401
        revoke_token(ctx, "new")
        assert httpx.get(f"{url}/api/v1/tools").status_code == 200


def test_a_refused_login_is_logged_without_what_was_tried_and_slowed(ctx, caplog):
    with serving(ctx, LOCKED) as url:
        took = []
        for _ in range(4):
            started = time.monotonic()
            refused = httpx.get(f"{url}/api/v1/tools?q=x", headers={"X-API-Key": "mn_guess"})
            took.append(time.monotonic() - started)
            assert refused.status_code == 401
        assert (
            httpx.get(f"{url}/api/v1/tools", headers={"X-API-Key": LOCKED.token.encode()}).status_code == 200
        )
    assert "refused login 4 from 127.0.0.1: GET '/api/v1/tools'" in caplog.text
    assert "guess" not in caplog.text
    assert took[3] >= 3 * DELAY_SECONDS


def test_abroad_a_token_is_needed_and_any_host_will_do(ctx):
    secret = create_token(ctx, TokenRequest(name="team", namespaces=None, can_write=True))
    with serving(ctx, ABROAD) as url:
        assert httpx.get(f"{url}/api/v1/tools", headers={"Host": "memory.team"}).status_code == 401
        headers = {"Host": "memory.team", "X-API-Key": secret}
        assert httpx.get(f"{url}/api/v1/tools", headers=headers).status_code == 200


def test_the_daemon_does_not_open_to_the_network_without_a_token(ctx):
    check_start(LOCAL, ctx)
    check_start(AuthPolicy("0.0.0.0", "token"), ctx)
    with pytest.raises(Denied, match="MNEMIC_TOKEN"):
        check_start(ABROAD, ctx)
    create_token(ctx, TokenRequest(name="team", namespaces=None, can_write=True))
    check_start(ABROAD, ctx)


@pytest.mark.parametrize(
    "host, local", [("::1", True), ("127.1.2.3", True), ("::", False), ("box", False), ("", False)]
)
def test_loopback(host, local):
    assert is_loopback(host) is local


def test_blanks_around_a_header_are_no_part_of_it(ctx):
    """Over a real socket: the parser that reads a request leaves the blanks behind a value."""
    with serving(ctx, AuthPolicy("127.0.0.1", "secret")) as url:
        host, _, port = url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=10) as wire:
            wire.sendall(
                f"GET /api/v1/stats HTTP/1.1\r\nHost: {host}:{port} \t\r\nX-API-Key:  secret  \r\n"
                "Connection: close\r\n\r\n".encode()
            )
            assert wire.recv(15) == b"HTTP/1.1 200 OK"


def test_expired_token_opens_nothing(ctx, clock):
    wanted = TokenRequest(name="temp", expires_at=ctx.now() + HOUR)
    secret = create_token(ctx, wanted)
    with serving(ctx) as url:
        assert stats(url, secret).status_code == 200
        clock.advance(hours=2)
        refused = stats(url, secret)
    assert refused.status_code == 401 and "expired" in refused.json()["error"]


def test_rotated_token_opens_with_the_new_secret_alone(ctx):
    old = create_token(ctx, TokenRequest(name="temp"))
    new = rotate_token(ctx, "temp")
    with serving(ctx) as url:
        assert [stats(url, one).status_code for one in (old, new)] == [401, 200]


def test_use_of_a_token_is_recorded_and_its_name_is_the_actor(ctx):
    secret = create_token(ctx, TokenRequest(name="laptop"))
    with serving(ctx) as url:
        httpx.post(
            f"{url}/api/v1/tools/mnemic/remember",
            json={"text": "by token"},
            headers={"X-API-Key": secret, "Mnemic-Client": "someone-else"},
        )
        for _ in range(200):
            if tokens(ctx)[0].used_at:
                break
            time.sleep(0.02)
    assert tokens(ctx)[0].used_at is not None
    assert next(iter(history(ctx, limit=1))).actor == "laptop"


def test_requests_beyond_the_rate_are_refused_until_later(ctx):
    secret = create_token(ctx, TokenRequest(name="busy", quota=Quota(requests_per_minute=3)))
    with serving(ctx) as url:
        statuses = [stats(url, secret).status_code for _ in range(5)]
    assert statuses[:3] == [200, 200, 200] and 429 in statuses[3:]


def stats(url, secret):
    return httpx.post(f"{url}/api/v1/tools/mnemic/stats", headers={"X-API-Key": secret})

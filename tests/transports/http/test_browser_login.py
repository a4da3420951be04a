"""Login of a browser: a cookie instead of a header, and no way to use it from another page."""

from __future__ import annotations

import httpx
import pytest
from server_process import serving

from mnemic.core.access import TokenRequest, create_token, revoke_token
from mnemic.transports.http.auth import AuthPolicy
from mnemic.transports.http.cookies import LIFE_SECONDS, MOST, Cookies

LOCKED = AuthPolicy("127.0.0.1", "open sesame")
OURS = {"Mnemic-Client": "dashboard"}


@pytest.fixture
def browser(ctx):
    """A client that keeps cookies, of a daemon that asks for a token."""
    with (
        serving(ctx, LOCKED) as url,
        httpx.Client(base_url=f"{url}/api/v1", headers=OURS, timeout=30) as client,
    ):
        yield client


def test_a_token_is_exchanged_for_a_cookie_no_script_can_read(browser):
    assert browser.get("/whoami").status_code == 401
    answered = browser.post("/login", json={"token": "open sesame"})
    cookie = answered.headers["set-cookie"].lower()
    assert answered.json() == {"logged_in": True} and "sesame" not in cookie
    assert all(part in cookie for part in ("httponly", "samesite=strict", "path=/api/v1"))
    assert browser.get("/whoami").json()["is_admin"] is True
    assert browser.post("/tools/mnemic/remember", json={"text": "Tea is at four"}).status_code == 200


@pytest.mark.parametrize("body", [{"token": "open barley"}, {"token": ""}])
def test_a_wrong_token_opens_nothing(browser, body):
    answered = browser.post("/login", json=body)
    assert answered.status_code == 401 and "set-cookie" not in answered.headers
    assert browser.get("/whoami").status_code == 401


def test_a_login_without_a_token_names_the_field(browser):
    assert browser.post("/login", json={"token": 5}).json()["field"] == "token"


def test_the_cookie_alone_changes_nothing(browser):
    browser.post("/login", json={"token": "open sesame"})
    del browser.headers["Mnemic-Client"]
    assert browser.post("/tools/mnemic/remember", json={"text": "forged"}).status_code == 401
    assert browser.get("/whoami").status_code == 200


def test_log_out_ends_it_on_the_server_too(browser):
    browser.post("/login", json={"token": "open sesame"})
    kept = dict(browser.cookies)
    assert kept
    browser.post("/logout")
    browser.cookies.update(kept)
    assert browser.get("/whoami").status_code == 401


def test_a_limited_token_learns_its_limits(ctx, browser):
    browser.post(
        "/login",
        json={
            "token": create_token(ctx, TokenRequest(name="contractor", namespaces=("acme",), can_write=False))
        },
    )
    who = browser.get("/whoami").json()
    assert (who["can_write"], who["is_admin"], who["namespaces"]) == (False, False, ["acme"])
    assert browser.post("/tools/mnemic/remember", json={"text": "x", "namespace": "acme"}).status_code == 403
    revoke_token(ctx, "contractor")
    assert browser.get("/whoami").status_code == 401


def test_cookies_expire_and_are_bounded():
    now = 0.0
    cookies = Cookies(lambda: now)
    headers = {"host": "localhost:9077", "cookie": f"mnemic_9077={cookies.issue(b'secret')}"}
    assert cookies.token("GET", headers) == b"secret"
    assert cookies.token("GET", {**headers, "host": "localhost:9078"}) is None
    now = LIFE_SECONDS + 1
    assert cookies.token("GET", headers) is None
    first = {"host": "localhost", "cookie": f"mnemic_login={cookies.issue(b'first')}"}
    for _ in range(MOST):
        cookies.issue(b"other")
    assert cookies.token("GET", first) is None

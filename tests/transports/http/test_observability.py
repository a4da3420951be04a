"""What an operator sees of the daemon: probes, metrics, log lines and traces."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from server_process import environment, serving
from support import kept
from support import serving as answering

from mnemic.core.access import TokenRequest, create_token
from mnemic.errors import StoreUnusable
from mnemic.transports.http.auth import AuthPolicy
from mnemic.transports.http.request_log import configure

LOCKED = AuthPolicy("127.0.0.1", "open sesame")


def test_probes_need_no_token_and_tell_nothing(ctx):
    with serving(ctx, LOCKED) as url:
        for path in ("/livez", "/readyz"):
            answered = httpx.get(url + path)
            assert (answered.status_code, answered.text) == (200, "ok")


def test_readiness_fails_while_the_store_does_not_answer(ctx, monkeypatch):
    def broken(self, store):
        raise StoreUnusable("/secret/path is damaged")

    monkeypatch.setattr(type(ctx.engines), "probe", broken)
    with serving(ctx) as url:
        answered = httpx.get(f"{url}/readyz")
        assert answered.status_code == 503
        assert "secret" not in answered.text
        assert httpx.get(f"{url}/livez").status_code == 200


def test_metrics_count_requests_by_declared_route_and_memories_by_state(ctx):
    memory = kept(ctx, "We deploy on Fridays")
    with serving(ctx) as url:
        httpx.get(f"{url}/api/v1/memories/{memory.uid}")
        httpx.get(f"{url}/nowhere/{'x' * 50}")
        httpx.request("PROPFIND", f"{url}/livez")
        text = httpx.get(f"{url}/metrics").text
    assert 'mnemic_requests_total{method="GET",route="/api/v1/memories/{id}",status="200"} 1.0' in text
    assert 'mnemic_requests_total{method="GET",route="none",status="404"} 1.0' in text
    assert 'method="other"' in text
    assert "xxx" not in text
    assert 'mnemic_memories{state="living"} 1.0' in text
    assert "mnemic_pending_vectors 1.0" in text


def test_metrics_are_for_those_who_may_see_all_namespaces(ctx):
    limited = create_token(ctx, TokenRequest(name="contractor", namespaces=("one",), can_write=True))
    full = create_token(ctx, TokenRequest(name="prometheus", namespaces=None, can_write=False))
    with serving(ctx) as url:
        statuses = [
            httpx.get(f"{url}/metrics", headers={"Authorization": f"Bearer {secret}"}).status_code
            for secret in (limited, full, "wrong")
        ]
    assert statuses == [403, 200, 401]


def test_log_format_is_named_if_it_is_wrong():
    with pytest.raises(Exception, match="log_format: must be text or json, not 'xml'"):
        configure("xml", False)


class Collector(ThreadingHTTPServer):
    """An OTLP collector that keeps the bodies it is sent."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Take)
        self.bodies = []


class _Take(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.bodies.append((self.path, body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        """Nothing on standard error."""


def test_requests_are_logged_as_json_and_traced_without_their_contents(tmp_path):
    with answering(Collector()) as collector:
        variables = environment(tmp_path) | {
            "MNEMIC_LOG_FORMAT": "json",
            "MNEMIC_LOG_REQUESTS": "1",
            "MNEMIC_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_port}",
            "PYTHONUNBUFFERED": "1",
        }
        daemon = subprocess.Popen(
            [sys.executable, "-m", "mnemic", "serve", "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=variables,
            text=True,
        )
        url = next(word for word in daemon.stdout.readline().split() if word.startswith("http"))
        body = {"text": "a private sentence"}
        parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        _retried(lambda: httpx.get(f"{url}/livez"))
        httpx.post(f"{url}/api/v1/tools/mnemic/remember", json=body, headers={"traceparent": parent})
        os.kill(daemon.pid, signal.SIGTERM)
        _, log = daemon.communicate(timeout=60)
    lines = [json.loads(line) for line in log.splitlines()]
    [line] = [one for one in lines if one.get("method") == "POST"]
    assert line["route"] == "/api/v1/tools/{dialect}/{tool}"
    assert line["status"] == 200 and line["level"] == "info" and line["milliseconds"] > 0
    assert "private" not in log
    sent = b"".join(body for path, body in collector.bodies if path == "/v1/traces")
    assert b"POST /api/v1/tools/{dialect}/{tool}" in sent
    assert bytes.fromhex("0af7651916cd43dd8448eb211c80319c") in sent
    assert b"private" not in sent


def _retried(call):
    for _ in range(100):
        try:
            return call()
        except httpx.ConnectError:
            time.sleep(0.05)
    raise AssertionError("the daemon does not answer")

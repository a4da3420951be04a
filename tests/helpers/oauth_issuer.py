"""An authorization server on this machine: its metadata, its keys, and tokens signed with them."""

from __future__ import annotations

import contextlib
import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from support import serving


class OAuthIssuer(ThreadingHTTPServer):
    """Serves discovery and keys at `url`; `token` signs claims with its key, or with *key*."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.key = ec.generate_private_key(ec.SECP256R1())

    def keys(self) -> dict[str, Any]:
        """The public keys, as a JWK set."""
        public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [{**public, "kid": "one", "use": "sig", "alg": "ES256"}]}

    def token(self, *, key: Any = None, algorithm: str = "ES256", **claims: Any) -> str:
        """A token of these claims, valid for an hour unless they say otherwise."""
        given = {"iss": self.url, "sub": "ann", "exp": int(time.time()) + 3600, **claims}
        return jwt.encode(given, key or self.key, algorithm=algorithm, headers={"kid": "one"})


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, OAuthIssuer)
        known = {
            "/.well-known/openid-configuration": {"jwks_uri": f"{self.server.url}/keys"},
            "/keys": self.server.keys(),
        }
        self.send_response(200 if self.path in known else 404)
        self.end_headers()
        self.wfile.write(json.dumps(known.get(self.path)).encode())

    def log_message(self, *_: object) -> None:
        """Nothing on standard error."""


def oauth_issuer() -> contextlib.AbstractContextManager[OAuthIssuer]:
    """A running issuer."""
    return serving(OAuthIssuer())

"""HTTP client in a process of its own that recalls over several connections as fast as it is answered.

It handles requests and answers as bytes, so that the client takes as little of the CPU as possible.
"""

from __future__ import annotations

import itertools
import json
import socket
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from bench import texts

QUESTIONS = 500
WARM_UP_SECONDS = 1.0
CHUNK = 1 << 16


def main() -> None:
    """Print how many recalls a second the daemon on a local port answers."""
    port, size, connections, seconds = map(int, sys.argv[1:5])
    print(answers_a_second(port, size, connections, seconds))


def answers_a_second(port: int, size: int, connections: int, seconds: float) -> float:
    """Recalls a second, after a warm-up."""
    asked = itertools.cycle([request(turn * 997 % size) for turn in range(QUESTIONS)])
    begin = time.perf_counter() + WARM_UP_SECONDS
    with ThreadPoolExecutor(connections) as threads:
        counts = [threads.submit(ask, port, asked, begin, begin + seconds) for _ in range(connections)]
    return sum(count.result() for count in counts) / seconds


def request(number: int) -> bytes:
    """An HTTP request that recalls memory *number*."""
    body = json.dumps({"context": texts.question(number)}).encode()
    head = (
        "POST /api/v1/recall HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def ask(port: int, asked: Iterator[bytes], begin: float, end: float) -> int:
    """Ask one question after another over one connection; how many were answered from *begin* to *end*."""
    count = 0
    with socket.create_connection(("127.0.0.1", port)) as connection:
        while time.perf_counter() < end:
            connection.sendall(next(asked))
            read_answer(connection)
            count += begin <= time.perf_counter() < end
    return count


def read_answer(connection: socket.socket) -> None:
    """Read one answer to its end; RuntimeError if it is a failure or empty."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += _more(connection)
    head, _, body = received.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n", 1)[0])
    while len(body) < length:
        body += _more(connection)
    if not head.startswith(b"HTTP/1.1 200") or b'"count":0' in body:
        raise RuntimeError(f"{head[:60]!r} {body[:200]!r}")


def _more(connection: socket.socket) -> bytes:
    if chunk := connection.recv(CHUNK):
        return chunk
    raise RuntimeError("the daemon closed the connection")


if __name__ == "__main__":
    main()

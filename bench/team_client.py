"""HTTP clients in a process of their own that recall or write in several namespaces as fast as they are answered."""

from __future__ import annotations

import itertools
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from bench import texts
from bench.http_client import ask
from bench.team import CLIENTS, EACH, NAMESPACES, namespace

PREPARED = 6_000
"""So many different requests are made before the first is sent."""


def main() -> None:
    """Print how many calls were answered in the given seconds."""
    kind, port, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    start = time.time_ns() // 1000 if kind == "writes" else 0
    made = [request(kind, start, number) for number in range(PREPARED)]
    asked = iter(made) if kind == "writes" else itertools.cycle(made)
    begin = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as threads:
        counts = [threads.submit(ask, port, asked, begin, begin + seconds) for _ in range(CLIENTS)]
    print(sum(count.result() for count in counts))


def request(kind: str, start: int, number: int) -> bytes:
    """The HTTP request of a call."""
    space = namespace(number)
    if kind == "writes":
        tool, body = "remember", {"text": texts.text(start + number), "namespace": space}
    else:
        tool, body = "recall", {"query": texts.question(number % (NAMESPACES * EACH)), "namespace": space}
    content = json.dumps(body).encode()
    head = (
        f"POST /api/v1/tools/mnemic/{tool} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


if __name__ == "__main__":
    main()

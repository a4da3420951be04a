"""A client of the daemon in a process of its own: it recalls over several connections, as fast as it is answered.

It writes requests and reads answers as bytes, since a client that does more would be measured with the daemon.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
import time
from collections.abc import Iterator

from bench import texts

QUESTIONS = 500
WARM_UP_SECONDS = 1.0


def main() -> None:
    """Ask the daemon on a port of this machine for so many seconds, and print how many answers a second came."""
    port, size, connections, seconds = map(int, sys.argv[1:5])
    print(asyncio.run(answers_a_second(port, size, connections, seconds)))


async def answers_a_second(port: int, size: int, connections: int, seconds: float) -> float:
    """How many recalls are answered, after a while in which caches fill."""
    asked = itertools.cycle([request(turn * 997 % size) for turn in range(QUESTIONS)])
    begin = time.perf_counter() + WARM_UP_SECONDS
    counts = await asyncio.gather(*(ask(port, asked, begin, begin + seconds) for _ in range(connections)))
    return sum(counts) / seconds


def request(number: int) -> bytes:
    """A request to recall what memory *number* says."""
    body = json.dumps({"context": texts.question(number)}).encode()
    head = (
        "POST /api/v1/recall HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def ask(port: int, asked: Iterator[bytes], begin: float, end: float) -> int:
    """Ask one question after another over one connection; how many were answered between two moments."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    count = 0
    while time.perf_counter() < end:
        writer.write(next(asked))
        await answered(reader)
        count += begin <= time.perf_counter() < end
    writer.close()
    return count


async def answered(reader: asyncio.StreamReader) -> None:
    """Read one answer to its end; RuntimeError if it is a failure or empty."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n", 1)[0])
    body = await reader.readexactly(length)
    if not head.startswith(b"HTTP/1.1 200") or b'"count":0' in body:
        raise RuntimeError(f"{head[:60]!r} {body[:200]!r}")


if __name__ == "__main__":
    main()

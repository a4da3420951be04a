"""Import of a JSON document, before vectors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bench import texts
from bench.figures import Figure, timed
from bench.run import Bench
from bench.stores import BEGINNING, open_store, scratch
from bench.timer import spent
from mnemic.dialects.ai_memory import validation
from mnemic.model.time import iso
from mnemic.transfer.document import import_json

COUNT = 10_000
LIMIT_MS = 5_000


def import_document(bench: Bench) -> Iterator[Figure]:
    """Ten thousand memories of ai-memory's export format, each validated."""
    content = {"memories": [entry(number) for number in range(COUNT)], "links": []}
    with scratch() as folder, open_store(folder / "empty.db") as app:
        ours = spent([partial(import_json, app.ctx, content, check=validation.entry)])
    yield timed(f"import of {COUNT:,} memories", ours, limit=LIMIT_MS)


def entry(number: int) -> dict[str, object]:
    """Memory *number* as an entry of an export."""
    text = texts.text(number)
    return {
        "id": f"{number:08x}-0000-4000-8000-000000000000",
        "title": f"{number} {text[:50]}",
        "content": text,
        "tier": "long",
        "namespace": "global",
        "tags": ["bench"],
        "priority": 5,
        "confidence": 1.0,
        "source": "import",
        "access_count": 0,
        "created_at": iso(BEGINNING + number),
        "updated_at": iso(BEGINNING + number),
    }

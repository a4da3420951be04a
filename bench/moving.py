"""Moving: memories taken in from a JSON document, before their vectors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bench import texts
from bench.bench import Bench
from bench.figures import Figure, timed
from bench.measuring import spent
from bench.stores import BEGINNING, open_store, scratch
from mnemic.core.moving.documents import import_json
from mnemic.dialects.ai_memory import rules
from mnemic.model.values import iso

COUNT = 10_000
BUDGET_MS = 5_000


def moving(bench: Bench) -> Iterator[Figure]:
    """Ten thousand memories of ai-memory's document, each checked by its rules."""
    content = {"memories": [entry(number) for number in range(COUNT)], "links": []}
    with scratch() as folder, open_store(folder / "empty.db") as app:
        ours = spent([partial(import_json, app.ctx, content, check=rules.entry)])
    yield timed(f"import of {COUNT:,} memories", ours, BUDGET_MS)


def entry(number: int) -> dict[str, object]:
    """Memory *number* as an export tells it."""
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

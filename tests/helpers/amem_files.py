"""AgenticMemory files (.amem) for tests."""

from __future__ import annotations

from pathlib import Path

from mnemic.dialects.agentic_memory import amem_file
from mnemic.dialects.agentic_memory.amem_file import Brain, FileLink, Node

WHEN = 1_771_466_912_000_000

GREENHOUSE = Brain(
    (
        Node(
            id=0, type="fact", text="The greenhouse is heated with wood pellets", created_at=WHEN, session=1
        ),
        Node(
            id=1,
            type="decision",
            text="Chose cedar for the greenhouse frame",
            created_at=WHEN + 1,
            session=1,
            confidence=0.75,
            access_count=3,
            accessed_at=WHEN + 50,
        ),
        Node(id=2, type="episode", text="Planned the greenhouse", created_at=WHEN + 2, session=2),
    ),
    (FileLink(source=1, target=0, type="caused_by", weight=0.5, created_at=WHEN + 1),),
    0,
)
CORRECTED = Brain(
    (
        Node(id=4, type="fact", text="The pump is red", created_at=WHEN, confidence=0.0),
        Node(id=5, type="correction", text="The pump is blue", created_at=WHEN + 9),
    ),
    (FileLink(source=5, target=4, type="supersedes", created_at=WHEN + 9),),
)


def a_file(path: Path, brain: Brain = GREENHOUSE) -> Path:
    """*brain* in the file at *path*."""
    path.write_bytes(amem_file.write(brain))
    return path

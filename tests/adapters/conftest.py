"""An open memory without a model, for adapters."""

from __future__ import annotations

import pytest

import mnemic


@pytest.fixture
def memories(tmp_path):
    with mnemic.open(tmp_path / "agent.db", namespace="chat", embedder="none") as opened:
        yield opened


@pytest.fixture
def anyio_backend():
    return "asyncio"

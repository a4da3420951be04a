"""Mnemic: memory for AI agents. `mnemic.open(path)` opens a memory from Python."""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, whose import takes longer than all else the shim of `mnemic mcp` does
if TYPE_CHECKING:
    from os import PathLike

    from mnemic.api import Memories
    from mnemic.async_api import OpeningMemories

__version__ = "0.1.0"
__all__ = ["__version__", "open", "open_async"]


def open(
    path: str | PathLike[str] | None = None, *, namespace: str | None = None, embedder: str | None = None
) -> Memories:
    """The memory at *path* (default: the user's own), created if it is not there. Use it in a `with` block.

    *namespace* (a name, or `auto` for the project of the working folder) and *embedder* (local, openai, ollama or
    none) are the user's settings unless they are given.
    """
    from mnemic.api import open_memories

    return open_memories(path, namespace=namespace, embedder=embedder)


def open_async(
    path: str | PathLike[str] | None = None, *, namespace: str | None = None, embedder: str | None = None
) -> OpeningMemories:
    """The same for asyncio: `async with mnemic.open_async(path) as memory: await memory.recall("…")`."""
    from mnemic.async_api import OpeningMemories

    return OpeningMemories(path, namespace=namespace, embedder=embedder)

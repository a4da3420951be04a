"""Pausing capture: for a while or until it is resumed."""

from __future__ import annotations

from mnemic.core.context import Context
from mnemic.model.time import Moment

SETTING = "capture_paused_until"
ALWAYS: Moment = 2**62


def paused_until(ctx: Context) -> Moment | None:
    """Until when capture is paused; None if it is not."""
    kept = ctx.read().setting(SETTING)
    until = int(kept) if kept else 0
    return until if until > ctx.now() else None


def is_paused(ctx: Context) -> bool:
    """Whether nothing is captured now."""
    return paused_until(ctx) is not None


def pause(ctx: Context, until: Moment = ALWAYS) -> None:
    """Capture nothing until then."""
    ctx.change("pause_capture", lambda tx: tx.put_setting(SETTING, str(until)))


def resume(ctx: Context) -> None:
    """Capture again."""
    ctx.change("resume_capture", lambda tx: tx.put_setting(SETTING, "0"))

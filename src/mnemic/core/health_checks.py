"""Checks of a store: its files, its journal, the embedding models and the vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from mnemic.core.context import Context
from mnemic.errors import Denied, MnemicError
from mnemic.model.filter import Filter
from mnemic.model.time import MINUTE, iso
from mnemic.storage.queries import newest_change

PROBE = ("The deployment runs on Friday.", "We deploy on Fridays.", "Bananas are yellow.")
"""Two sentences that mean the same, and another."""


class Health(StrEnum):
    """How a part is doing."""

    OK = "ok"
    NOTE = "note"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found."""

    check: str
    health: Health
    detail: str


def store_checks(ctx: Context) -> Iterator[CheckResult]:
    """Every check in turn; one that fails does not keep the others from being made."""
    for check, work in (("database", database), ("journal", journal), ("model", model), ("vectors", vectors)):
        yield checked(check, lambda work=work: work(ctx))  # type: ignore[misc]


def checked(check: str, work: Callable[[], CheckResult]) -> CheckResult:
    """What *work* finds, or that it failed and how."""
    try:
        return work()
    except MnemicError as error:
        return CheckResult(check, Health.BROKEN, str(error))
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        return CheckResult(check, Health.BROKEN, f"{error.strerror or error}{where}")
    except Exception as error:  # a check reports what it does not understand, too
        return CheckResult(check, Health.BROKEN, f"{type(error).__name__}: {error}")


def database(ctx: Context) -> CheckResult:
    """The store agrees with itself."""
    faults = ctx.engines.check(ctx.store)
    if faults:
        more = f" and {len(faults) - 1} more" if len(faults) > 1 else ""
        return CheckResult("database", Health.BROKEN, f"{faults[0]}{more}")
    reader = ctx.read()
    memories = sum(reader.tally(Filter(alive_at=ctx.now()), "state").values())
    summary = f"{memories:,} {'memory' if memories == 1 else 'memories'}, {reader.size_bytes() / 1e6:.1f} MB"
    if refusal := _refusal(ctx):
        return CheckResult("database", Health.NOTE, f"{summary}. It can be read, but {refusal}")
    if lack := ctx.engines.lack(ctx.store):
        return CheckResult("database", Health.NOTE, f"{summary}. {lack}")
    return CheckResult("database", Health.OK, summary)


def _refusal(ctx: Context) -> str | None:
    """Why nothing can be written, or None."""
    try:
        ctx.change("doctor", lambda tx: None)
    except Denied:
        return None
    except MnemicError as error:
        return str(error)
    return None


def journal(ctx: Context) -> CheckResult:
    """The newest change can be read, and was not made in the future."""
    last = newest_change(ctx.read())
    summary = f"{last.sequence:,} changes" if last else "empty"
    if last is None or last.at <= ctx.now() + MINUTE:
        return CheckResult("journal", Health.OK, summary)
    return CheckResult(
        "journal",
        Health.NOTE,
        f"{summary}, the last dated {iso(last.at)[:16]}: a clock was ahead. Until then `history` and `--as-of` date "
        "later changes so too; memories have their true times",
    )


def model(ctx: Context) -> CheckResult:
    """Each model loads, and finds like sentences alike."""
    if ctx.embedder is None:
        return CheckResult("model", Health.NOTE, "none: memories are found by words only")
    networks = {each.network: each for each in ctx.embedder.models}
    for name, each in networks.items():
        same, alike, other = each.embed(list(PROBE))
        if float(same @ alike) <= float(same @ other):
            return CheckResult("model", Health.BROKEN, f"{name} finds unlike sentences alike")
    summary = "; ".join(f"{name}, {each.dimension} dimensions" for name, each in networks.items())
    return CheckResult("model", Health.OK, summary)


def vectors(ctx: Context) -> CheckResult:
    """How many statements wait for vectors."""
    waiting = ctx.read().backlog() if ctx.embedder else 0
    if not waiting:
        return CheckResult("vectors", Health.OK, "none missing")
    verb = "statement waits" if waiting == 1 else "statements wait"
    return CheckResult(
        "vectors", Health.NOTE, f"{waiting:,} {verb} for vectors; `mnemic embed` computes them"
    )

"""The LORE_* variables, and where a caller keeps and looks."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any

from mnemic.core.context import GLOBAL, Context
from mnemic.core.link_suggestions import LinkSignals
from mnemic.core.trust.ratings import Steps
from mnemic.dialects.lorekeeper.dedup import Gate, Likely
from mnemic.dialects.lorekeeper.score import Lore
from mnemic.errors import Invalid
from mnemic.model.limits import QUALITY

PREFIX = "LORE_"
SHARED = "shared"
OTHER_NAMES = {"LORE_W_SCORE": "LORE_W_MEMORY"}
"""Variables that the dialect's first home calls otherwise in its code than in its documents."""
DATABASE = "mnemic.db"


def _at_least(least: float, default: Any) -> Any:
    return field(default=default, metadata={"least": least})


@dataclass(frozen=True, slots=True, kw_only=True)
class LoreSettings:
    """Everything a LORE_* variable can set, with its default. The variable is the name in capitals."""

    namespace: str = ""
    search_limit: int = _at_least(1, 10)
    duplicate_threshold: float = _at_least(0, 0.85)
    decay_lambda: float = _at_least(0, 0.0077)
    w_semantic: float = _at_least(0, 0.45)
    w_keyword: float = _at_least(0, 0.30)
    w_score: float = _at_least(0, 0.15)
    w_usage: float = _at_least(0, 0.10)
    usage_normalisation_cap: int = _at_least(1, 100)
    score_bump_up: float = _at_least(0, 0.5)
    score_bump_down: float = _at_least(0, 0.5)
    score_min: float = _at_least(0, 0.0)
    score_max: float = _at_least(0, 10.0)
    soft_delete_confidence_threshold: float = _at_least(0, 2.0)
    new_memory_default_score: float = _at_least(0, 5.0)
    confidence_window_size: int = _at_least(1, 20)
    max_refine_from_ids: int = _at_least(0, 200)
    max_search_ids: int = _at_least(0, 50)
    max_links_per_memory: int = _at_least(0, 5)
    auto_link_enabled: bool = True
    auto_link_k: int = _at_least(1, 5)
    auto_link_threshold: float = _at_least(0, 0.75)
    link_top_k: int = _at_least(1, 50)
    link_top_m: int = _at_least(1, 10)
    link_score_threshold: float = _at_least(0, 0.3)
    link_weight_cosine: float = _at_least(0, 0.5)
    link_weight_bm25: float = _at_least(0, 0.3)
    link_weight_entity: float = _at_least(0, 0.1)
    link_weight_temporal: float = _at_least(0, 0.1)
    link_temporal_tau_days: float = _at_least(0.001, 30.0)

    @property
    def profile(self) -> Lore:
        """The order of a search."""
        return Lore(
            semantic=self.w_semantic,
            keyword=self.w_keyword,
            quality=self.w_score,
            usage=self.w_usage,
            decay=self.decay_lambda,
            usage_cap=self.usage_normalisation_cap,
        )

    @property
    def steps(self) -> Steps:
        """What a rating does."""
        return Steps(
            up=self.score_bump_up,
            down=self.score_bump_down,
            window=self.confidence_window_size,
            lowest=min(self.score_min, QUALITY.high),
            highest=min(self.score_max, QUALITY.high),
            doubted_at=self.soft_delete_confidence_threshold,
        )

    @property
    def likely(self) -> Likely | None:
        """Similarity from which a thought is linked automatically; None for never."""
        if not self.auto_link_enabled:
            return None
        reason = "auto-linked from lore_remember: {:.2f}"
        return Likely(threshold=self.auto_link_threshold, reason=reason, among=self.auto_link_k)

    @property
    def signals(self) -> LinkSignals:
        """What speaks for a link."""
        return LinkSignals(
            cosine=self.link_weight_cosine,
            bm25=self.link_weight_bm25,
            entity=self.link_weight_entity,
            temporal=self.link_weight_temporal,
            threshold=self.link_score_threshold,
            depth=self.link_top_k,
            days=self.link_temporal_tau_days,
        )


@dataclass(frozen=True, slots=True)
class Bearings:
    """The settings, the namespace to write to, and those to read (None: all)."""

    settings: LoreSettings
    home: str
    namespaces: tuple[str, ...] | None

    @property
    def gate(self) -> Gate:
        """What a new memory must pass."""
        return Gate(namespaces=self.namespaces, threshold=self.settings.duplicate_threshold)


def bearings(ctx: Context) -> Bearings:
    """The caller's namespaces. `shared` reads everywhere, another namespace itself and `shared`."""
    settings = settings_of(ctx.variables)
    own = ctx.namespace or settings.namespace
    if own in ("", SHARED):
        home = SHARED if own or ctx.may_see(SHARED) else ctx.home()
        return Bearings(settings, ctx.home(home), ctx.granted)
    read = dict.fromkeys((own, SHARED, GLOBAL) if ctx.namespace else (own, SHARED))
    return Bearings(settings, ctx.home(own), tuple(name for name in read if ctx.may_see(name)))


def settings_of(variables: Mapping[str, str]) -> LoreSettings:
    """The settings that *variables* make, or Invalid with the name of one that is no good."""
    return _settings(tuple(sorted((name, value) for name, value in variables.items() if value)))


@functools.lru_cache(maxsize=8)
def _settings(variables: tuple[tuple[str, str], ...]) -> LoreSettings:
    given = dict(variables)
    chosen: dict[str, Any] = {}
    for item in fields(LoreSettings):
        variable = PREFIX + item.name.upper()
        used = next((name for name in (variable, OTHER_NAMES.get(variable, "")) if name in given), None)
        if used:
            chosen[item.name] = _typed(used, given[used], item)
    return LoreSettings(**chosen)


def _typed(variable: str, text: str, item: Field[Any]) -> Any:
    match item.default:
        case bool():
            if text.lower() in ("1", "true", "yes", "on", "0", "false", "no", "off"):
                return text.lower() in ("1", "true", "yes", "on")
            raise Invalid(f"{variable}: must be true or false, not {text!r}", variable)
        case str():
            return text
    kind, name = (int, "a whole number") if isinstance(item.default, int) else (float, "a number")
    try:
        value = kind(text)
    except ValueError:
        raise Invalid(f"{variable}: must be {name}, not {text!r}", variable) from None
    if not math.isfinite(value) or value < item.metadata["least"]:
        raise Invalid(f"{variable}: must be at least {item.metadata['least']}, not {text!r}", variable)
    return value


def database(environment: Mapping[str, str]) -> Path | None:
    """The database in LORE_DATA_DIR, where that is set; Invalid if a variable is no good."""
    settings_of({name: value for name, value in environment.items() if name.startswith(PREFIX)})
    folder = environment.get("LORE_DATA_DIR")
    return Path(folder).expanduser() / DATABASE if folder else None

"""Substring search: the server leaves out what cannot hold the characters, the rest is compared here."""

from __future__ import annotations

from mnemic.model.filter import Filter
from mnemic.storage.postgres.connection import Executor
from mnemic.storage.postgres.memories import where
from mnemic.storage.postgres.rows import column, rows

IDS_AFTER = """
SELECT m.id FROM memory m WHERE m.id > %(after)s AND {conditions} ORDER BY m.id LIMIT %(limit)s
"""
# The server lowers ASCII letters alone, so a text with others is looked at here. An ASCII text holds only ASCII.
_MAY_HOLD = """(octet_length({0}) != char_length({0})
    OR %(is_ascii)s AND strpos(lower({0} COLLATE "C"), %(needle)s) > 0)"""
TEXTS = f"""
SELECT m.id, m.title, m.kind, ARRAY(
  SELECT s.text FROM statement s
  WHERE s.namespace_id = m.namespace_id AND s.memory_id = m.id AND s.until IS NULL AND s.position > 0
    AND {{within[s]}} AND {_MAY_HOLD.format("s.text")})
FROM memory m
WHERE m.id > %(after)s AND {{conditions}} AND ({_MAY_HOLD.format("m.title")} OR {_MAY_HOLD.format("m.kind")} OR EXISTS (
  SELECT 1 FROM statement s
  WHERE s.namespace_id = m.namespace_id AND s.memory_id = m.id AND s.until IS NULL AND s.position > 0
    AND {{within[s]}} AND {_MAY_HOLD.format("s.text")}))
ORDER BY m.id LIMIT %(page)s
"""
PAGE = 500


def search(db: Executor, needle: str, wanted: Filter, after: int, limit: int | None) -> list[int]:
    """The memories after number *after* that pass and hold *needle*, by number."""
    conditions, values = where(wanted, db.here)
    within = db.here.within(wanted.namespaces)
    values |= {"after": after, "limit": limit}
    if not needle:
        return column(db, IDS_AFTER.format(conditions=conditions), values)
    sought = needle.lower()
    if any("\ud800" <= one <= "\udfff" for one in sought) or "\0" in sought:
        return []  # no text has these
    values |= {
        "needle": sought,
        "is_ascii": sought.isascii(),
        "page": PAGE,
    }
    sql = TEXTS.format(conditions=conditions, within=within)
    found: list[int] = []
    while page := rows(db, sql, values):
        found += [
            number
            for number, title, kind, texts in page
            if any(sought in text.lower() for text in (title, kind, *texts))
        ]
        if len(page) < PAGE or (limit is not None and len(found) >= limit):
            break
        values["after"] = page[-1][0]
    return found[:limit]

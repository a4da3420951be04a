"""The budgets of the design, one entry a row of the table; a measurement names the row it measures."""

from __future__ import annotations

from dataclasses import dataclass

BUDGET_SIZES = (10_000, 100_000, 1_000_000)
GROWTH = 0.15
"""The logarithm itself grows with an exponent of 0.11 from 1,000 to 100,000."""
RETRIEVAL = "python -m bench.retrieval --data FOLDER"
TRUST = "trust_score.py, beside the data"


@dataclass(frozen=True, slots=True)
class Budget:
    """What is measured, its limit, and the measurement (or the command) that gives it."""

    what: str
    limit: float
    unit: str
    measured_by: str
    is_minimum: bool = False


BUDGETS: dict[str, Budget] = {
    "write": Budget("durable write in the caller, embedder at work", 1.2, "ms", "write"),
    "write alone": Budget("durable write, embedder off", 0.8, "ms", "write"),
    "write syncs": Budget("fsyncs a durable write", 1, "", "write"),
    "batch": Budget("batch of 50", 8, "ms", "batch"),
    "postgres write": Budget("durable write, PostgreSQL, client and server", 1.5, "ms", "postgres"),
    "postgres batch": Budget("batch of 50, PostgreSQL, client and server", 30, "ms", "postgres"),
    "recall storage small": Budget("storage of a recall in 1,000, PostgreSQL", 8, "ms", "storage"),
    "recall storage database": Budget(
        "storage of a recall in 90,000, from the database", 30, "ms", "storage"
    ),
    "recall storage index": Budget("storage of a recall in 90,000, from the index", 8, "ms", "storage"),
    "copy to postgres": Budget(
        "copy to PostgreSQL before vector indexes", 3_000, "/s", "copy", is_minimum=True
    ),
    "team recalls": Budget("recalls of 16 HTTP clients, PostgreSQL", 100, "/s", "team", is_minimum=True),
    "team writes": Budget("writes of 16 HTTP clients, PostgreSQL", 300, "/s", "team", is_minimum=True),
    "search 10k": Budget("keyword search, all words, 10,000", 1, "ms", "search"),
    "search 100k": Budget("keyword search, all words, 100,000", 3, "ms", "search"),
    "recall 10k": Budget("recall over 10,000", 8, "ms", "recall"),
    "recall namespace": Budget("recall in a namespace of 1 % of the largest store", 8, "ms", "recall"),
    "recall 100k": Budget("recall over 100,000", 25, "ms", "recall"),
    "open": Budget("open by name", 0.2, "ms", "open"),
    "start cold": Budget("first answer of the stdio server, cold", 400, "ms", "start"),
    "start warm": Budget("first answer of the stdio server beside a warm one", 60, "ms", "start"),
    "start memory": Budget("memory of a stdio server beside a warm one", 15, "MB", "start"),
    "hook": Budget("a hook beside a warm daemon, client and daemon together", 150, "ms", "hooks"),
    "command warm": Budget("`mnemic recall` beside a warm daemon", 120, "ms", "command"),
    "first paint": Budget("first paint of the dashboard, warm", 1_000, "ms", "paint"),
    "ten clients": Budget("ten stdio clients and their daemon", 400, "MB", "clients"),
    "processes kept": Budget("eight processes, 800 writes, kept", 800, "", "processes", is_minimum=True),
    "processes errors": Budget("eight processes, 800 writes, refused", 0, "", "processes"),
    "processes p99": Budget("eight processes, p99 wall time / plain SQLite", 1, "×", "processes"),
    "memory without model": Budget("memory at 10,000, without model", 110, "MB", "memory"),
    "memory with model": Budget("memory at 10,000, with model", 240, "MB", "memory"),
    "disk": Budget("disk a memory, vector included", 2, "kB", "disk"),
    "bulk": Budget("bulk load before vectors", 5_000, "/s", "bulk", is_minimum=True),
    "embed": Budget("embedding, short texts a second and core", 150, "/s", "embed", is_minimum=True),
    "growth write": Budget("growth of write, exponent", GROWTH, "", "growth"),
    "growth open": Budget("growth of open by name, exponent", GROWTH, "", "growth"),
    "growth search": Budget("growth of keyword search, exponent", GROWTH, "", "growth"),
    "backlog recall": Budget("recall while 6,000 statements wait / quiet", 1.5, "×", "backlog"),
    "backlog once": Budget("times a waiting statement is embedded, two processes", 1, "×", "backlog"),
    "as_of 10k": Budget("as_of recall / recall, 10,000", 2, "×", "as_of"),
    "as_of 100k": Budget("as_of recall / recall, 100,000", 2, "×", "as_of"),
    "million first": Budget("first recall of a fresh process, 1,000,000", 300, "ms", "million"),
    "million recall": Budget("recall over 1,000,000", 40, "ms", "million"),
    "million as_of": Budget("as_of recall / recall, 1,000,000", 2, "×", "million"),
    "million export": Budget("peak memory of export, 1,000,000 / 10,000", 1.2, "×", "million"),
    "million memory": Budget("daemon memory beyond mapped files, 1,000,000", 300, "MB", "million"),
    "million growth write": Budget("growth of write to 1,000,000, exponent", GROWTH, "", "million"),
    "million growth open": Budget("growth of open by name to 1,000,000, exponent", GROWTH, "", "million"),
    "million growth search": Budget("growth of keyword search to 1,000,000, exponent", GROWTH, "", "million"),
    "abstain empty": Budget(
        "unanswerable questions, far and foreign: empty", 70, "%", TRUST, is_minimum=True
    ),
    "abstain false": Budget("answerable questions: falsely empty", 3, "%", TRUST),
    "abstain auc": Budget("unanswerable questions, near: AUC", 0.75, "", TRUST, is_minimum=True),
    "claims false": Budget("claims: false verified", 2, "%", TRUST),
    "claims contradicted": Budget("claims: contradictions found", 70, "%", TRUST, is_minimum=True),
    "claims false contradicted": Budget("claims: false contradicted", 5, "%", TRUST),
    "claims verified": Budget("claims: true verified", 60, "%", TRUST, is_minimum=True),
    "languages words": Budget("ten languages: words hit@1", 0.95, "", TRUST, is_minimum=True),
    "languages meaning": Budget("ten languages: meaning hit@5", 0.6, "", TRUST, is_minimum=True),
    "languages cross": Budget("ten languages: cross-lingual hit@5", 0.6, "", TRUST, is_minimum=True),
    "longmemeval any": Budget("LongMemEval-S any@5", 0.985, "", RETRIEVAL, is_minimum=True),
    "longmemeval all": Budget("LongMemEval-S all@5", 0.93, "", RETRIEVAL, is_minimum=True),
    "locomo session": Budget("LoCoMo session any@5", 0.94, "", RETRIEVAL, is_minimum=True),
    "locomo turn": Budget("LoCoMo turn any@5", 0.74, "", RETRIEVAL, is_minimum=True),
    "beam": Budget("BEAM 128K exchange any@5", 0.82, "", RETRIEVAL, is_minimum=True),
    "scifact": Budget("SciFact nDCG@10", 0.74, "", RETRIEVAL, is_minimum=True),
}
"""Rows of the design's table by key. Where a row has several sizes or measures, each is an entry."""

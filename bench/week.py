"""A simulated week of work: sessions of real conversations through the hooks, then questions about them as prompts.

    python -m bench.week --data FOLDER [--sessions 200] [--captured FILE]

Conversations of LoCoMo, LongMemEval-S and BEAM become sessions of projects, each with a transcript as Claude Code
writes it. Every user message is a prompt, every answer a Stop; every session has a start and an end. Then the questions
of the data are asked as prompts of new sessions. Reported: tokens injected, how many prompts get anything, the share of
questions whose injection holds a turn of the evidence, and what was captured. --captured writes the captured statements
to a file, to be judged by reading.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mnemic import app as composition
from mnemic.core.capture import review
from mnemic.core.context import Context
from mnemic.core.embedding_queue import embed_pending
from mnemic.hooks import HOOK_CLIENTS, When
from mnemic.hooks.answer import Limits, answer
from mnemic.model.text_size import estimated_tokens
from mnemic.settings import Settings

SETS = ("beam_128k", "locomo10", "longmemeval_s")
SESSION_TURNS = 8
"""Exchanges of BEAM in one session: its documents are single exchanges."""
QUESTIONS = 20
"""Questions asked of one project."""
LONGEST_PROJECT = 34
_GIVEN = re.compile(r"\[(\d+), \d{4}-")


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a person said and what was answered, and the ids of these turns."""

    user: str
    agent: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Project:
    """A conversation in sessions, and questions with the turns that answer them."""

    name: str
    sessions: list[list[Exchange]]
    questions: list[tuple[str, frozenset[str]]]


@dataclass(slots=True)
class Week:
    """What was counted."""

    sessions: int = 0
    prompts: int = 0
    prompts_given: int = 0
    brief_tokens: int = 0
    prompt_tokens: int = 0
    questions: int = 0
    questions_given: int = 0
    questions_held: int = 0
    question_tokens: int = 0
    captured: list[str] = field(default_factory=list)
    cpu_seconds: float = 0.0


def projects(folder: Path) -> Iterator[Project]:
    """The conversations of the data, one set after the other in turn."""
    each = [list(_of_set(folder / f"{name}.dev.jsonl.gz", name)) for name in SETS]
    for number in range(max(map(len, each))):
        for found in each:
            if number < len(found):
                yield found[number]


def _of_set(file: Path, name: str) -> Iterator[Project]:
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        lines = [json.loads(line) for line in stream]
    documents = {one["id"]: one["turns"] for one in lines if one["kind"] == "doc"}
    asked: dict[str, list[dict[str, Any]]] = {}
    for one in lines:
        if one["kind"] == "question" and one["turns"] and not one["abstain"]:
            asked.setdefault(one["haystack"], []).append(one)
    for haystack in (one for one in lines if one["kind"] == "haystack"):
        yield _project(name, haystack, documents, asked.get(haystack["id"], []))


def _project(
    name: str, haystack: dict[str, Any], documents: dict[str, Any], asked: list[dict[str, Any]]
) -> Project:
    held = [list(_exchanges(documents[id])) for id, _ in haystack["docs"]]
    if name == "beam_128k":
        flat = [exchange for one in held for exchange in one]
        held = [flat[start : start + SESSION_TURNS] for start in range(0, len(flat), SESSION_TURNS)]
    held = held[:LONGEST_PROJECT]
    known = {id for session in held for exchange in session for id in exchange.ids}
    questions = [(one["question"], frozenset(one["turns"])) for one in asked if known & set(one["turns"])]
    random.Random(7).shuffle(questions)
    return Project(f"{name}-{haystack['id']}", held, questions[:QUESTIONS])


def _exchanges(turns: list[dict[str, Any]]) -> Iterator[Exchange]:
    """Turns in pairs; in a talk of two people the second speaker is taken for the agent."""
    person = turns[0]["role"] if turns else ""
    said: list[dict[str, Any]] = []
    for turn in turns:
        if turn["role"] == person and said and said[-1]["role"] != person:
            yield _exchange(said, person)
            said = []
        said.append(turn)
    if said:
        yield _exchange(said, person)


def _exchange(said: list[dict[str, Any]], person: str) -> Exchange:
    user = "\n".join(one["text"] for one in said if one["role"] == person)
    agent = "\n".join(one["text"] for one in said if one["role"] != person)
    return Exchange(user, agent, tuple(one["id"] for one in said))


def lived(ctx: Context, project: Project, folder: Path, week: Week) -> None:
    """Work through the sessions of *project*, then ask its questions."""
    own = replace(ctx, namespace=project.name)
    home: dict[int, tuple[str, ...]] = {}
    for number, session in enumerate(project.sessions):
        _session(own, f"{project.name}-{number}", session, folder, week, home)
    embed_pending(own, 100_000)
    for number, (question, evidence) in enumerate(project.questions):
        given = _call(own, When.PROMPT, f"{project.name}-q{number}", prompt=question)
        week.questions += 1
        week.questions_given += bool(given)
        week.question_tokens += estimated_tokens(given)
        ids = {id for one in _GIVEN.findall(given) for id in home.get(int(one), ())}
        week.questions_held += bool(ids & evidence)
    week.captured += [f"{one.kind}\t{one.content}" for one in review.waiting(own)]


def _session(
    ctx: Context, name: str, said: list[Exchange], folder: Path, week: Week, home: dict[int, tuple[str, ...]]
) -> None:
    file = folder / f"{re.sub(r'[^a-zA-Z0-9-]', '_', name)}.jsonl"
    path = str(file)
    week.sessions += 1
    week.brief_tokens += estimated_tokens(_call(ctx, When.START, name, transcript_path=path))
    for exchange in said:
        given = _call(ctx, When.PROMPT, name, prompt=exchange.user, transcript_path=path)
        week.prompts += 1
        week.prompts_given += bool(given)
        week.prompt_tokens += estimated_tokens(given)
        with file.open("a", encoding="utf-8") as stream:
            stream.write(_entry("user", exchange.user) + _entry("assistant", exchange.agent))
        before = ctx.store.newest()
        _call(ctx, When.TURN, name, transcript_path=path)
        for change in ctx.read().changes(before):
            if change.subject == "memory":
                home[change.subject_id] = exchange.ids
    _call(ctx, When.END, name, transcript_path=path)


def _call(ctx: Context, when: When, session: str, **fields: str) -> str:
    client = HOOK_CLIENTS["claude-code"]
    event = client.read(when, {"session_id": session, "cwd": "/", **fields})
    return answer(ctx, client, event, Limits(1_000, 600, True))


def _entry(role: str, text: str) -> str:
    return json.dumps({"type": role, "message": {"role": role, "content": text}}) + "\n"


def _part(number: int, of: int) -> str:
    return f"{number:,} of {of:,} ({100 * number / max(1, of):.0f} %)"


def report(week: Week) -> str:
    """The figures in lines."""
    return "\n".join(
        (
            f"sessions                          {week.sessions:,}",
            f"prompts with an injection         {_part(week.prompts_given, week.prompts)}",
            f"tokens a session, brief           {week.brief_tokens / max(1, week.sessions):.0f}",
            f"tokens a prompt                   {week.prompt_tokens / max(1, week.prompts):.0f}",
            f"questions with an injection       {_part(week.questions_given, week.questions)}",
            f"  that holds a turn of evidence   {_part(week.questions_held, week.questions)}",
            f"tokens a question                 {week.question_tokens / max(1, week.questions):.0f}",
            f"captured statements               {len(week.captured):,} from {week.prompts:,} messages",
            f"CPU                               {week.cpu_seconds:.0f} s",
        )
    )


def main() -> None:
    """Run the week and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.week", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the data")
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--captured", type=Path, help="file for the captured statements")
    arguments = parser.parse_args()
    week, began = Week(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(db=str(Path(folder) / "week.db"), fast_writes=True)
        with composition.open_app(settings, actor="claude-code") as app:
            for project in projects(arguments.data):
                room = arguments.sessions - week.sessions
                if room <= 0:
                    break
                lived(app.ctx, replace(project, sessions=project.sessions[:room]), Path(folder), week)
    week.cpu_seconds = time.process_time() - began
    if arguments.captured:
        arguments.captured.write_text("\n".join(line.replace("\n", " ") for line in week.captured) + "\n")
    print(report(week))


if __name__ == "__main__":
    main()

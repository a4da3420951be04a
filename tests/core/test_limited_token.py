"""A token that is limited to one namespace: what stands in the others changes no answer it gets."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from read_calls import READS, arguments_of
from support import Uids, kept

from mnemic.app import dialect
from mnemic.core.access import TokenRequest, create_token, token_for
from mnemic.core.embedding_queue import embed_pending
from mnemic.core.memories import forget
from mnemic.dialects.execution import answer
from mnemic.model.access import Grant
from mnemic.transports.mcp.methods import Endpoint

OPEN = Grant(("open",), can_write=True)
SCORE = re.compile(r"\d+\.\d+(?:e-?\d+)?")
"""Word statistics are those of the searched namespaces; figures are compared where that is tested."""


def plain(caller, text: str) -> str:
    """*text* as told to *caller*, without scores, and without where its store lives."""
    return SCORE.sub("0.0", text.replace(caller.store.location, "here"))


def told(ctx, words: str):
    """A caller limited to `open` over a store in whose other namespace stands something about *words*."""
    heron = kept(ctx, "the heron stands in the pond", name="Heron", namespace="open")
    kept(ctx, "the egret stands near the pond", name="Egret", namespace="open")
    for number in range(12):
        text = f"the {words} number {number} hides in the secret pond"
        kept(ctx, text, name=f"{words} {number}", namespace="secret", tags=(words,), kind=words)
    hidden = kept(ctx, f"more about {words}", name=f"{words} that left", namespace="secret")
    forget(ctx, [hidden.id])
    answer(
        dialect("mnemic"),
        ctx.limited_to(Grant(("secret",), True)),
        "session",
        {"action": "start", "topic": words},
    )
    embed_pending(ctx, 100)
    return ctx.limited_to(OPEN), heron


@pytest.fixture
def callers(ctx, fresh):
    """The same caller where others keep one thing, and where they keep another."""
    other = fresh("other")
    other.use_models(ctx.embedder.name)
    return told(ctx, "zebra"), told(replace(ctx, store=other, new_uid=Uids(), sessions={}), "lorem")


def shown(caller, heron, name, tool, asked):
    arguments = {
        key: "zebra" if value == "heron" and asked == "others" else value
        for key, value in arguments_of(name, tool, heron).items()
    }
    outcome = answer(dialect(name), caller, tool, arguments)
    return outcome.error is None, plain(caller, outcome.rendered.text)


@pytest.mark.parametrize("asked", ["own", "others"])
@pytest.mark.parametrize("name", READS)
def test_an_answer_does_not_depend_on_what_others_keep(callers, name, asked):
    for tool in READS[name]:
        answers = [shown(*caller, name, tool, asked) for caller in callers]
        assert answers[0] == answers[1], tool
        assert "secret" not in answers[0][1] and "that left" not in answers[0][1], tool


@pytest.mark.parametrize("name", ["mnemic", "agentic-memory"])
def test_a_resource_does_not_depend_on_what_others_keep(callers, name):
    endpoint = Endpoint(dialect(name))

    def read(caller, address: str) -> str:
        try:
            return str(endpoint.handle(caller, "resources/read", {"uri": address}))
        except Exception as error:
            return str(error)

    for resource in dialect(name).resources:
        for part in ("1", "5", "Heron", "zebra 3", "secret"):
            address = re.sub(r"\{[^}]*\}", part, resource.template)
            answers = [plain(caller, read(caller, address)) for caller, _ in callers]
            assert answers[0] == answers[1], address


@pytest.mark.parametrize(
    ("name", "tool", "arguments"),
    [
        ("mcp-memory", "migrate", {"source_path": "{path}"}),
        ("agentic-memory", "memory_workspace_create", {"name": "all of it"}),
    ],
)
def test_it_takes_no_path(ctx, tmp_path, name, tool, arguments):
    file = tmp_path / "others.jsonl"
    file.write_text('{"type":"entity","name":"Zebra","entityType":"secret","observations":["hides"]}\n')
    given = {key: value.replace("{path}", str(file)) for key, value in arguments.items()}
    wide = replace(ctx, roots=(tmp_path,))
    refused = answer(dialect(name), wide.limited_to(OPEN), tool, given)
    assert "limited to some namespaces" in refused.rendered.text
    assert answer(dialect("mnemic"), ctx, "recall", {"query": "Zebra"}).rendered.text.count("Zebra") == 0
    assert answer(dialect(name), wide, tool, given).error is None


def test_it_does_not_learn_whether_a_file_exists(ctx, tmp_path):
    wide = replace(ctx, roots=(tmp_path,)).limited_to(OPEN)
    (tmp_path / "there.jsonl").write_text("")
    said = [
        answer(dialect("mcp-memory"), wide, "migrate", {"source_path": str(tmp_path / name)}).rendered.text
        for name in ("there.jsonl", "nowhere.jsonl")
    ]
    assert said[0] == said[1]


def test_a_token_of_the_store_carries_its_limit(ctx):
    secret = create_token(ctx, TokenRequest(name="agent", namespaces=("open",), can_write=True))
    assert token_for(ctx, secret).grant == OPEN

"""The playground: what an agent would read. And the pages of a history."""

from __future__ import annotations

import orjson
from support import kept

from mnemic.app import dialect
from mnemic.core.memories import forget
from mnemic.dialects.execution import answer
from mnemic.dialects.framework import as_json

NATIVE = dialect("mnemic")


def run(ctx, name, arguments):
    operation = {**NATIVE.operations, **NATIVE.commands}[name]
    return operation.function(ctx, operation.parse(arguments))


def test_it_is_the_text_that_an_agent_gets(ctx):
    kept(ctx, "Tea is served at four in the kitchen", namespace="ours")
    asked = {"query": "when is tea served in the kitchen?", "namespace": "ours"}
    tried = run(ctx, "playground", {"tool": "recall", "arguments": asked})
    assert tried.text == answer(NATIVE, ctx, "recall", asked).rendered.text
    assert orjson.loads(tried.text)["memories"]
    assert (tried.is_error, tried.tokens > 10) == (False, True)


def test_it_leaves_no_trace(ctx):
    tea = kept(ctx, "Tea is served at four in the kitchen")
    run(ctx, "playground", {"arguments": {"query": "tea in the kitchen"}})
    assert ctx.read().get([tea.id])[0].access_count == 0
    assert ctx.read().recalls(limit=9) == []


def test_a_look_that_is_not_recorded_leaves_no_trace(ctx):
    tea = kept(ctx, "Tea is served at four in the kitchen")
    asked = {"query": "when is tea served in the kitchen?", "record": False}
    assert [hit.id for hit in run(ctx, "recall", asked).memories] == [tea.id]
    assert run(ctx, "open", {"ids": [tea.id], "record": False}).count == 1
    assert ctx.read().get([tea.id])[0].access_count == 0
    assert ctx.read().recalls(limit=9) == []


def test_a_mistake_is_shown_as_the_agent_would_see_it(ctx):
    tried = run(ctx, "playground", {"arguments": {"question": "tea"}})
    assert tried.is_error
    assert "query" in tried.text


def test_a_history_is_read_in_pages(ctx, clock):
    for number in range(5):
        clock.advance(seconds=1)
        kept(ctx, f"Thing number {number}", namespace="ours" if number % 2 else "theirs")
    forget(ctx, [2])
    first = run(ctx, "history", {"limit": 3})
    assert [(one.change, one.operation) for one in first.changes] == [
        (6, "forget"),
        (5, "remember"),
        (4, "remember"),
    ]
    assert first.changes[0].title == "Thing number 1"
    second = run(ctx, "history", {"limit": 3, "before": first.changes[-1].change})
    assert [one.change for one in second.changes] == [3, 2, 1]
    assert [one.change for one in run(ctx, "history", {"operation": "forget"}).changes] == [6]
    assert [one.change for one in run(ctx, "history", {"namespace": "ours"}).changes] == [6, 4, 2]
    assert "title" in as_json(first)["changes"][0]

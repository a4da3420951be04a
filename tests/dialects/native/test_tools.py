"""the native dialect: its examples run, bad input is named, and nothing else ever comes back."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import START, Uids, WordEmbedder, everything, faults, kept, last_number, open_store

from mnemic.app import dialect
from mnemic.core.archive import archive_stats
from mnemic.core.context import Context
from mnemic.core.memories import Note, remember
from mnemic.dialects import execution
from mnemic.dialects.framework import as_json
from mnemic.dialects.json_schema import input_schema, tool_schema
from mnemic.errors import Conflict, Denied, Invalid, MnemicError, NotFound
from mnemic.model.access import Grant
from mnemic.model.enums import Tier
from mnemic.model.text_size import estimated_tokens
from mnemic.model.time import DAY

MNEMIC = dialect("mnemic")

OPERATIONS = MNEMIC.operations
EXAMPLES = [(name, example.arguments) for name, one in OPERATIONS.items() for example in one.examples]
HUGE = 10**30
TEXT_70_KB = "x" * 70_000


@pytest.fixture
def stocked(ctx, clock):
    """A store with what the examples speak of: memories 7, 12 and 40, one called Deploys."""
    remember(ctx, [Note(text=f"The API note {number}") for number in range(1, 40)])
    kept(ctx, "The API is deployed on Fridays", name="Deploys")
    clock.advance(days=2)
    return ctx


def call(ctx, name, **arguments):
    return execution.call(MNEMIC, ctx, name, arguments)


# -- the declarations


@pytest.mark.parametrize(
    "name, arguments", EXAMPLES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_example_runs(stocked, name, arguments):
    if name == "explore" and "to" in arguments:
        call(stocked, "link", source=12, target=arguments["to"])
    if name == "session" and arguments["action"] == "end":
        call(stocked, "session", action="start")
    if name == "undo" and "change" in arguments:
        arguments = {**arguments, "change": last_number(stocked.store)}
    reply = execution.call(MNEMIC, stocked, name, arguments)
    rendered = MNEMIC.render(reply)
    assert isinstance(reply, OPERATIONS[name].reply) and not rendered.is_error
    assert json.loads(rendered.text) == rendered.structured


def test_every_operation_has_a_description():
    for operation in OPERATIONS.values():
        assert operation.title and operation.description.endswith(".")
        assert operation.examples or not input_schema(operation.request).get("required"), (
            "shown in the reference"
        )
    assert len(OPERATIONS) <= 16


def test_an_unknown_tool_is_not_found(ctx):
    with pytest.raises(NotFound, match="Unknown tool: remembr"):
        call(ctx, "remembr")


@pytest.mark.parametrize(
    "operation", [one for one in OPERATIONS.values() if one.read_only], ids=lambda one: one.name
)
def test_read_only_tools_change_nothing(stocked, operation):
    before = everything(stocked.store)
    for example in operation.examples:
        if "to" not in example.arguments:
            execution.call(
                MNEMIC, stocked.limited_to(Grant(None, can_write=False)), operation.name, example.arguments
            )
    assert everything(stocked.store) == before


# -- bad input


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_unknown_argument_is_named(ctx, name):
    with pytest.raises(Invalid, match="bogus: unknown argument"):
        call(ctx, name, bogus=1)


@pytest.mark.parametrize(
    "name, arguments, field",
    [
        ("remember", {"txt": "mistyped"}, "txt"),
        ("remember", {"text": 5}, "text"),
        ("remember", {"text": ["a", "b"]}, "text"),
        ("remember", {"text": ""}, None),
        ("remember", {"text": " \n\t "}, "text"),
        ("remember", {"text": "a\0b"}, "text"),
        ("remember", {"text": "\ud800"}, "text"),
        ("remember", {"text": TEXT_70_KB}, "text"),
        ("remember", {"text": "é" * 40_000}, "text"),
        ("remember", {"text": "x", "title": "\0"}, "title"),
        ("remember", {"text": "x", "title": "t" * 513}, "title"),
        ("remember", {"text": "x", "tags": [""]}, "tags.0"),
        ("remember", {"text": "x", "tags": ["a", "\ud83d"]}, "tags.1"),
        ("remember", {"text": "x", "tags": ["t"] * 51}, "tags"),
        ("remember", {"text": "x", "tier": "forever"}, "tier"),
        ("remember", {"text": "x", "ttl": "soon"}, "ttl"),
        ("remember", {"text": "x", "ttl": "0d"}, "ttl"),
        ("remember", {"text": "x", "ttl": "-1d"}, "ttl"),
        ("remember", {"text": "x", "confidence": float("nan")}, "confidence"),
        ("remember", {"text": "x", "confidence": float("inf")}, "confidence"),
        ("remember", {"text": "x", "confidence": 2}, "confidence"),
        ("remember", {"text": "x", "confidence": "high"}, "confidence"),
        ("remember", {"text": "x", "priority": 11}, "priority"),
        ("remember", {"text": "x", "priority": HUGE}, "priority"),
        ("remember", {"text": "x", "priority": 5.5}, "priority"),
        ("remember", {"text": "x", "namespace": "n" * 129}, "namespace"),
        ("remember", {"text": "x", "links": [{"to": 0}]}, "links.0.to"),
        ("remember", {"text": "x", "links": [{"to": HUGE}]}, "links.0.to"),
        ("remember", {"text": "x", "links": [{"type": "t"}]}, "links.0.to"),
        ("remember", {"text": "x", "links": [{"to": 1, "wieght": 1}]}, "links.0.wieght"),
        ("remember", {"items": []}, None),
        ("remember", {"items": [{"text": "x"}] * 1001}, "items"),
        ("remember", {"items": [{"text": "x"}, {"text": ""}]}, "items.1.text"),
        ("remember", {"items": [{"text": "x", "tilte": "t"}]}, "items.0.tilte"),
        ("remember", {"items": 5}, "items.0"),
        ("remember", {}, None),
        ("remember", {"text": "x", "items": [{"text": "y"}]}, None),
        ("recall", {}, "query"),
        ("recall", {"query": ""}, "query"),
        ("recall", {"query": "q" * 10_001}, "query"),
        ("recall", {"query": "a\0"}, "query"),
        ("recall", {"query": "q", "limit": 0}, "limit"),
        ("recall", {"query": "q", "limit": 101}, "limit"),
        ("recall", {"query": "q", "limit": HUGE}, "limit"),
        ("recall", {"query": "q", "since": "someday"}, "since"),
        ("recall", {"query": "q", "until": "2026-13-01"}, "until"),
        ("recall", {"query": "q", "as_of": "x" * 41}, "as_of"),
        ("recall", {"query": "q", "as_of": "\0"}, "as_of"),
        ("recall", {"query": "q", "budget_tokens": 49}, "budget_tokens"),
        ("recall", {"query": "q", "detail": "all"}, "detail"),
        ("recall", {"query": "q", "around": 11}, "around"),
        ("recall", {"query": "q", "min_relevance": 2}, "min_relevance"),
        ("remember", {"text": "x", "occurred_at": "someday"}, "occurred_at"),
        ("open", {"ids": []}, "ids"),
        ("open", {"ids": [0]}, "ids.0"),
        ("open", {"ids": [-1]}, "ids.0"),
        ("open", {"ids": [HUGE]}, "ids.0"),
        ("open", {"ids": [None]}, "ids.0"),
        ("open", {"ids": [True]}, "ids.0"),
        ("forget", {"ids": [True]}, "ids.0"),
        ("recall", {"query": "q", "limit": True}, "limit"),
        ("remember", {"text": "x", "confidence": False}, "confidence"),
        ("remember", {"items": [{"text": "x", "priority": True}]}, "items.0.priority"),
        ("open", {"ids": [1] * 101}, "ids"),
        ("revise", {"text": "x"}, "id"),
        ("revise", {"id": 1}, None),
        ("revise", {"id": 1, "text": ""}, None),
        ("revise", {"id": 1, "append": TEXT_70_KB}, "append"),
        ("revise", {"id": 1, "supersede": True, "title": "t"}, None),
        ("revise", {"id": 1, "supersede": True, "text": "t", "title": "t"}, None),
        ("forget", {}, None),
        ("forget", {"tags": []}, None),
        ("forget", {"namespace": "*"}, None),
        ("remember", {"text": "x", "namespace": "*"}, "namespace"),
        ("forget", {"kinds": [], "until": ""}, None),
        ("forget", {"ids": [1], "tags": ["x"]}, None),
        ("forget", {"ids": [1] * 1001}, "ids"),
        ("restore", {"ids": []}, "ids"),
        ("link", {"source": 1}, None),
        ("link", {"source": 1, "target": 2, "suggest": True}, None),
        ("link", {"source": 1, "suggest": 51}, "suggest"),
        ("link", {"source": 1, "target": 2, "weight": 1.5}, "weight"),
        ("link", {"source": 1, "target": 2, "weight": float("nan")}, "weight"),
        ("link", {"source": 1, "target": 2, "type": " "}, "type"),
        ("recall", {"query": "sky", "since": "2026-02-01", "until": "2026-01-01"}, "since"),
        ("history", {"since": "2026-02-01", "until": "2026-01-01"}, "since"),
        ("explore", {"id": 1, "direction": "up"}, "direction"),
        ("explore", {"id": 1, "depth": 11}, "depth"),
        ("verify", {"claim": " "}, "claim"),
        ("explore", {"id": 1, "impact": True, "to": 2}, None),
        ("history", {"limit": 0}, "limit"),
        ("history", {"view": "versions"}, None),
        ("history", {"view": "diff"}, None),
        ("history", {"view": "diff", "since": "1d", "id": 1}, None),
        ("session", {}, "action"),
        ("session", {"action": "pause"}, "action"),
        ("session", {"action": "start", "id": 1}, None),
        ("session", {"action": "end", "topic": "x"}, None),
        ("session", {"action": "log"}, "user"),
        ("session", {"action": "log", "user": " "}, "user"),
        ("rate", {"ids": [1]}, "useful"),
        ("rate", {"useful": True}, None),
        ("rate", {"ids": [1], "useful": True, "confidence": 0}, "confidence"),
        ("rate", {"ids": [1], "useful": True, "confidence": 11}, "confidence"),
        ("rate", {"links": ["a"], "useful": True}, "links.0"),
        ("tidy", {"action": "conflicts", "apply": True}, None),
        ("tidy", {"action": "conflicts", "id": 1}, None),
        ("undo", {}, None),
        ("undo", {"change": 1, "since": "1h"}, None),
        ("undo", {"change": HUGE}, "change"),
        ("undo", {"since": "once"}, "since"),
        ("tidy", {"action": "sweep"}, "action"),
        ("tidy", {"action": "split"}, None),
        ("tidy", {"action": "split", "id": 1, "into": 2}, None),
        ("tidy", {"action": "merge", "id": 1}, None),
        ("tidy", {"id": 1}, None),
        ("tidy", {"apply": True}, None),
        ("tidy", {"action": "expired", "id": 1}, None),
        ("forget", {"ids": [1], "archive": True, "purge": True}, None),
        ("reflect", {}, None),
        ("reflect", {"text": " "}, "text"),
        ("reflect", {"query": " "}, None),
        ("reflect", {"text": "x", "query": "y"}, None),
        ("reflect", {"query": "y", "about": 1}, None),
        ("reflect", {"query": "y", "limit": 0}, "limit"),
    ],
)
def test_bad_input_is_refused_by_name_and_changes_nothing(stocked, name, arguments, field):
    before = everything(stocked.store)
    with pytest.raises(Invalid) as refusal:
        execution.call(MNEMIC, stocked, name, arguments)
    if field is not None:
        assert refusal.value.field == field
        assert str(refusal.value).startswith(f"{field.split('.')[0]}")
    assert len(str(refusal.value)) < 500, "a long input is not thrown back"
    assert "Value error" not in str(refusal.value), "the library's words are not ours"
    assert everything(stocked.store) == before


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("remember", {"text": "Something new"}),
        ("remember", {"items": [{"text": "Something new", "title": None, "links": None}], "kind": "fact"}),
        ("recall", {"query": "sky"}),
        ("open", {"ids": [1]}),
        ("revise", {"id": 1, "text": "A correction", "supersede": True}),
        ("forget", {"ids": [1]}),
        ("link", {"source": 1, "target": 2}),
        ("explore", {"id": 1, "impact": True}),
        ("history", {"id": 1}),
        ("session", {"action": "start"}),
        ("rate", {"ids": [1], "useful": True}),
        ("tidy", {}),
        ("stats", {}),
    ],
)
def test_null_means_an_omitted_argument(stocked, name, arguments):
    """As of clients that send every argument a tool has, as some models are made to."""
    fields = MNEMIC.operations[name].request.model_fields
    answer = execution.call(MNEMIC, stocked, name, {**dict.fromkeys(fields), **arguments})
    assert answer.model_fields_set


@pytest.mark.parametrize(
    "name, arguments, told",
    [
        ("recall", {"query": None, "limit": None}, "query: required"),
        ("recall", {"query": "sky", "limits": None}, "limits: unknown argument; did you mean `limit`?"),
        ("remember", {"items": [{"text": None}]}, "items.0.text: required"),
        ("forget", {"ids": None, "tags": None}, None),
    ],
)
def test_null_is_refused_for_required_arguments(stocked, name, arguments, told):
    with pytest.raises(Invalid) as refusal:
        execution.call(MNEMIC, stocked, name, arguments)
    assert told is None or str(refusal.value) == told


@pytest.mark.parametrize(
    "name, arguments, told",
    [
        ("open", {"ids": [1, 0]}, "ids.1: Input should be greater than or equal to 1"),
        ("open", {"ids": [""]}, "ids.0: must not be empty"),
        ("open", {"ids": ["t" * 513]}, "ids.0: Input should have at most 512 characters"),
        ("open", {"ids": ["a\0b"]}, "ids.0: contains a NUL character"),
        ("open", {"ids": [1.5]}, "ids.0: Input should be a valid integer or a valid string"),
        (
            "link",
            {"source": 1, "suggest": "many"},
            "suggest: Input should be a valid integer or a valid boolean",
        ),
        ("remember", {"text": "x", "links": [5]}, "links.0: Input should be an object"),
        ("recall", {"query": "x", "as_of": "x" * 41}, "as_of: Input should have at most 40 characters"),
        ("link", {"source": 1}, "give either `target` or `suggest`"),
    ],
)
def test_validation_errors_name_arguments_not_internals(stocked, name, arguments, told):
    with pytest.raises(Invalid) as refusal:
        execution.call(MNEMIC, stocked, name, arguments)
    assert str(refusal.value).startswith(told)


def test_a_long_unknown_argument_is_truncated_in_the_error(stocked):
    with pytest.raises(Invalid) as refusal:
        execution.call(MNEMIC, stocked, "recall", {"query": "x", "y" * 70_000: 1})
    assert str(refusal.value).startswith(f"{'y' * 80}: unknown argument; known are query, limit, ")


@pytest.mark.parametrize(
    "metadata",
    [
        {"n": HUGE},
        {"n": -HUGE},
        {"n": float("nan")},
        {"n": float("inf")},
        {"s": "\ud800"},
        {"\ud800": 1},
        {"deep": json.loads("[" * 300 + "]" * 300)},
        {"s": "a\0b"},
        {"s": "x" * 100_000},
        {"n": 2**63 - 1, "f": 0.1, "l": [None, True, "é", {}]},
    ],
    ids=["huge", "minus huge", "nan", "inf", "surrogate", "surrogate key", "deep", "nul", "long", "fine"],
)
@pytest.mark.parametrize("name", ["remember", "revise"])
def test_metadata_is_stored_faithfully_or_refused_by_name(stocked, name, metadata):
    arguments = {"text": "with metadata"} if name == "remember" else {"id": 1}
    before = everything(stocked.store)
    try:
        call(stocked, name, **arguments, metadata=metadata)
    except Invalid as refusal:
        assert str(refusal).startswith("metadata")
        assert everything(stocked.store) == before
    else:
        number = 41 if name == "remember" else 1
        opened = as_json(call(stocked, "open", ids=[number]))
        assert opened["memories"][0]["metadata"] == metadata


@pytest.mark.parametrize(
    "text", ["NEAR(", '" OR *', "'; DROP TABLE memory; --", "a:b", "<b>x</b>", "${HOME}", "日本", "\r\n\t"]
)
def test_any_text_is_accepted_in_any_field(stocked, text):
    text = f"{text}."
    kind = text.strip()
    stored = call(
        stocked, "remember", text=text, title=f"T {text}", tags=[kind], kind=kind, source=kind, namespace=kind
    )
    number = stored.stored[0].id
    [memory] = as_json(call(stocked, "open", ids=[f"T {text}".strip()], namespace=kind))["memories"]
    assert (memory["id"], memory["text"], memory["tags"], memory["namespace"]) == (
        number,
        text,
        [kind],
        kind,
    )
    assert isinstance(call(stocked, "recall", query=text, namespace=kind, min_relevance=0).memories, list)
    call(stocked, "verify", claim=text)
    assert call(stocked, "forget", namespace=kind, reason=text).deleted == 1
    assert faults(stocked.store) == []


def test_the_longest_text_is_stored(ctx):
    number = call(ctx, "remember", text="x" * 65_536).stored[0].id
    assert len(call(ctx, "open", ids=[number]).memories[0].text) == 65_536
    assert call(ctx, "remember", items=[{"text": f"item {n}"} for n in range(1000)]).refused is None
    assert call(ctx, "stats").total == 1001


def test_the_longest_ttl_is_stored(ctx):
    number = call(ctx, "remember", text="nearly forever", ttl="999999999y").stored[0].id
    assert as_json(call(ctx, "open", ids=[number]))["memories"][0]["expires_at"].startswith("9999-12-31")


# -- fuzzing

NASTY = [
    *(None, True, False, 0, 1, -1, 12, 2**63, -(2**63), HUGE, 0.5, float("nan"), float("inf"), -0.0),
    *(
        "",
        " ",
        "12",
        "Deploys",
        "a\0b",
        "\ud800",
        "é" * 200,
        "2026-01-31",
        "7d",
        "1h",
        "0001-01-01",
        "9999-12-31T23:59Z",
    ),
    *(
        "long",
        "out",
        "NEAR(",
        '"',
        "'; DROP TABLE memory; --",
        TEXT_70_KB,
        "2026-01-31T09:00+99:00",
        "99999999999d",
    ),
    *([], [1], ["a"], [None], [[]], [{}], {}, {"text": "x"}, [{"text": "x"}], [{"to": 1}], {"a": {"b": [1]}}),
]


@pytest.fixture(scope="module")
def fuzzed(engine, tmp_path_factory):
    store = open_store(engine, tmp_path_factory.mktemp("fuzzed"), durable=False)
    store.use_models(WordEmbedder().name)
    ctx = Context(store=store, embedder=WordEmbedder(), now=lambda: START, new_uid=Uids(), actor="fuzzer")
    remember(
        ctx, [Note(text=f"note {number}", name="Deploys" if number == 3 else None) for number in range(20)]
    )
    yield ctx
    assert faults(store) == []
    store.close()


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_input_gives_a_reply_or_a_known_error(fuzzed, data):
    operation = OPERATIONS[data.draw(st.sampled_from(sorted(OPERATIONS)))]
    fields = sorted(operation.request.model_fields)
    arguments = data.draw(st.dictionaries(st.sampled_from(fields), st.sampled_from(NASTY), max_size=4))
    if data.draw(st.booleans()):
        for example in operation.examples:
            arguments = {**example.arguments, **arguments}
    try:
        reply = execution.call(MNEMIC, fuzzed, operation.name, arguments)
    except MnemicError as error:
        assert str(error) and "Traceback" not in str(error)
    else:
        json.loads(MNEMIC.render(reply).text)


# -- calls as models make them


@pytest.mark.parametrize(
    "name, arguments, told",
    [
        ("remember", {"content": "x"}, "content: unknown argument; did you mean `text`?"),
        (
            "remember",
            {"text": "x", "importance": 5},
            "importance: unknown argument; did you mean `priority`?",
        ),
        ("remember", {"text": "x", "tag": "a"}, "tag: unknown argument; did you mean `tags`?"),
        ("remember", {"text": "x", "project": "a"}, "project: unknown argument; did you mean `namespace`?"),
        ("remember", {"memories": ["x"]}, "memories: unknown argument; did you mean `items`?"),
        (
            "remember",
            {"items": [{"content": "x"}]},
            "items.0.content: unknown argument; did you mean `text`?",
        ),
        ("recall", {"question": "x"}, "question: unknown argument; did you mean `query`?"),
        ("recall", {"text": "x"}, "text: unknown argument; did you mean `query`?"),
        ("recall", {"query": "x", "top_k": 3}, "top_k: unknown argument; did you mean `limit`?"),
        (
            "recall",
            {"query": "x", "minRelevance": 1},
            "minRelevance: unknown argument; did you mean `min_relevance`?",
        ),
        (
            "recall",
            {"query": "x", "max_tokens": 9},
            "max_tokens: unknown argument; did you mean `budget_tokens`?",
        ),
        ("recall", {"query": "x", "qqqqq": 9}, "qqqqq: unknown argument; known are query, limit, namespace"),
        ("open", {"id": 1}, "id: unknown argument; did you mean `ids`?"),
        ("open", {"memory_ids": [1]}, "memory_ids: unknown argument; did you mean `ids`?"),
        ("revise", {"memory_id": 1, "text": "x"}, "memory_id: unknown argument; did you mean `id`?"),
        ("revise", {"id": 1, "new_text": "x"}, "new_text: unknown argument; did you mean `text`?"),
        ("forget", {"memory_id": 1}, "memory_id: unknown argument; did you mean `ids`?"),
        ("link", {"source_id": 1, "target": 2}, "source_id: unknown argument; did you mean `source`?"),
        ("link", {"source": 1, "to": 2}, "to: unknown argument; did you mean `target`?"),
        (
            "link",
            {"source": 1, "target": 2, "relation": "x"},
            "relation: unknown argument; did you mean `type`?",
        ),
        ("open", {"ids": []}, "ids: must not be empty"),
        ("forget", {"ids": [1], "tags": ["x"]}, "give `ids` or a filter, not both"),
        ("verify", {"statement": "x"}, "statement: unknown argument; did you mean `claim`?"),
        ("session", {"command": "start"}, "command: unknown argument; did you mean `action`?"),
    ],
)
def test_a_wrong_argument_is_answered_with_what_to_do(stocked, name, arguments, told):
    with pytest.raises(Invalid) as refusal:
        execution.call(MNEMIC, stocked, name, arguments)
    assert told in str(refusal.value)


@pytest.mark.parametrize(
    "name, meant",
    [
        ("search", "recall"),
        ("store_memory", "remember"),
        ("memory_recall", "recall"),
        ("Remember", "remember"),
        ("delete", "forget"),
        ("update", "revise"),
        ("get_memory", "open"),
        ("mnemic_recall", "recall"),
    ],
)
def test_a_misspelt_tool_gets_a_suggestion(ctx, name, meant):
    with pytest.raises(NotFound, match=f"Unknown tool: {name}. Did you mean `{meant}`"):
        call(ctx, name)


@pytest.mark.parametrize(
    "name, arguments, same",
    [
        ("remember", {"text": "x", "tags": "deploy"}, {"text": "x", "tags": ["deploy"]}),
        ("remember", {"text": "x", "tags": "deploy, ci"}, {"text": "x", "tags": ["deploy", "ci"]}),
        ("remember", {"text": "x", "tags": '["a", "b"]'}, {"text": "x", "tags": ["a", "b"]}),
        ("remember", {"items": "x"}, {"items": [{"text": "x"}]}),
        ("remember", {"items": ["x", "y"]}, {"items": [{"text": "x"}, {"text": "y"}]}),
        ("remember", {"items": {"text": "x"}}, {"items": [{"text": "x"}]}),
        ("remember", {"items": '[{"text": "x", "tags": "a"}]'}, {"items": [{"text": "x", "tags": ["a"]}]}),
        ("remember", {"text": "", "items": ["x"], "title": "", "ttl": ""}, {"items": [{"text": "x"}]}),
        ("remember", {"text": "x", "metadata": '{"a": 1}'}, {"text": "x", "metadata": {"a": 1}}),
        ("remember", {"text": "x", "priority": "7"}, {"text": "x", "priority": 7}),
        ("remember", {"text": ["x"]}, {"text": "x"}),
        (
            "recall",
            {"query": "x", "limit": "5", "explain": "true"},
            {"query": "x", "limit": 5, "explain": True},
        ),
        ("recall", {"query": "x", "kinds": "note", "since": ""}, {"query": "x", "kinds": ["note"]}),
        ("open", {"ids": 1}, {"ids": [1]}),
        ("open", {"ids": "Deploys"}, {"ids": ["Deploys"]}),
        ("open", {"ids": "1, 2"}, {"ids": ["1", "2"]}),
        ("open", {"ids": "[1, 2]"}, {"ids": [1, 2]}),
        ("link", {"source": "1", "target": "2"}, {"source": 1, "target": 2}),
        ("link", {"source": 1, "suggest": True}, {"source": 1, "suggest": 10}),
    ],
)
def test_unambiguous_argument_types_are_coerced(stocked, name, arguments, same):
    operation = OPERATIONS[name]
    taken, meant = MNEMIC.parse(operation, arguments), operation.parse(same)
    if name == "link":
        assert as_json(call(stocked, name, **arguments)) == as_json(call(stocked, name, **same))
    else:
        assert taken == meant


@pytest.mark.parametrize("number", [40, "40", 40.0, "Deploys"])
def test_a_memory_is_referenced_by_number_text_or_title(stocked, number):
    assert call(stocked, "open", ids=[number]).memories[0].id == 40
    assert call(stocked, "revise", id=number, text="The API is deployed on Mondays").memory.id == 40
    assert call(stocked, "forget", ids=number).deleted == 1


def test_a_model_in_strict_mode_fills_in_every_argument(stocked):
    properties = tool_schema(OPERATIONS["revise"].request)["properties"]
    empty = {"string": "", "array": [], "integer": None, "boolean": False, "number": None}
    filled = {name: empty[part["type"]] for name, part in properties.items()}
    reply = call(stocked, "revise", **{**filled, "id": "40", "text": "On Mondays", "supersede": True})
    assert (reply.superseded, reply.memory.text) == (40, "On Mondays")
    properties = tool_schema(OPERATIONS["remember"].request)["properties"]
    filled = {name: empty[part["type"]] for name, part in properties.items()}
    assert call(stocked, "remember", **{**filled, "text": "Something new"}).stored


def test_tags_can_still_be_removed(stocked):
    call(stocked, "revise", id=1, tags="a")
    assert call(stocked, "revise", id=1, tags=[]).memory.tags is None


# -- what the verbs answer


def test_remember_reports_stored_similar_and_refused_memories(ctx):
    text = "The quarterly review meeting takes place every second Thursday afternoon"
    call(ctx, "remember", text=text)
    reply = as_json(
        call(ctx, "remember", items=[{"text": text}, {"text": text.replace("Thursday", "Friday")}])
    )
    assert reply["refused"] == [{"index": 0, "reason": reply["refused"][0]["reason"], "id": 1}]
    assert (
        reply["stored"][0]["similar"][0]["id"] == 1 and reply["stored"][0]["similar"][0]["similarity"] >= 0.7
    )
    assert as_json(call(ctx, "remember", text=text, force=True))["stored"][0]["title"] == text


def test_arguments_beside_items_are_defaults_of_the_items(ctx):
    items = [{"text": "one"}, {"text": "two", "tags": ["own"], "namespace": "home"}]
    call(ctx, "remember", items=items, tags=["shared"], namespace="work", ttl="1d")
    one, two = as_json(call(ctx, "open", ids=[1, 2]))["memories"]
    assert (one["tags"], one["namespace"], one["tier"]) == (["shared"], "work", "short")
    assert (two["tags"], two["namespace"], two["tier"]) == (["own"], "home", "short")


def test_recall_says_why_a_memory_is_a_hit_or_not(stocked):
    asked = {"query": "when is the API deployed", "limit": 1}
    reply = as_json(call(stocked, "recall", **asked))
    assert "explanations" not in reply
    [best] = reply["memories"]
    others = [number for number in (1, 2) if number != best["id"]]
    found, missed = as_json(call(stocked, "recall", **asked, why=[best["id"], *others[:1]]))["explanations"]
    assert found["is_hit"] and found["reason"] == "found, place 1" and found["relevance"] >= found["needed"]
    assert not missed["is_hit"] and missed["id"] == others[0] and missed["reason"]
    with pytest.raises(NotFound, match="99"):
        call(stocked, "recall", **asked, why=[99])


def test_recall_explains_scores_on_request(stocked):
    asked = {"query": "when is the API deployed", "limit": 3, "min_relevance": 0}
    plain = as_json(call(stocked, "recall", **asked))
    assert len(plain["memories"]) == 3 and not {"terms", "signals"} & plain["memories"][0].keys()
    assert plain["memories"][0]["title"] == "Deploys" and "pending" in plain, "a backlog is told"
    [best, *_] = as_json(call(stocked, "recall", **asked, explain=True, detail="full"))["memories"]
    assert sum(best["terms"].values()) == pytest.approx(best["score"], abs=0.001)


def test_a_hit_is_brief_by_default_and_full_on_request(stocked):
    call(
        stocked, "remember", text="Carl keeps bees", tags=["pets"], occurred_at="2026-05-01", namespace="home"
    )
    [brief] = as_json(call(stocked, "recall", query="Carl bees", limit=1))["memories"]
    assert {key: value for key, value in brief.items() if key != "relevance"} == {
        "id": 41,
        "text": "Carl keeps bees",
        "tags": ["pets"],
        "when": "2026-05-01T00:00Z",
        "namespace": "home",
    }
    assert 0 <= brief["relevance"] <= 1
    [full] = as_json(call(stocked, "recall", query="Carl bees", limit=1, detail="full"))["memories"]
    assert {"uid", "title", "kind", "tier", "created_at", "score"} < full.keys() and full["text"] == brief[
        "text"
    ]


def test_ten_ordinary_hits_take_at_most_4_kb(ctx):
    sentence = "The {} service writes its invoices to the ledger at {} every night, and Dana from finance checks them"
    for number in range(20):
        call(ctx, "remember", text=sentence.format(f"billing{number}", number), tags=["billing", "finance"])
    text = MNEMIC.render(call(ctx, "recall", query="invoices ledger billing", min_relevance=0)).text
    assert len(json.loads(text)["memories"]) == 10 and len(text.encode()) <= 4_000


def test_a_long_text_is_cut_in_a_brief_answer(ctx):
    call(ctx, "remember", text="heron " * 2_000)
    [hit] = call(ctx, "recall", query="heron").memories
    assert len(hit.text) < 1_600 and hit.text.endswith("… (`open` 1 for all)")
    [hit] = call(ctx, "recall", query="heron", detail="full").memories
    assert len(hit.text) == 12_000


@pytest.mark.parametrize(
    "namespace, asked, told",
    [
        (None, {}, "Nothing relevant is known in any namespace."),
        ("app", {}, 'Nothing relevant is known in app and global. namespace "*" asks all.'),
        ("app", {"namespace": "home"}, "Nothing relevant is known in home."),
        ("app", {"namespace": "*"}, "Nothing relevant is known in any namespace."),
        (
            "app",
            {"as_of": "2020-01-01"},
            "Nothing relevant was known in app and global at that time. as_of shows what was stored by then.",
        ),
        (
            None,
            {"tags": ["vpn"], "since": "7d", "kinds": []},
            "Nothing relevant in any namespace passes tags, since; there may be some without.",
        ),
    ],
)
def test_an_empty_answer_names_the_namespaces_searched(ctx, namespace, asked, told):
    reply = as_json(call(replace(ctx, namespace=namespace), "recall", query="the office VPN", **asked))
    assert reply == {"memories": [], "note": told}


def test_recall_shows_the_turns_around_a_hit(ctx):
    call(ctx, "session", action="start")
    for turn in ("shall we paint the shed", "the heron is back", "yes, on Sunday"):
        call(ctx, "session", action="log", user=turn)
    [hit] = as_json(call(ctx, "recall", query="heron", limit=1, around=1))["memories"]
    assert [turn["text"] for turn in hit["before"]] == ["User: shall we paint the shed"]
    assert [turn["text"] for turn in hit["after"]] == ["User: yes, on Sunday"]


def test_a_project_reads_its_namespace_and_global_or_all_on_request(ctx):
    kept(ctx, "the heron of old", namespace="global")
    kept(ctx, "the heron elsewhere", namespace="other")
    project = replace(ctx, namespace="app")
    assert call(project, "remember", text="the heron here").stored[0].namespace == "app"
    assert (
        call(project, "remember", text="the heron of all", namespace="global").stored[0].namespace == "global"
    )

    def seen(**asked):
        hits = call(project, "recall", query="heron", min_relevance=0, **asked).memories
        return {hit.text: hit.namespace for hit in hits}

    assert seen() == {"the heron here": None, "the heron of all": "global", "the heron of old": "global"}
    assert seen(namespace="*") == {**seen(), "the heron elsewhere": "other"}
    assert seen(namespace="other") == {"the heron elsewhere": "other"}
    assert seen(namespace="app") == {"the heron here": None}


def test_recall_counts_hits_that_exceed_the_token_budget(stocked):
    crowded = as_json(call(stocked, "recall", query="API", limit=5, budget_tokens=50, min_relevance=0))
    assert (crowded["memories"], crowded["left_out"]) == ([], 5) and "raise it" in crowded["note"]
    assert "left_out" not in as_json(call(stocked, "recall", query="API", budget_tokens=1000))


@pytest.mark.parametrize(
    "text", ["the heron counts invoices {}", "サギは請求書を数えます {}", "цапля считает счета {}"]
)
@pytest.mark.parametrize("more", [{}, {"detail": "full"}, {"around": 2}, {"explain": True}])
def test_the_token_budget_bounds_the_whole_answer(ctx, text, more):
    call(ctx, "session", action="start")
    for number in range(30):
        call(ctx, "session", action="log", user=text.format(number))
    for budget in (50, 120, 300, 700):
        asked = {"query": text.format(3), "limit": 30, "min_relevance": 0, "budget_tokens": budget, **more}
        answer = MNEMIC.render(call(ctx, "recall", **asked)).text
        assert estimated_tokens(answer) <= budget
    assert json.loads(answer)["memories"] and json.loads(answer)["left_out"]


def test_times_are_dates_in_arguments_and_replies(stocked, clock):
    [memory] = as_json(call(stocked, "open", ids=["Deploys"]))["memories"]
    assert memory["created_at"] == "2027-01-15T08:00:00+00:00"
    for since, count in (
        ("1d", 0),
        ("3d", 1),
        ("2027-01-15", 1),
        ("2027-01-16", 0),
        ("2027-01-15T08:00Z", 1),
    ):
        found = call(stocked, "recall", query="deployed Fridays", since=since, limit=1)
        assert len(found.memories) == count, since
    assert len(call(stocked, "recall", query="deployed Fridays", until="1d", limit=1).memories) == 1
    assert call(stocked, "stats", as_of="3d").total == 0 and call(stocked, "stats", as_of="1d").total == 40
    assert clock() == START + 2 * DAY


def test_every_reading_verb_takes_as_of(stocked, clock):
    call(stocked, "revise", id="Deploys", text="The API is deployed on Mondays", supersede=True)
    then = "1h"
    clock.advance(days=1)
    call(stocked, "forget", ids=[12])
    for arguments in ({"as_of": "12h"}, {"as_of": "2027-01-18T07:00Z"}):
        assert call(stocked, "open", ids=[12], **arguments).memories[0].state is None
        assert call(stocked, "stats", **arguments).total == 40
        assert len(call(stocked, "explore", id=41, **arguments).memories) == 1
        assert (
            call(stocked, "verify", claim="The API is deployed on Mondays", **arguments).status == "verified"
        )
        assert call(stocked, "recall", query="deployed Mondays", **arguments).memories[0].id == 41
    assert call(stocked, "open", ids=[12], as_of=then).memories[0].state is None
    assert call(stocked, "stats").total == 39


def test_forget_counts_memories_and_restore_reverts_it(stocked):
    told = as_json(call(stocked, "forget", pattern="API note", dry_run=True))
    assert told["deleted"] == 39 and told["dry_run"] is True and len(told["memories"]) == 39
    assert call(stocked, "stats").total == 40
    assert call(stocked, "forget", ids=[1, "Deploys"]).deleted == 2
    assert call(stocked, "restore", ids=[1, 40]).count == 2
    assert call(stocked, "forget", ids=[1], purge=True).deleted == 1
    with pytest.raises(NotFound):
        call(stocked, "restore", ids=[1])


def test_forget_can_archive(stocked):
    assert call(stocked, "forget", ids=[1], archive=True).deleted == 1
    assert call(stocked, "forget", pattern="API note", archive=True).deleted == 38
    assert as_json(call(stocked, "open", ids=[1]))["memories"][0]["state"] == "archived"
    assert archive_stats(stocked).by_namespace == {"global": 39}
    assert call(stocked, "restore", ids=[1]).count == 1


def test_recall_extends_the_ttl_and_promotes(ctx):
    call(ctx, "remember", text="standup is at ten", tier="mid", ttl="1h")
    for _ in range(5):
        [found] = call(ctx, "recall", query="standup", detail="full").memories
    assert (found.tier, found.access_count) == (Tier.MID, 4)
    assert as_json(call(ctx, "open", ids=[1]))["memories"][0]["tier"] == "long"


def test_history_shows_dates_and_undo_reverts_changes(stocked, clock):
    call(stocked, "revise", id=1, title="Changed", ttl="1d")
    [change] = as_json(call(stocked, "history", since="1h"))["changes"]
    assert (change["operation"], change["actor"], change["id"]) == ("revise", "tester", 1)
    assert (
        change["after"]["title"] == "Changed" and change["after"]["expires_at"] == "2027-01-18T08:00:00+00:00"
    )
    assert as_json(call(stocked, "undo", since="1h", dry_run=True)) == {
        "undone": [change["change"]],
        "count": 1,
        "dry_run": True,
    }
    assert call(stocked, "undo", change=change["change"]).count == 1
    assert call(stocked, "open", ids=[1]).memories[0].title == "The API note 1"


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("remember", {"text": "x", "namespace": "theirs"}),
        ("revise", {"id": 1, "namespace": "theirs"}),
        ("stats", {"namespace": "theirs"}),
        ("open", {"ids": [2]}),
        ("open", {"ids": ["secret"], "namespace": "theirs"}),
        ("revise", {"id": 2, "text": "x"}),
        ("forget", {"ids": [2]}),
        ("restore", {"ids": [2]}),
        ("link", {"source": 1, "target": 2}),
        ("explore", {"id": 2}),
        ("explore", {"id": 1, "to": 2}),
        ("history", {"id": 2}),
        ("undo", {"change": 2}),
    ],
)
def test_every_verb_enforces_the_namespaces_of_a_token(ctx, name, arguments):
    kept(ctx, "our own", namespace="ours")
    kept(ctx, "secret", namespace="theirs")
    before = everything(ctx.store)
    with pytest.raises((Denied, NotFound)):
        execution.call(MNEMIC, ctx.limited_to(Grant(("ours",))), name, arguments)
    assert everything(ctx.store) == before


def test_a_limited_token_finds_nothing_in_other_namespaces(ctx):
    kept(ctx, "our own heron", namespace="ours")
    kept(ctx, "their heron", namespace="theirs")
    guest = ctx.limited_to(Grant(("ours",)))
    for arguments in ({}, {"namespace": "theirs"}, {"namespace": "ours"}):
        contents = [hit.text for hit in call(guest, "recall", query="heron", **arguments).memories]
        assert contents == (["our own heron"] if arguments.get("namespace") != "theirs" else [])
        assert call(guest, "forget", **{"pattern": "their", **arguments}).deleted == 0
    assert call(guest, "verify", claim="their heron", namespace="theirs").status == "ungrounded"
    assert {change.id for change in call(guest, "history").changes} == {1}


def test_prompts_and_resources_show_stored_memories(stocked):
    memory = next(one for one in MNEMIC.resources if one.name == "memory")
    shown = json.loads(memory.read(stocked, {"id": "Deploys"}))
    assert shown["text"] == "The API is deployed on Fridays"
    with pytest.raises(NotFound):
        memory.read(stocked, {"id": "nowhere"})
    for prompt in MNEMIC.prompts:
        assert "recall" in prompt.write({}) and prompt.write({}) != prompt.write(
            dict.fromkeys(prompt.arguments, "work")
        )


# -- tidy and reflect


def test_tidy_archives_expired_memories(ctx, clock):
    call(ctx, "remember", text="fleeting", tier="short")
    clock.advance(hours=6)
    assert as_json(call(ctx, "tidy", action="expired")) == {"applied": False, "count": 1}
    assert as_json(call(ctx, "tidy", action="expired", apply=True)) == {"applied": True, "count": 1}
    assert call(ctx, "stats").by_state == {"archived": 1}


def test_tidy_condenses_memories_that_share_a_tag(ctx):
    for n in range(3):
        call(ctx, "remember", text=f"step {n} of the deploy", tags=["deploy"])
    proposed = call(ctx, "tidy", action="condense")
    assert (proposed.applied, proposed.count, len(proposed.groups[0])) == (False, 3, 3)
    assert call(ctx, "tidy", action="condense", apply=True).applied and call(ctx, "stats").total == 1


def told(ctx, title, *texts):
    call(ctx, "remember", text=texts[0], title=title)
    for text in texts[1:]:
        call(ctx, "revise", id=title, append=text)
    return call(ctx, "open", ids=[title]).memories[0].id


@pytest.mark.parametrize("apply", [False, True])
def test_tidy_proposes_duplicates_then_drops_them(ctx, apply):
    told(ctx, "Pets", "fox", "the red fox sleeps", "otter")
    reply = call(ctx, "tidy", action="duplicates", id="Pets", apply=apply)
    assert (reply.applied, reply.groups) == (apply, [["fox", "the red fox sleeps"]])
    left = "the red fox sleeps\notter" if apply else "fox\nthe red fox sleeps\notter"
    assert call(ctx, "open", ids=["Pets"]).memories[0].text == left
    assert call(ctx, "tidy", action="duplicates", id="Pets", apply=True).applied != apply


@pytest.mark.parametrize("apply", [False, True])
def test_tidy_proposes_a_split_then_makes_it(ctx, apply):
    texts = [f"{word} {word} {word} {number}" for number in range(11) for word in ("heron", "otter")]
    told(ctx, "Pets", *texts)
    reply = call(ctx, "tidy", action="split", id="Pets", apply=apply)
    assert [part.title for part in reply.parts] == ["Pets - Heron", "Pets - Otter"] and reply.applied == apply
    assert [text for part in reply.parts for text in part.texts] == texts[::2] + texts[1::2]
    known = call(ctx, "stats").total
    assert known == (3 if apply else 1) and (reply.memory is not None) == apply
    assert call(ctx, "tidy", action="split", id="Pets", apply=True).applied != apply


@pytest.mark.parametrize("apply", [False, True])
def test_tidy_proposes_a_merge_then_makes_it(ctx, apply):
    told(ctx, "Gone", "heron", "otter")
    told(ctx, "Left", "otter", "fox")
    reply = call(ctx, "tidy", action="merge", id="Gone", into="Left", apply=apply)
    said = reply.memory.text.split("\n") if apply else reply.parts[0].texts
    assert (reply.applied, said) == (apply, ["otter", "fox", "heron"])
    assert call(ctx, "stats").total == (1 if apply else 2)


@pytest.mark.parametrize("apply", [False, True])
def test_merging_into_itself_or_with_a_deleted_memory_is_refused(ctx, apply):
    told(ctx, "Left", "otter", "fox")
    with pytest.raises(Invalid, match="into itself"):
        call(ctx, "tidy", action="merge", id="Left", into=1, apply=apply)
    told(ctx, "Gone", "heron")
    call(ctx, "forget", ids=[2])
    with pytest.raises(Conflict, match="restore it first"):
        call(ctx, "tidy", action="merge", id=2, into=1, apply=apply)


def test_tidy_reports_what_needs_attention(ctx, clock):
    told(ctx, "Pets", "fox", "the red fox sleeps")
    told(ctx, "Large", *(f"{word} {number}" for number in range(11) for word in ("heron", "otter")))
    clock.advance(days=100)
    report = call(ctx, "tidy").report
    assert (report.memories, report.statements) == (2, 24)
    assert [one.title for one in report.split] == ["Large"] and [one.title for one in report.stale] == [
        "Pets",
        "Large",
    ]
    assert ("Pets", "the red fox sleeps", "fox") in [
        (one.title, one.text, one.earlier) for one in report.repeated
    ]


def test_a_limited_token_tidies_only_its_namespaces(ctx):
    told(ctx, "Mine", "fox", "the red fox sleeps")
    call(ctx, "remember", text="their heron", namespace="theirs")
    guest = ctx.limited_to(Grant(("theirs",)))
    assert call(guest, "tidy").report.memories == 1
    for arguments in ({"action": "split"}, {"action": "duplicates"}, {"action": "merge", "into": 2}):
        with pytest.raises(NotFound):
            call(guest, "tidy", id="Mine", **arguments)
    with pytest.raises(NotFound):
        call(guest, "reflect", text="mine?", about="Mine")
    with pytest.raises(Denied):
        call(ctx.limited_to(Grant(None, can_write=False)), "tidy", action="duplicates", id="Mine", apply=True)


def test_reflections_are_stored_and_found(ctx):
    number = told(ctx, "Deploys", "The API is deployed on Fridays")
    [kept_one] = call(ctx, "reflect", text="Fridays hurt us", about="Deploys", mood="regret").reflections
    call(ctx, "reflect", text="Fridays are calm", author="Anna")
    assert (kept_one.about, kept_one.mood, kept_one.author) == (number, "regret", "tester")
    found = call(ctx, "reflect", query="fridays").reflections
    assert {one.text for one in found} == {"Fridays hurt us", "Fridays are calm"} and found[0].score > 0
    assert [one.text for one in call(ctx, "reflect", query="fridays", author="Anna").reflections] == [
        "Fridays are calm"
    ]
    assert [
        one.text for one in call(ctx, "reflect", query="fridays", limit=1, mood="regret").reflections
    ] == ["Fridays hurt us"]

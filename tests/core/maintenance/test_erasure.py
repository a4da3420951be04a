"""Erasure of a text: nothing of it is left in links, sessions and what they once said."""

from __future__ import annotations

from mnemic.core.maintenance.erasure import ERASED, find_text, purge_text
from mnemic.model.filter import EdgeFilter
from mnemic.model.graph import EdgeDraft, EdgePatch
from mnemic.model.memory import Draft
from mnemic.model.session import SessionDraft, SessionPatch

NAME = "Frieda Zauberfrau"


def test_past_versions_of_links_and_sessions_lose_the_text_and_keep_the_rest(ctx):
    def begin(tx):
        ends = [
            tx.insert(Draft(namespace="shop", texts=(text,)), uid=ctx.new_uid()).id
            for text in ("Lamps cost 5 euro.", "Delivery is free.")
        ]
        edge = tx.insert_edge(EdgeDraft(*ends, "depends_on", reason=f"{NAME} said so"))
        session = tx.insert_session(
            SessionDraft(
                "shop", name=f"call:{NAME}", topic=f"Call with {NAME}", metadata={"with": [NAME], "n": 1}
            )
        )
        return edge, session

    def go_on(tx):
        tx.update_edge(edge, EdgePatch(reason="It was said.", weight=0.5))
        tx.update_session(session, SessionPatch(topic="A call", metadata={"n": 2}))

    edge, session = ctx.change("test", begin)
    before = ctx.store.newest()
    ctx.change("test", go_on)
    assert find_text(ctx, NAME).counts == {"links": 1, "sessions": 1, "journal entries": 4}
    assert purge_text(ctx, NAME.upper()) == 0
    assert find_text(ctx, NAME).counts == {}
    past = ctx.store.at(before).read()
    [old_edge], [old_session] = past.edges(EdgeFilter()), past.sessions()
    assert (old_edge.reason, old_edge.weight) == (ERASED, edge.weight)
    assert (old_session.topic, old_session.metadata) == (ERASED, {"with": [ERASED], "n": 1})
    [now] = ctx.read().sessions()
    assert (now.topic, now.metadata, now.name) == ("A call", {"n": 2}, f"{ERASED} {session.id}")
    assert list(ctx.engines.check(ctx.store)) == []

"""Conversations are kept in sessions, and their lasting statements as memories that wait for review."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mnemic.core import memories, sessions
from mnemic.core.brief import brief
from mnemic.core.capture import episode, pause, prompt_context, review
from mnemic.core.capture.conversation import SAID_IN, Turn, capture, position
from mnemic.core.memories import Revision
from mnemic.core.session_contents import contents
from mnemic.errors import Unavailable
from mnemic.model.filter import EdgeFilter, Filter

RULE = "Migrations are never edited; write a new one."


@pytest.fixture
def project(ctx):
    return replace(ctx, namespace="widgets")


def everything(ctx, kind):
    reader = ctx.read()
    return reader.get(reader.select(Filter(kinds=(kind,) if kind else None), limit=100))


def shown(memory):
    return memory.content


def cost(memory):
    return len(memory.content) // 4


def test_turns_and_statements_are_kept_and_linked(project):
    kept = capture(project, "c:1", [Turn(f"Fix the bug. {RULE}", "Fixed.", 10)])
    (turn,), (rule,) = kept.turns, kept.statements
    assert sessions.turn_of(turn) == {"user_message": f"Fix the bug. {RULE}", "agent_response": "Fixed."}
    assert (rule.content, rule.kind, rule.source, rule.tags) == (RULE, "rule", "captured", ("captured",))
    assert rule.confidence < 1 and rule.namespace == "widgets"
    edges = project.read().edges(EdgeFilter(sources=(rule.id,)))
    assert [(edge.target_id, edge.type) for edge in edges] == [(turn.id, SAID_IN)]


def test_a_session_shows_what_was_captured_in_it_until_it_is_rejected(project):
    kept = capture(project, "c:1", [Turn(f"Fix the bug. {RULE}", "Fixed.", 10)])
    (rule,) = kept.statements
    assert [one.id for one in contents(project, kept.session.id).memories] == [rule.id]
    memories.forget(project, [rule.id])
    assert contents(project, kept.session.id).memories == ()


def test_a_turn_is_kept_once_however_often_it_is_sent(project):
    turns = [Turn("Fix the bug", "Fixed.", 10), Turn("And the other", "Fixed too.", 20)]
    assert len(capture(project, "c:1", turns[:1]).turns) == 1
    assert position(project, "c:1") == 10
    assert len(capture(project, "c:1", turns).turns) == 1
    assert len(capture(project, "c:1", turns).turns) == 0
    assert len(everything(project, "turn")) == 2


def test_what_is_said_twice_is_one_memory_and_surer(project):
    capture(project, "c:1", [Turn(RULE, "", 1)])
    first = everything(project, "rule")[0]
    capture(project, "c:2", [Turn("No! Migrations are never edited, write a new one.", "", 1)])
    assert [one.id for one in everything(project, "rule")] == [first.id]
    assert everything(project, "rule")[0].confidence > first.confidence


def test_a_rejected_statement_does_not_come_back(project):
    rule = capture(project, "c:1", [Turn(RULE, "", 1)]).statements[0]
    memories.forget(project, [rule.id])
    assert capture(project, "c:2", [Turn(RULE, "", 1)]).statements == ()
    assert everything(project, "rule") == []


def test_what_is_accepted_is_sure_and_no_longer_listed(project):
    rule = capture(project, "c:1", [Turn(RULE, "", 1)]).statements[0]
    assert [one.id for one in review.waiting(project)] == [rule.id]
    accepted = review.accept(project, rule.id)
    assert accepted.confidence == 1 and review.waiting(project) == []


def test_rewriting_a_captured_memory_is_a_review(project):
    rule = capture(project, "c:1", [Turn(RULE, "", 1)]).statements[0]
    changed = review.revise(project, rule.id, Revision(text="Applied migrations are never edited."))
    assert review.waiting(project) == [] and changed.confidence == 1


def test_secrets_and_private_passages_are_not_kept(project):
    said = "Remember that the password is hunter2. <private>We decided to fire Bob.</private>"
    kept = capture(project, "c:1", [Turn(said, "I put hunter2 as password=hunter2", 1)])
    assert kept.statements[0].content == "Remember that the password is [redacted]."
    stored = " ".join(one.content for one in (*kept.turns, *kept.statements))
    assert "Bob" not in stored and "password=[redacted]" in stored


def test_a_private_passage_is_not_kept_whose_beginning_was_cut_off(project):
    said = f"{'We talk. ' * 9_000}<private>{'x ' * 9_000}We decided to fire Bob.</private> We decided on tea."
    kept = capture(project, "c:1", [Turn(said, "OK.", 1)])
    assert [memory.content for memory in kept.statements] == ["We decided on tea."]


def test_a_turn_that_is_all_private_leaves_nothing_but_its_position(project):
    kept = capture(project, "c:1", [Turn("<private>only this</private>", "Sure.", 7)])
    assert kept.turns == () and position(project, "c:1") == 7


def test_closing_writes_an_episode_of_the_turns_since_the_last(project):
    capture(project, "c:1", [Turn(f"Fix the parser. {RULE}", "The parser is fixed.", 1)], closes=True)
    assert (
        everything(project, "episode")[0].content
        == "Asked: Fix the parser.\nEnded with: The parser is fixed."
    )
    capture(project, "c:1", [Turn("Now the lexer", "Done with the lexer.", 2)], closes=True)
    episodes = everything(project, "episode")
    assert len(episodes) == 2 and "parser" not in max(episodes, key=lambda one: one.id).content


def test_a_brief_tells_a_statement_once_and_a_rejected_one_no_more(project):
    capture(project, "c:1", [Turn(f"Fix the parser. {RULE}", "The parser is fixed.", 1)], closes=True)

    def told(name: str) -> str:
        sections = prompt_context.opening(project, name, 500, cost)
        return "\n".join(memory.content for section in sections for memory in section.memories)

    assert told("c:2").count(RULE) == 1
    memories.forget(project, [review.waiting(project)[0].id])
    assert "parser is fixed" in told("c:3") and RULE not in told("c:4")


def test_closing_twice_writes_one_episode(project):
    for _ in range(2):
        capture(project, "c:1", [Turn("Fix the parser", "Fixed.", 1)], closes=True)
    assert len(everything(project, "episode")) == 1


class Model:
    """A language model that summarises, or fails."""

    name = "model"

    def __init__(self, answer: str | None):
        self.answer = answer

    def is_reachable(self) -> bool:
        return True

    def ask(self, prompt: str) -> str:
        assert "Fix the parser" in prompt
        if self.answer is None:
            raise Unavailable("no answer")
        return self.answer

    def close(self) -> None:
        pass


def test_a_language_model_writes_each_episode_once(project):
    speaking = replace(project, language=Model("The parser was fixed."))
    capture(speaking, "c:1", [Turn("Fix the parser", "Fixed.", 1)], closes=True)
    assert everything(project, "episode")[0].content.startswith("Asked:")
    assert (episode.summarise(speaking), episode.summarise(speaking)) == (1, 0)
    assert everything(project, "episode")[0].content == "The parser was fixed."
    capture(speaking, "c:1", [Turn("Fix the parser of dates too", "Fixed.", 2)], closes=True)
    assert episode.summarise(speaking) == 1


def test_an_episode_stays_as_it_is_while_the_language_model_fails(project):
    capture(project, "c:1", [Turn("Fix the parser", "Fixed.", 1)], closes=True)
    for language in (None, Model(None)):
        with pytest.raises(Unavailable):
            episode.summarise(replace(project, language=language))
    assert everything(project, "episode")[0].content.startswith("Asked:")
    assert episode.summarise(replace(project, language=Model("Done."))) == 1


def test_the_start_closes_sessions_whose_end_was_never_told(project, clock):
    capture(project, "c:1", [Turn("Fix the parser", "Fixed.", 1)])
    prompt_context.opening(project, "c:2", 500, cost)
    assert everything(project, "episode") == []
    clock.advance(hours=2)
    sections = prompt_context.opening(project, "c:3", 500, cost)
    assert [section.title for section in sections] == ["Where we were"]
    episode.close_quiet(project, but="c:3")
    assert len(everything(project, "episode")) == 1


def test_the_brief_keeps_to_its_budget_and_to_the_project(project):
    for number in range(40):
        text = f"Rule {number}: {'words ' * 20}{number}"
        memories.remember(project, [memories.Note(text=text, kind="rule")])
    memories.remember(project, [memories.Note(text="Elsewhere", kind="rule", namespace="gadgets")])
    shown = [
        memory for section in brief(project, budget_tokens=200, cost=cost) for memory in section.memories
    ]
    assert shown and sum(map(cost, shown)) <= 200
    assert {memory.namespace for memory in shown} == {"widgets"}


def test_a_prompt_is_given_what_bears_on_it_once_a_session(project):
    memories.remember(
        project, [memories.Note(text="Deploys are on Mondays"), memories.Note(text="Tea is at four")]
    )
    given = prompt_context.relevant(project, "c:1", "When are the deploys?", 300, shown)
    assert [memory.content for memory in given] == ["Deploys are on Mondays"]
    assert prompt_context.relevant(project, "c:1", "When are the deploys?", 300, shown) == []
    again = prompt_context.relevant(project, "c:2", "When are the deploys?", 300, shown)
    assert [memory.id for memory in again] == [memory.id for memory in given]
    assert prompt_context.relevant(project, "c:3", "yes", 300, shown) == []


def test_a_prompt_is_given_no_near_repeats_and_only_what_is_given_counts_as_used(project):
    texts = (
        "The nightly deploys of the shop are done on Mondays at noon by Anna",
        "The nightly deploys of the shop are done on Mondays at noon by Ann",
        "Deploys need two reviews",
    )
    memories.remember(project, [memories.Note(text=text) for text in texts], force=True)
    given = prompt_context.relevant(project, "c:1", "When are the deploys of the shop?", 60, shown)
    assert sum("nightly" in memory.content for memory in given) == 1
    used = {memory.id for memory in everything(project, None) if memory.access_count}
    assert used == {memory.id for memory in given}


def test_a_statement_is_not_given_beside_the_turn_it_was_said_in(project):
    capture(project, "c:1", [Turn(f"{RULE} Now write one.", "Written: migrations are in db/.", 1)])
    given = prompt_context.relevant(
        project, "c:2", "Where are migrations, and who may edit them?", 300, shown
    )
    assert given and len({RULE in memory.content for memory in given}) == len(given)


def test_a_turn_is_not_given_beside_the_statement_made_in_it(project):
    capture(project, "c:1", [Turn(f"The build is slow. {RULE}", "Noted.", 1)])
    given = prompt_context.relevant(project, "c:2", "May I edit migrations, or write a new one?", 300, shown)
    assert [memory.content for memory in given] == [RULE]


def test_earlier_turns_are_given_unasked_only_if_they_bear_on_the_prompt_clearly(project):
    capture(project, "c:1", [Turn("The release notes are written by Anna after lunch", "Noted.", 1)])
    memories.remember(project, [memories.Note(text="Release notes need a review", kind="rule")])
    prompt = "Release the shop with a review"
    asked = prompt_context.relevant(project, "c:2", f"{prompt}?", 300, shown)
    assert {memory.kind for memory in asked} == {"rule", "turn"}
    told = prompt_context.relevant(project, "c:3", prompt, 300, shown)
    assert {memory.kind for memory in told} == {"rule"}
    assert prompt_context.relevant(project, "c:4", "reviewing", 300, shown) == []


def test_a_prompt_that_is_not_captured_is_not_in_the_recall_log(project):
    memories.remember(project, [memories.Note(text="Deploys are on Mondays")])
    prompt_context.relevant(project, "c:1", "When are the deploys?", 300, shown, is_logged=False)
    assert project.read().recalls(limit=10) == []
    prompt_context.relevant(project, "c:2", "When are the deploys?", 300, shown)
    assert [one.query for one in project.read().recalls(limit=10)] == ["When are the deploys?"]


def test_a_prompt_is_not_given_the_conversation_it_is_part_of(project):
    capture(project, "c:1", [Turn("The deploys are on Mondays at noon", "Noted.", 1)])
    assert prompt_context.relevant(project, "c:1", "When are the deploys?", 300, shown) == []
    assert len(prompt_context.relevant(project, "c:2", "When are the deploys?", 300, shown)) == 1


def test_after_compaction_a_prompt_is_given_what_went_out_of_view(project, clock):
    capture(project, "c:1", [Turn("The deploys are on Mondays at noon", "Noted.", 1)], closes=True)
    clock.advance(minutes=1)
    prompt_context.opening(project, "c:1", 0, cost)
    assert len(prompt_context.relevant(project, "c:1", "When are the deploys at noon?", 300, shown)) > 0


def test_capture_is_paused_until_a_moment_or_resumed(project, clock):
    pause.pause(project, clock() + 1)
    assert pause.is_paused(project)
    clock.advance(seconds=1)
    assert not pause.is_paused(project)
    pause.pause(project)
    assert pause.is_paused(project)
    pause.resume(project)
    assert not pause.is_paused(project)

"""Texts that a client can put before a conversation."""

from __future__ import annotations

from collections.abc import Mapping

from mnemic.dialects.framework import Prompt

Arguments = Mapping[str, str]


def _given(arguments: Arguments, name: str, before: str) -> str:
    """*before* and what was given for *name*; nothing if nothing was."""
    return f"{before}{arguments[name]}" if arguments.get(name) else ""


def _remember(arguments: Arguments) -> str:
    what = arguments.get("information") or "what I have just told you"
    context = _given(arguments, "context", "\nContext: ")
    return (
        f"Remember this: {what}{context}\n\n"
        "First call `memory_similar` to see what is known about it. Then call `memory_add` with the event type that "
        "fits (fact, decision, inference, skill or episode), a confidence, and edges to the nodes it was caused by, "
        "derives from, supports or contradicts. If it corrects a node, call `memory_correct` instead."
    )


def _reflect(arguments: Arguments) -> str:
    about = _given(arguments, "topic", " about ") or _given(arguments, "node_id", " from node ")
    start = arguments.get("node_id") or "the best match"
    return (
        f"Reflect on what is remembered{about}. Find the nodes it rests on with `memory_similar`, walk from {start} "
        "with `memory_traverse` along caused_by, derived_from and supports, follow corrections with `memory_resolve`, "
        "and look at what depends on it with `memory_causal`. Say what was decided and why, what has changed since, "
        "and what is uncertain or contradicted."
    )


def _correct(arguments: Arguments) -> str:
    old = arguments.get("old_belief") or "what I have just pointed out"
    new = _given(arguments, "new_information", "\nWhat is right: ")
    reason = _given(arguments, "reason", "\nReason: ")
    return (
        f"Correct a belief.\nWhat was believed: {old}{new}{reason}\n\n"
        "Find the node with `memory_similar`, take its latest version with `memory_resolve`, and call "
        "`memory_correct` with the right information and the reason. Then call `memory_causal` on the old node and "
        "tell me which decisions and inferences rested on it."
    )


def _summarize(arguments: Arguments) -> str:
    which = arguments.get("session_id")
    session, where = (f"session {which}", f" with session_ids [{which}]") if which else ("this session", "")
    return (
        f"Summarize {session}. List what it holds with `memory_query`{where}: decisions first, then facts, inferences "
        "and corrections. Write a few sentences on what was done, decided and left open, and call `session_end` with "
        "them as the summary."
    )


PROMPTS = (
    Prompt(
        name="remember",
        title="Remember",
        description="Store something with the right type and links.",
        arguments=("information", "context"),
        write=_remember,
    ),
    Prompt(
        name="reflect",
        title="Reflect",
        description="Look back on a topic or a node and what it rests on.",
        arguments=("topic", "node_id"),
        write=_reflect,
    ),
    Prompt(
        name="correct",
        title="Correct",
        description="Replace a wrong belief and see what depended on it.",
        arguments=("old_belief", "new_information", "reason"),
        write=_correct,
    ),
    Prompt(
        name="summarize",
        title="Summarize",
        description="Sum up a session as an episode.",
        arguments=("session_id",),
        write=_summarize,
    ),
)

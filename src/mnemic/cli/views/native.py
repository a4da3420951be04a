"""Terminal views of native replies, one function per reply type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mnemic.console.terminal import (
    INDENT,
    age,
    bad,
    bar,
    bold,
    columns_of,
    count,
    doubtful,
    excerpt,
    faint,
    good,
    name,
    paragraphs,
    plain,
    safe,
    size,
    spread,
    stamp,
    table,
    width,
)
from mnemic.core.context import wall_clock
from mnemic.core.listings import FACETS
from mnemic.model.change import Subject
from mnemic.model.time import iso

if TYPE_CHECKING:
    from mnemic.dialects.native.analytics import AnalyticsReply
    from mnemic.dialects.native.bulk import BulkReply
    from mnemic.dialects.native.catalog import FacetsReply, ListReply, NamespacesReply
    from mnemic.dialects.native.explore import ExploreReply
    from mnemic.dialects.native.forget import ForgetReply, RestoreReply
    from mnemic.dialects.native.graph import GraphReply
    from mnemic.dialects.native.history import ChangeShape, HistoryReply, UndoReply
    from mnemic.dialects.native.link import LinkReply
    from mnemic.dialects.native.open import OpenedLinkShape, OpenReply
    from mnemic.dialects.native.rate import RateReply
    from mnemic.dialects.native.recall import RecallReply
    from mnemic.dialects.native.reflect import ReflectReply
    from mnemic.dialects.native.remember import RememberReply
    from mnemic.dialects.native.review import ReviewReply
    from mnemic.dialects.native.revise import ReviseReply
    from mnemic.dialects.native.session import SessionReply
    from mnemic.dialects.native.sessions import SessionsReply
    from mnemic.dialects.native.stats import StatsReply
    from mnemic.dialects.native.tidy import DoubleShape, FindingShape, ReportShape, TidyReply
    from mnemic.dialects.native.types import (
        BriefShape,
        ConflictShape,
        ExcerptShape,
        FullHitShape,
        HitShape,
        LinkShape,
        MemoryShape,
    )
    from mnemic.dialects.native.verify import VerifyReply

UNTOLD = frozenset({"uid", "created_at", "updated_at", "state_at"})
"""Fields whose changes say nothing that the change's own line does not."""
STATE = frozenset({"state", "state_reason"})
MOMENTS = frozenset({"expires_at", "valid_from", "valid_to"})


def remembered(reply: RememberReply) -> Iterator[str]:
    """What was stored, what it resembles, what was refused."""
    for kept in reply.stored:
        where = faint(f"in {safe(kept.namespace)}")
        yield f"{good('Remembered')} {number(kept.id)} {bold(safe(kept.title))} {where}"
        for twin in kept.similar or ():
            similarity = faint(f"{twin.similarity:.2f}")
            yield f"{INDENT}{doubtful('like')} {number(twin.id)} {safe(twin.title)} {similarity}"
        for other in kept.contradicts or ():
            yield f"{INDENT}{bad('contradicts')} {number(other.id)} {safe(' '.join(other.text.split()))}"
            replace = f"mnemic link {kept.id} {other.id} --type supersedes"
            yield f"{INDENT}{faint(f'If the new one holds from now on: {replace}')}"
        if kept.may_hold_secret:
            erase = f"mnemic forget {kept.id} --purge"
            yield f"{INDENT}{doubtful('It may hold a secret.')} {faint(f'To erase it: {erase}')}"
    for refusal in reply.refused or ():
        yield f"{bad('Not stored')}: {safe(refusal.reason)} {faint('see')} {number(refusal.id)}"


def number(memory_id: int) -> str:
    """A memory's number as every view shows it."""
    return name(str(memory_id))


def origin(memory: MemoryShape) -> str:
    """Number, namespace, kind, tags and age in one line."""
    parts = [
        memory.namespace,
        *([memory.kind] if memory.kind != "note" else []),
        *([memory.state] if memory.state else []),
    ]
    if memory.tags:
        parts.append(", ".join(memory.tags))
    parts.append(age(memory.occurred_at or memory.created_at, wall_clock()))
    return number(memory.id) + faint(" · " + safe(" · ".join(parts)))


def recalled(reply: RecallReply) -> Iterator[str]:
    """The hits, best first, each with a bar for its relevance."""
    if not reply.memories and not reply.left_out:
        sentence = reply.note or "Nothing relevant is known."
        yield safe(sentence.replace('namespace "*" asks all', "`--namespace '*'` searches all"))
    for rank, hit in enumerate(reply.memories, 1):
        yield from one_hit(rank, hit)
        yield ""
    for why in reply.explanations or ():
        yield f"{number(why.id)} {safe(why.reason)}"
        if why.signals:
            yield INDENT + faint(_named(why.signals))
    if reply.left_out:
        more = count(reply.left_out, "relevant memory does", "relevant memories do")
        yield doubtful(f"{more} not fit into the budget; raise --budget-tokens.")
    if reply.pending:
        waiting = count(reply.pending, "memory has", "memories have")
        yield doubtful(f"{waiting} no vectors yet, so only words are searched; `mnemic embed` computes them.")


def one_hit(rank: int, hit: HitShape | FullHitShape) -> Iterator[str]:
    """One hit: title and relevance, an excerpt unless the title says it all, and where it comes from."""
    title = "".join(excerpt(hit.title or hit.text, 1, width() - 26))
    score = "" if hit.relevance is None else f"{bar(hit.relevance)} {hit.relevance:.2f}"
    gap = " " * max(2, width() - columns_of(title) - len(score) - 4)
    yield f"{faint(f'{rank:2}.')} {bold(title)}{gap}{good(score)}"
    if not says_the_same(title, hit.text):
        yield from (INDENT + line for line in excerpt(hit.text, 3, width() - 6))
    for turn in (*(hit.before or ()), *(hit.after or ())):
        side = "before" if turn.id < hit.id else "after"
        yield from (INDENT + faint(line) for line in excerpt(f"{side}: {turn.text}", 2, width() - 6))
    parts = [*([hit.namespace] if hit.namespace else []), *([", ".join(hit.tags)] if hit.tags else [])]
    yield INDENT + number(hit.id) + faint(" · " + safe(" · ".join([*parts, age(hit.when, wall_clock())])))
    if hit.signals:
        yield INDENT + faint(_named(hit.signals))
    if hit.terms:
        yield INDENT + faint(_named(hit.terms))


def _named(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in values.items())


def below(memory: MemoryShape) -> Iterator[str]:
    """Lines below a title: an excerpt unless the title says it all, and the origin."""
    if not says_the_same(memory.title, memory.text):
        yield from (INDENT + line for line in excerpt(memory.text, 3, width() - 6))
    yield INDENT + origin(memory)


def says_the_same(title: str, content: str) -> bool:
    """True when *content* is no more than *title*, give or take the full stop."""
    return " ".join(content.split()).rstrip(".") == " ".join(title.split()).rstrip(".")


def listed(reply: ListReply) -> Iterator[str]:
    """Memories, each with an excerpt and where it comes from."""
    if not reply.memories:
        yield "No memories."
    for memory in reply.memories:
        yield bold("".join(excerpt(memory.title, 1, width() - 2)))
        yield from below(memory)
        yield ""


def faceted(reply: FacetsReply) -> Iterator[str]:
    """How many memories there are of each value, a paragraph for each attribute."""
    yield bold(count(reply.total, "memory", "memories"))
    for attribute in FACETS:
        counts: Mapping[str, int] = getattr(reply, attribute)
        if counts:
            yield ""
            yield bold(attribute)
            yield from table([[INDENT + safe(value), f"{number:,}"] for value, number in counts.items()])


def done_to_many(reply: BulkReply) -> Iterator[str]:
    """How many memories were changed, and the first of them."""
    yield good(count(reply.count, "memory", "memories")) + " changed; one undo takes it back."
    for memory in reply.memories:
        yield f"{INDENT}{number(memory.id)} {safe(memory.title)}"


def sessions_told(reply: SessionsReply) -> Iterator[str]:
    """The sessions, newest first, or what one holds."""
    if reply.session is None:
        rows = [
            [
                name(str(one.id)),
                stamp(one.started_at, wall_clock()),
                safe(one.namespace),
                f"{one.turns} turns",
                count(one.memories, "memory", "memories"),
                safe(one.topic or ""),
            ]
            for one in reply.sessions or ()
        ]
        yield from table(rows) if rows else ["No sessions."]
        return
    one = reply.session
    yield bold(f"Session {one.id}") + faint(
        f" · {safe(one.namespace)} · {stamp(one.started_at, wall_clock())}"
    )
    yield from paragraphs(one.summary, width()) if one.summary else ()
    parts = {
        "Turns": reply.turns,
        "Episodes": reply.episodes,
        "Memories": reply.memories,
        "Reflections": reply.reflections,
    }
    for heading, some in parts.items():
        if some:
            yield ""
            yield bold(heading)
            yield from (f"{INDENT}{number(memory.id)} {safe(memory.title)}" for memory in some)
    if reply.recalls:
        yield ""
        yield bold("Recalls")
        for entry in reply.recalls:
            question = safe(" ".join(entry.query.split()))
            yield f"{INDENT}{stamp(entry.at, wall_clock())} {question} {faint(count(entry.hits, 'hit'))}"


def mapped(reply: GraphReply) -> Iterator[str]:
    """How many memories and links there are, the link types, and the best linked memories."""
    yield (
        bold(count(len(reply.nodes), "linked memory", "linked memories"))
        + ", "
        + count(len(reply.links), "link")
    )
    yield from table([[INDENT + safe(type), f"{number:,}"] for type, number in reply.type_counts.items()])
    degrees = Counter(end for link in reply.links for end in link[:2])
    for place, links in degrees.most_common(20):
        yield f"{INDENT}{number(reply.nodes[place][0])} {safe(reply.nodes[place][1])} {faint(count(links, 'link'))}"


def reviewed(reply: ReviewReply) -> Iterator[str]:
    """What waits for a decision, and how to decide."""
    if reply.memory is not None:
        yield f"{good('Decided')} {number(reply.memory.id)} {safe(reply.memory.title)}"
        return
    for item in reply.items or ():
        yield f"{number(item.memory.id)} {bold(safe(item.memory.title))} {faint(safe(item.reason))}"
        yield from (f"{INDENT}{number(other.id)} {safe(other.title)}" for other in item.others or ())
    yield faint(f"{reply.total} to review; accept: {reply.accept.lower()}; reject: {reply.reject.lower()}")


def analysed(reply: AnalyticsReply) -> Iterator[str]:
    """Recalls in numbers, questions without an answer, the memories used most and least."""
    recalls = reply.recalls
    yield (
        bold(count(recalls.count, "recall"))
        + f", {recalls.empty} without an answer, {recalls.tokens:,} tokens"
    )
    if recalls.p50 is not None and recalls.p95 is not None:
        yield f"{INDENT}median {recalls.p50:.1f} ms, 95 of 100 within {recalls.p95:.1f} ms"
    if recalls.unanswered:
        yield ""
        yield bold("Asked in vain")
        yield from table(
            [[f"{INDENT}{one.times}", safe(" ".join(one.query.split()))] for one in recalls.unanswered]
        )
    for heading, some in {"Most used": reply.most_used, "Least used": reply.least_used}.items():
        if some:
            yield ""
            yield bold(heading)
            yield from table(
                [[f"{INDENT}{one.access_count}", number(one.id), safe(one.title)] for one in some]
            )


def spaces(reply: NamespacesReply) -> Iterator[str]:
    """Namespaces, the largest first, and how many memories each has."""
    rows = [[name(safe(one.namespace)), f"{one.count:,}"] for one in reply.namespaces]
    yield from table(rows) if rows else ["No namespaces yet."]


def forgotten(reply: ForgetReply) -> Iterator[str]:
    """How many memories were deleted, archived or purged, or would be, and the first of them."""
    done = {"archive": "Archived", "purge": "Purged"}.get(reply.fate or "", "Forgot")
    verb = f"Would {reply.fate or 'forget'}" if reply.dry_run else done
    yield f"{verb} {count(reply.deleted, 'memory', 'memories')}"
    for memory in reply.memories:
        yield f"{INDENT}{number(memory.id)} {safe(memory.title)}"
    if reply.deleted > len(reply.memories):
        yield faint(f"{INDENT}and {reply.deleted - len(reply.memories):,} more")
    if reply.dependents:
        yield f"{count(reply.dependents, 'other memory depends', 'other memories depend')} on it."


def linked(reply: LinkReply) -> Iterator[str]:
    """The link, or suggested links."""
    if reply.link:
        verb = good("Linked") if reply.linked else doubtful("Ended")
        link = reply.link
        yield f"{verb} {number(link.source)} → {safe(link.type)} → {number(link.target)}{remarks(link)}"
    elif not reply.suggestions:
        yield "Nothing to link it to."
    for one in reply.suggestions or ():
        yield f"{one.score:.2f} {number(one.id)} {safe(one.title)}"


def counted(reply: StatsReply) -> Iterator[str]:
    """The store in numbers, as a small table."""
    parts = [
        ("memories", f"{reply.total:,}"),
        ("by namespace", spread({one.namespace: one.count for one in reply.by_namespace})),
        ("by tier", spread({one.tier: one.count for one in reply.by_tier})),
        ("by kind", spread(reply.by_kind)),
        ("by state", spread(reply.by_state)),
        ("links", f"{reply.links_count:,}"),
        ("expiring soon", f"{reply.expiring_soon:,}"),
        ("changes", f"{reply.changes:,}"),
        ("model", reply.model or "none"),
        ("without vectors", f"{reply.pending_vectors:,}"),
        ("size", size(reply.db_size_bytes)),
    ]
    yield from table([[faint(label), value] for label, value in parts if value])


def opened(reply: OpenReply) -> Iterator[str]:
    """Memories whole, with their links."""
    for position, memory in enumerate(reply.memories):
        if position:
            yield ""
        yield from whole(memory)
    if reply.missing:
        yield ""
        yield f"{doubtful('No memory')} {safe(', '.join(map(repr, reply.missing)))}"


def whole(memory: MemoryShape) -> Iterator[str]:
    """One memory: title, body, its fields, its links."""
    yield bold(safe(memory.title))
    yield origin(memory)
    yield ""
    yield from paragraphs(memory.text, width())
    yield ""
    yield from table([[faint(label), value] for label, value in particulars(memory)])
    links = getattr(memory, "links", None)
    if links:
        yield ""
        yield from (link_from(memory.id, link) for link in links)
    if left := getattr(memory, "links_left", None):
        yield faint(f"{left:,} more links; `mnemic explore {memory.id} --limit 500` shows more of them")


def particulars(memory: MemoryShape) -> Iterator[tuple[str, str]]:
    """The fields of a memory that its heading leaves out, by name."""
    yield "uid", memory.uid
    if memory.summary:
        yield "summary", " ".join(excerpt(memory.summary, 2, 200))
    yield "tier", f"{memory.tier}, priority {memory.priority}, confidence {memory.confidence:g}"
    yield from plain_texts(memory)
    if memory.occurred_at:
        yield "occurred", stamp(memory.occurred_at, wall_clock())
    yield "created", stamp(memory.created_at, wall_clock())
    if memory.updated_at != memory.created_at:
        yield "updated", stamp(memory.updated_at, wall_clock())
    if memory.expires_at:
        yield "expires", stamp(memory.expires_at, wall_clock())
    if memory.access_count:
        yield "recalled", count(memory.access_count, "time")
    if memory.state:
        yield "state", safe(": ".join(part for part in (str(memory.state), memory.state_reason) if part))
    if memory.metadata:
        yield "metadata", safe(str(dict(memory.metadata)))


def plain_texts(memory: MemoryShape) -> Iterator[tuple[str, str]]:
    """The fields that are a text or nothing, and are shown as they are."""
    for label, field in type(memory).model_fields.items():
        is_plain = field.annotation == str | None and label not in ("summary", "state_reason")
        if is_plain and (said := getattr(memory, label)):
            yield label, safe(said)


def link_from(memory_id: int, link: OpenedLinkShape) -> str:
    """*link* as seen from one of its ends."""
    outward = link.source == memory_id
    arrow, other = ("→", link.target) if outward else ("←", link.source)
    return f"{arrow} {link_type(link)} {number(other)} {safe(link.title)}{remarks(link)}"


def link_type(link: LinkShape) -> str:
    """The type of a link, faint if it has ended."""
    return faint(safe(link.type) + " (ended)") if link.ended_at else safe(link.type)


def remarks(link: LinkShape) -> str:
    """Weight and reason of a link, where they say something."""
    parts = [f"weight {link.weight:g}"] if link.weight != 1 else []
    parts += [safe(link.reason)] if link.reason else []
    return faint(f" ({', '.join(parts)})") if parts else ""


def revised(reply: ReviseReply) -> Iterator[str]:
    """The resulting memory."""
    if reply.superseded:
        yield f"{good('Superseded')} {number(reply.superseded)} by {number(reply.memory.id)}"
        yield ""
    yield from whole(reply.memory)


def restored(reply: RestoreReply) -> Iterator[str]:
    """The memories that are back."""
    for memory in reply.memories:
        yield f"{good('Restored')} {number(memory.id)} {bold(safe(memory.title))}"


def explored(reply: ExploreReply) -> Iterator[str]:
    """The memories reached, indented by distance, then the links between them."""
    if not reply.memories:
        yield "No path leads there."
    for memory in reply.memories:
        yield f"{'  ' * memory.distance}{number(memory.id)} {bold(safe(memory.title))}"
    if reply.links:
        yield ""
    for link in reply.links:
        yield f"{number(link.source)} → {link_type(link)} → {number(link.target)}{remarks(link)}"


def verified(reply: VerifyReply) -> Iterator[str]:
    """The verdict, the reason, the evidence, and what nothing backs."""
    colours: dict[str, Callable[[str], str]] = {"verified": good, "partial": doubtful}
    yield f"{colours.get(reply.status, bad)(reply.status)} {faint(f'confidence {reply.confidence:.2f}')}"
    if reply.because:
        yield f"{INDENT}because {safe(reply.because)}"
    for item in reply.evidence:
        remark = doubtful(" outdated") if item.outdated else bad(" contradicts") if item.contradicts else ""
        since = faint(f" {iso(item.when)[:10]}")
        yield f"{INDENT}{bar(item.support)} {number(item.id)} {safe(' '.join(item.text.split()))}{since}{remark}"
    if reply.missing:
        yield f"{INDENT}not backed: {safe(', '.join(reply.missing))}"
    for conflict in reply.conflicts or ():
        yield INDENT + against(conflict)


def against(conflict: ConflictShape) -> str:
    """Two memories that contradict each other, in one line."""
    one, other = (f"{number(end.id)} {safe(end.title)}" for end in (conflict.one, conflict.other))
    reason = faint(f" ({safe(conflict.reason)})") if conflict.reason else ""
    return f"{one} {bad('contradicts' if conflict.linked else 'seems to contradict')} {other}{reason}"


def told(reply: HistoryReply) -> Iterator[str]:
    """Changes, newest first, with fields before and after; or versions; or reverted fields."""
    if not reply.count:
        yield "No changes."
    for change in reply.changes or ():
        yield from one_change(change)
    for memory in reply.versions or ():
        yield f"{bold(safe(memory.title))}"
        yield INDENT + origin(memory) + faint(f" {safe(memory.state_reason)}" if memory.state_reason else "")
    for mark, parts in ((good("+"), reply.added), (doubtful("~"), reply.changed), (bad("-"), reply.left)):
        for part in parts or ():
            yield f"{mark} {number(part.id)} {safe(part.title or 'purged')}"
            before, after = part.before or {}, part.after or {}
            for field in after.keys() - UNTOLD - STATE:
                yield from difference(field, before.get(field), after.get(field))


def one_change(change: ChangeShape) -> Iterator[str]:
    """One change in the manner of a diff."""
    what = f"{change.subject} {number(change.id)}"
    when = faint(f"{age(change.at, wall_clock())} by {safe(change.actor)}")
    yield f"{bold(f'{change.change}')} {change.operation} {what} {when}"
    before, after = change.before or {}, change.after or {}
    if change.subject is Subject.EDGE and change.before is None and after:
        yield INDENT + good(f"+ {born_link(after)}")
        return
    for field in dict.fromkeys([*before, *after]):
        if field not in UNTOLD:
            yield from difference(field, before.get(field), after.get(field))


def born_link(after: Mapping[str, object]) -> str:
    """A new link in one line."""
    reason = f" ({safe(str(after['reason']))})" if after.get("reason") else ""
    return f"{after.get('source_id')} → {safe(str(after.get('type')))} → {after.get('target_id')}{reason}"


def difference(field: str, before: object, after: object) -> Iterator[str]:
    """One field as it was and as it became."""
    for mark, colour, value in (("-", bad, before), ("+", good, after)):
        if value not in (None, "", [], {}, ()):
            shown_value = iso(value) if isinstance(value, int) and field in MOMENTS else plain(value)
            for line in excerpt(f"{field}: {shown_value}", 3, width() - 6):
                yield INDENT + colour(f"{mark} {line}")


def undone(reply: UndoReply) -> Iterator[str]:
    """The undone changes."""
    verb = "Would undo" if reply.dry_run else "Undid"
    numbers = f": {', '.join(map(str, reply.undone[:20]))}" if reply.undone else ""
    yield f"{verb} {count(reply.count, 'change')}{numbers}{' …' if len(reply.undone) > 20 else ''}"


def tidied(reply: TidyReply) -> Iterator[str]:
    """Findings, proposals, or the result."""
    if reply.doubles is not None:
        yield from doubled(reply, reply.doubles)
    elif reply.conflicts is not None:
        yield from map(against, reply.conflicts)
        yield count(reply.count or 0, "conflict")
    elif reply.captured is not None:
        yield from captured(reply, reply.captured)
    elif reply.findings is not None:
        yield from suspected(reply, reply.findings)
    elif reply.report is not None:
        yield from reported(reply.report)
    elif reply.parts is None and reply.groups is None and reply.memory is None:
        if reply.applied:
            yield f"Archived {count(reply.count or 0, 'memory', 'memories')}."
        else:
            what = count(reply.count or 0, "memory has", "memories have")
            yield f"{what} expired; --apply puts that into the archive."
    else:
        yield from proposed(reply)


def reported(report: ReportShape) -> Iterator[str]:
    """Totals, and the memories to tidy by problem."""
    sizes = count(report.memories, "memory", "memories"), count(report.statements, "statement")
    yield faint(", ".join(sizes))
    found: list[tuple[str, Sequence[BriefShape]]] = [
        ("say too much; `mnemic tidy split MEMORY` proposes parts", report.split),
        ("say something twice; `mnemic tidy duplicates MEMORY` shows it", report.repeated),
        ("have not been used for long", report.stale),
    ]
    for what, memories in found:
        if memories:
            yield f"These {what}:"
            yield from (f"{INDENT}{number(memory.id)} {safe(memory.title)}" for memory in memories)
    if not any(memories for _, memories in found):
        yield "Nothing wants tidying."


def proposed(reply: TidyReply) -> Iterator[str]:
    """What would become of a few memories, or the one that is left."""
    for part in reply.parts or ():
        yield bold(safe(part.title))
        for text in part.texts:
            yield from (INDENT + good(f"= {line}") for line in excerpt(text, 2, width() - 8))
    for first, *others in reply.groups or ():
        yield from excerpt(first, 2, width() - 8)
        yield from (f"{INDENT}{doubtful('with')} {safe(other)}" for other in others)
    if reply.memory:
        yield from whole(reply.memory)
    elif reply.applied:
        yield f"Merged {count(reply.count or 0, 'memory', 'memories')}."
    else:
        yield "--apply does it." if reply.parts or reply.groups else "Nothing to tidy."


def reflected(reply: ReflectReply) -> Iterator[str]:
    """The thought that was kept, or those that were found."""
    if not reply.reflections:
        yield "Nobody thought of that."
    for thought in reply.reflections:
        kept = f"{good('Kept')} " if thought.score is None else ""
        lines = excerpt(thought.text, 3, width() - 8)
        yield f"{kept}{number(thought.id)} {bold(lines[0])}"
        yield from (INDENT + bold(line) for line in lines[1:])
        about = f"about {thought.about}" if thought.about else "about everything"
        parts = [about, thought.mood, thought.author, age(thought.created_at, wall_clock())]
        yield INDENT + faint(safe(" · ".join(part for part in parts if part)))


def doubled(reply: TidyReply, groups: Sequence[DoubleShape]) -> Iterator[str]:
    """Groups of memories that say nearly the same, each with what would be left."""
    for group in groups:
        yield f"{number(group.into.id)} {bold(safe(group.into.title))} {faint(f'{group.similarity:.2f}')}"
        for other in group.others:
            yield f"{INDENT}{doubtful('like')} {number(other.id)} {safe(other.title)}"
        for text in group.texts:
            yield from (INDENT + good(f"= {line}") for line in excerpt(text, 2, width() - 8))
    if not groups:
        yield "No two memories say nearly the same."
        return
    what = count(reply.count or 0, "memory", "memories")
    yield f"Merged {what}." if reply.applied else f"{what} could be merged; --apply does it."


def captured(reply: TidyReply, waiting: Sequence[MemoryShape]) -> Iterator[str]:
    """What was captured and waits for review, and how to decide."""
    for memory in waiting:
        about = f"{memory.kind} in {memory.namespace}, {age(memory.created_at, wall_clock())}"
        yield f"{number(memory.id)} {bold(safe(memory.text))} {faint(about)}"
    if not waiting:
        yield "Nothing captured waits for review."
        return
    yield faint("tidy review ID --apply accepts, revise ID --text corrects, forget ID rejects for good.")


def suspected(reply: TidyReply, findings: Sequence[FindingShape]) -> Iterator[str]:
    """Memories that look poisoned, and why."""
    for finding in findings:
        yield f"{bad('suspicious')} {number(finding.id)} {bold(safe(finding.title))}"
        yield from (f"{INDENT}{sign.rule}: {safe(sign.text)}" for sign in finding.signs)
    what = count(reply.count or 0, "memory looks", "memories look")
    done = "; in the archive now, as quarantine" if reply.applied else ""
    yield f"{what} poisoned{done}." if findings else "Nothing suspicious."


def session_told(reply: SessionReply) -> Iterator[str]:
    """The session, what came of the one before it, and what there is to go on with."""
    if reply.session:
        state = "ended" if reply.session.ended_at else "open"
        topic = f" {bold(safe(reply.session.topic))}" if reply.session.topic else ""
        yield f"Session {number(reply.session.id)}{topic} {faint(f'{state} in {safe(reply.session.namespace)}')}"
    else:
        yield "No session is open."
    if reply.turn:
        yield f"{INDENT}{good('Logged')} {number(reply.turn)}"
    if reply.previous:
        yield f"{INDENT}{faint('before it:')} {number(reply.previous.id)} {safe(reply.previous.topic or '')}".rstrip()
    if reply.episode:
        yield f"{INDENT}{faint('episode')} {number(reply.episode.id)} {first_words(reply.episode)}"
    for memory in reply.memories or ():
        yield bold(first_words(memory))
        kind = [memory.kind] if memory.kind else []
        parts = [*kind, *(memory.tags or ()), age(memory.when, wall_clock())]
        yield INDENT + number(memory.id) + faint(" · " + safe(" · ".join(parts)))


def first_words(memory: ExcerptShape) -> str:
    """One line that says which memory it is."""
    return "".join(excerpt(memory.title or memory.text, 1, width() - 26))


def rated(reply: RateReply) -> Iterator[str]:
    """What was rated, and how good it counts for now."""
    for memory in reply.memories:
        gone = bad(" forgotten") if memory.forgotten else ""
        quality = faint(f"quality {memory.quality:g}") if memory.quality is not None else ""
        yield f"{good('Rated')} {number(memory.id)} {bold(safe(memory.title))} {quality}{gone}"
    for link in reply.links or ():
        yield f"{good('Rated')} link {number(link.id)} {faint(f'quality {link.quality:g}')}"


# By name: to import them all would load the parts of the dialect that are not needed.
VIEWS: dict[str, Callable[[Any], Iterator[str]]] = {
    "ExploreReply": explored,
    "ForgetReply": forgotten,
    "HistoryReply": told,
    "LinkReply": linked,
    "AnalyticsReply": analysed,
    "BulkReply": done_to_many,
    "FacetsReply": faceted,
    "GraphReply": mapped,
    "ListReply": listed,
    "NamespacesReply": spaces,
    "OpenReply": opened,
    "RateReply": rated,
    "RecallReply": recalled,
    "ReflectReply": reflected,
    "RememberReply": remembered,
    "RestoreReply": restored,
    "ReviewReply": reviewed,
    "ReviseReply": revised,
    "SessionReply": session_told,
    "SessionsReply": sessions_told,
    "StatsReply": counted,
    "TidyReply": tidied,
    "UndoReply": undone,
    "VerifyReply": verified,
}

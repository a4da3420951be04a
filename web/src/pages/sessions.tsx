// Sessions of work: all of them, and what one holds: turns, episode, what was stored, recalled and reflected upon.
import { useEffect, useState } from "preact/hooks";
import { call } from "../api";
import { TextField } from "../components/controls";
import { memoryHref, repeatsText, titleOf, When } from "../components/memory_parts";
import { EmptyState, Loaded } from "../components/notices";
import { Pager } from "../components/pager";
import { type Column, Table } from "../components/table";
import { useData } from "../data";
import { excerpt, moment } from "../format";
import { href, setQuery, usePlace } from "../router";
import { t } from "../strings";
import type { CountedSession, Memory, SessionsReply } from "../types";

const LIMIT = 50;

const COLUMNS: Column<CountedSession>[] = [
  {
    key: "title",
    title: t.sessions.topic,
    cell: (one) => (
      <div class="title-cell" dir="auto">
        <a href={href(`sessions/${one.id}`)}>{nameOf(one)}</a>
        {one.summary && one.topic && <p class="faint">{excerpt(one.summary, 160)}</p>}
      </div>
    ),
  },
  { key: "namespace", title: t.memory.namespace, optional: true, cell: (one) => one.namespace },
  { key: "updated", title: t.sessions.started, cell: (one) => <When iso={one.started_at} /> },
  {
    key: "ended",
    title: t.sessions.ended,
    optional: true,
    cell: (one) => (one.ended_at ? <When iso={one.ended_at} /> : <span class="badge good">{t.sessions.running}</span>),
  },
  { key: "turns", title: t.sessions.turns, numeric: true, cell: (one) => one.turns },
  { key: "memories", title: t.sessions.memories, numeric: true, cell: (one) => one.memories },
];

function nameOf(session: { id: number; topic?: string; summary?: string }): string {
  return session.topic ?? (session.summary ? excerpt(session.summary, 80) : `${t.sessions.untitled} #${session.id}`);
}

export default function SessionsPage({ path }: { path: string[] }) {
  return path[0] ? <OneSession id={Number(path[0])} /> : <AllSessions />;
}

function AllSessions() {
  const { query } = usePlace();
  const offset = Number(query.get("offset")) || 0;
  const text = query.get("text") ?? "";
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  const found = useData(
    (signal) => call<SessionsReply>("sessions", { namespace: "*", text: text || undefined, limit: LIMIT, offset }, signal),
    [text, offset],
  );
  return (
    <div class="page">
      <div class="page-head">
        <h1>{t.nav.sessions}</h1>
        <form class="contains" onSubmit={(event) => (event.preventDefault(), setQuery({ text: typed.trim(), offset: null }))}>
          <TextField label={t.sessions.contains} value={typed} onValue={setTyped} autocomplete="off" />
        </form>
      </div>
      <Loaded data={found}>
        {(reply) =>
          reply.sessions?.length ? (
            <div class="stack">
              <Table label={t.nav.sessions} columns={COLUMNS} rows={reply.sessions} id={(one) => one.id} />
              <Pager
                offset={offset}
                limit={LIMIT}
                shown={reply.sessions.length}
                total={reply.total}
                onOffset={(next) => setQuery({ offset: next || null }, true)}
              />
            </div>
          ) : (
            <EmptyState title={t.sessions.nothing}>
              <p>{t.sessions.nothingHint}</p>
            </EmptyState>
          )
        }
      </Loaded>
    </div>
  );
}

function OneSession({ id }: { id: number }) {
  const found = useData((signal) => call<SessionsReply>("sessions", { id }, signal), [id]);
  return (
    <div class="page">
      <Loaded data={found}>{(reply) => <Contents reply={reply} />}</Loaded>
    </div>
  );
}

function Contents({ reply }: { reply: SessionsReply }) {
  const { session } = reply;
  if (!session) return <EmptyState title={t.sessions.nothing} />;
  return (
    <>
      <div class="page-head">
        <h1 dir="auto">{nameOf(session)}</h1>
      </div>
      <p class="row faint">
        <span class="badge">{session.namespace}</span>
        {moment(session.started_at)} –{" "}
        {session.ended_at ? moment(session.ended_at) : <span class="badge good">{t.sessions.running}</span>}
      </p>
      {session.summary && (
        <section class="card padded stack">
          <h2>{t.sessions.summary}</h2>
          <p class="text" dir="auto">
            {session.summary}
          </p>
        </section>
      )}
      <div class="columns even">
        <section class="stack">
          <h2>{t.sessions.turns}</h2>
          {reply.turns?.length ? <Turns turns={reply.turns} /> : <p class="faint">{t.sessions.noTurns}</p>}
        </section>
        <div class="stack">
          <MemoryList title={t.sessions.episode} memories={reply.episodes} />
          <MemoryList title={t.sessions.stored} memories={reply.memories} />
          <Recalls reply={reply} />
          <MemoryList title={t.sessions.reflections} memories={reply.reflections} />
        </div>
      </div>
    </>
  );
}

function Turns({ turns }: { turns: Memory[] }) {
  return (
    <ol class="timeline">
      {turns.map((turn) => (
        <li key={turn.id} class="card padded">
          <p class="text" dir="auto">
            {turn.text}
          </p>
          <a class="faint" href={memoryHref(turn.id)}>
            <When iso={turn.occurred_at ?? turn.created_at} />
          </a>
        </li>
      ))}
    </ol>
  );
}

function MemoryList({ title, memories }: { title: string; memories: Memory[] | undefined }) {
  if (!memories?.length) return null;
  return (
    <section class="stack">
      <h2>{title}</h2>
      <ul class="card rows">
        {memories.map((memory) => (
          <li key={memory.id}>
            <a href={memoryHref(memory.id)} dir="auto">
              {titleOf(memory)}
            </a>
            {!repeatsText(memory) && (
              <p class="faint" dir="auto">
                {excerpt(memory.text, 160)}
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Recalls({ reply }: { reply: SessionsReply }) {
  const titles = new Map((reply.recalled ?? []).map((one) => [one.id, one]));
  if (!reply.recalls?.length) return null;
  return (
    <section class="stack">
      <h2>{t.sessions.recalled}</h2>
      <ul class="card rows">
        {reply.recalls.map((one) => (
          <li key={one.number}>
            <a href={href("search", { q: one.query })} dir="auto">
              {one.query}
            </a>{" "}
            <span class="faint">
              {one.hits ? t.sessions.hits(one.hits, one.tokens) : t.sessions.empty} · {one.actor}
            </span>
            <ul class="recalled">
              {one.ids.map((id) => (
                <li key={id}>
                  <a href={memoryHref(id)} dir="auto">
                    {titles.get(id)?.title ?? `#${id}`}
                  </a>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </section>
  );
}

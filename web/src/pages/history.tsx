// Every change with who, what and when, each with its undo; or how two moments differ.
import { useState } from "preact/hooks";
import { call, change } from "../api";
import { Button } from "../components/controls";
import { FieldDiffs } from "../components/diff_view";
import { type FilterName, FilterBar } from "../components/filter_bar";
import { memoryHref, When } from "../components/memory_parts";
import { EmptyState, Loaded } from "../components/notices";
import { say } from "../components/undo_bar";
import { useData, useMayChange } from "../data";
import { moment } from "../format";
import { AS_OF, href, usePlace } from "../router";
import { t } from "../strings";
import type { Change, Difference, HistoryReply } from "../types";

const FILTERS: FilterName[] = ["actor", "since", "until"];
const STEP = 50;
const MOST = 1000;

export default function HistoryPage() {
  const { query } = usePlace();
  const comparing = query.get("view") === "compare";
  const kept = Object.fromEntries(FILTERS.map((name) => [name, query.get(name)]));
  return (
    <div class="page">
      <div class="page-head">
        <h1>{t.nav.history}</h1>
      </div>
      <p class="faint">{t.history.about}</p>
      <nav class="tabs" aria-label={t.history.view}>
        <a href={href("history", kept)} aria-current={comparing ? undefined : "page"}>
          {t.history.changes}
        </a>
        <a href={href("history", { ...kept, view: "compare" })} aria-current={comparing ? "page" : undefined}>
          {t.history.compare}
        </a>
      </nav>
      <FilterBar names={FILTERS} />
      {comparing ? <Comparison query={query} /> : <Changes query={query} />}
    </div>
  );
}

function given(query: URLSearchParams): Record<string, unknown> {
  const until = query.get("until") ?? query.get(AS_OF);
  return { since: query.get("since") ?? undefined, until: until ?? undefined };
}

function Changes({ query }: { query: URLSearchParams }) {
  const [limit, setLimit] = useState(STEP);
  const asked = { ...given(query), actor: query.get("actor") ?? undefined };
  const found = useData(
    (signal) => call<HistoryReply>("history", { ...asked, limit }, signal),
    [JSON.stringify(asked), limit],
  );
  return (
    <Loaded data={found}>
      {(reply) => {
        const changes = reply.changes ?? [];
        if (!changes.length) {
          return (
            <EmptyState title={t.history.nothing}>
              <p>{t.history.nothingHint}</p>
            </EmptyState>
          );
        }
        return (
          <div class="stack" aria-busy={found.loading}>
            <ol class="timeline">
              {changes.map((one) => (
                <ChangeCard key={one.change} change={one} />
              ))}
            </ol>
            {changes.length === limit && limit < MOST && (
              <div class="row">
                <Button onClick={() => setLimit(Math.min(MOST, limit * 2))}>{t.history.more}</Button>
              </div>
            )}
          </div>
        );
      }}
    </Loaded>
  );
}

/** What the change is about, as a link where it is a memory. */
function Subject({ change: one }: { change: Change }) {
  if (one.subject === "edge" && one.after?.source_id) {
    const [source, target] = [Number(one.after.source_id), Number(one.after.target_id)];
    return (
      <span>
        <a href={memoryHref(source)}>#{source}</a> → <a href={memoryHref(target)}>#{target}</a>
      </span>
    );
  }
  const title = one.title ?? (one.after?.title as string | undefined) ?? (one.before?.title as string | undefined);
  const name = title ?? `${one.subject} #${one.id}`;
  if (one.subject === "session") return <a href={href(`sessions/${one.id}`)}>{name}</a>;
  return one.subject === "memory" ? (
    <a href={memoryHref(one.id)} dir="auto">
      {name}
    </a>
  ) : (
    <span>{name}</span>
  );
}

function ChangeCard({ change: one }: { change: Change }) {
  const may = useMayChange();
  const takeBack = () =>
    change(t.did.undone(one.change), "undo", { change: one.change }).catch((error: Error) => say(error.message));
  return (
    <li class="card padded stack change">
      <div class="change-head">
        <span class="badge">{one.operation}</span>
        <Subject change={one} />
        <span class="faint change-who">
          {one.actor} · <When iso={one.at} /> · <span title={moment(one.at)}>#{one.change}</span>
        </span>
        {may && <Button onClick={() => void takeBack()}>{t.undo.button}</Button>}
      </div>
      <FieldDiffs before={one.before} after={one.after} />
    </li>
  );
}

function Comparison({ query }: { query: URLSearchParams }) {
  const asked = given(query);
  const found = useData(
    async (signal) => (asked.since ? call<HistoryReply>("history", { ...asked, view: "diff", limit: 200 }, signal) : null),
    [JSON.stringify(asked)],
  );
  if (!asked.since) {
    return (
      <EmptyState title={t.history.compare}>
        <p>{t.history.compareHint}</p>
      </EmptyState>
    );
  }
  return (
    <Loaded data={found}>
      {(reply) =>
        reply?.count ? (
          <div class="stack">
            <Part title={t.history.added} entries={reply.added} />
            <Part title={t.history.changed} entries={reply.changed} />
            <Part title={t.history.left} entries={reply.left} />
          </div>
        ) : (
          <EmptyState title={t.history.nothing}>
            <p>{t.history.nothingHint}</p>
          </EmptyState>
        )
      }
    </Loaded>
  );
}

function Part({ title, entries }: { title: string; entries: Difference[] | undefined }) {
  if (!entries?.length) return null;
  return (
    <section class="stack">
      <h2>
        {title} <span class="faint number">{entries.length}</span>
      </h2>
      <ul class="timeline">
        {entries.map((one) => (
          <li key={one.id} class="card padded stack">
            <a href={memoryHref(one.id)} dir="auto">
              {one.title ?? `#${one.id}`}
            </a>
            <FieldDiffs before={one.before} after={one.after} />
          </li>
        ))}
      </ul>
    </section>
  );
}

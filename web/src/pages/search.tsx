// Search as you type: hits with relevance and the terms of their score, or "nothing relevant".
import { useState } from "preact/hooks";
import { call } from "../api";
import { Meter, Terms } from "../components/bars";
import { Button, TextField } from "../components/controls";
import { type FilterName, FilterBar, filterArguments, filterKey } from "../components/filter_bar";
import { editHref, memoryHref, repeatsText, StateBadge, Tags, titleOf, When } from "../components/memory_parts";
import { EmptyState, Loaded } from "../components/notices";
import { useData } from "../data";
import { excerpt, percent } from "../format";
import { useKeys } from "../keys";
import { go, setQuery, usePlace } from "../router";
import { t } from "../strings";
import type { Explanation, Hit, OpenReply, RecallReply } from "../types";

const FILTERS: FilterName[] = ["namespace", "kind", "tag", "tier", "state", "session", "actor", "since", "until"];
const LIMIT = 20;
const SHOWN_CHARACTERS = 480;

export default function SearchPage() {
  const { query } = usePlace();
  const asked = query.get("q")?.trim() ?? "";
  return (
    <div class="page">
      <div class="page-head">
        <h1>{t.nav.search}</h1>
      </div>
      <FilterBar names={FILTERS} />
      {asked ? <Results asked={asked} query={query} /> : <Start />}
    </div>
  );
}

function Start() {
  return (
    <EmptyState title={t.search.start}>
      <p>{t.search.startHint}</p>
    </EmptyState>
  );
}

function Results({ asked, query }: { asked: string; query: URLSearchParams }) {
  const weak = query.has("weak");
  const why = query.get("why");
  const found = useData(
    async (signal) => {
      const given = { query: asked, limit: LIMIT, detail: "full", explain: true, ...filterArguments(query) };
      const floor = weak ? { min_relevance: 0 } : {};
      const chosen = why ? { why: [await numberOf(why, signal)] } : {};
      return call<RecallReply>("recall", { ...given, ...floor, ...chosen }, signal);
    },
    [asked, weak, why, filterKey(query)],
  );
  return (
    <Loaded data={found}>
      {(reply) => (
        <div class="stack" aria-busy={found.loading}>
          <p class="faint" role="status">
            {t.counts.hits(reply.memories.length)}
            {reply.pending ? ` · ${t.search.pending(reply.pending)}` : ""}
          </p>
          {reply.memories.length ? (
            <Hits hits={reply.memories} />
          ) : (
            <EmptyState title={t.search.nothing}>
              <p>{t.search.nothingHint}</p>
              {reply.note && <p>{reply.note}</p>}
            </EmptyState>
          )}
          <div class="row">
            <Button onClick={() => setQuery({ weak: !weak })}>{weak ? t.search.stricter : t.search.weaker}</Button>
          </div>
          <WhyNot chosen={why ?? ""} explanation={why ? reply.explanations?.[0] : undefined} />
        </div>
      )}
    </Loaded>
  );
}

/** The number of the memory called *reference*. */
async function numberOf(reference: string, signal: AbortSignal): Promise<number> {
  if (/^\d+$/.test(reference)) return Number(reference);
  const reply = await call<OpenReply>("open", { ids: [reference], namespace: "*" }, signal);
  return reply.memories[0]?.id ?? 0;
}

function Hits({ hits }: { hits: Hit[] }) {
  const [current, setCurrent] = useState(-1);
  const at = hits[current];
  const move = (step: number) => {
    const next = Math.max(0, Math.min(hits.length - 1, current + step));
    setCurrent(next);
    document.getElementById(`hit-${hits[next]?.id}`)?.scrollIntoView({ block: "nearest" });
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => at && go(memoryHref(at.id)),
    e: () => at && go(editHref(at.id)),
  });
  return (
    <ol class="hits">
      {hits.map((hit, index) => (
        <HitCard key={hit.id} hit={hit} current={index === current} />
      ))}
    </ol>
  );
}

function HitCard({ hit, current }: { hit: Hit; current: boolean }) {
  const share = percent(hit.relevance ?? 0);
  const repeats = repeatsText(hit);
  return (
    <li id={`hit-${hit.id}`} class={current ? "hit card current" : "hit card"} onClick={(event) => openHit(event, hit.id)}>
      <div class="hit-head">
        <h2 dir="auto">
          <a href={memoryHref(hit.id)}>{titleOf(hit)}</a>
        </h2>
        <span class="hit-relevance" title={t.search.relevance(share)}>
          <Meter value={hit.relevance ?? 0} label={t.search.relevance(share)} />
          <span class="number">{share}</span>
        </span>
      </div>
      {!(repeats && hit.text.length <= hit.title.length + 2) && (
        <p class="text" dir="auto">
          {excerpt(hit.text, SHOWN_CHARACTERS)}
        </p>
      )}
      <div class="row hit-about">
        <span class="badge">{hit.namespace}</span>
        <span class="badge">{hit.kind}</span>
        <StateBadge memory={hit} />
        <Tags tags={hit.tags} />
        <span class="faint">
          <When iso={hit.when} />
        </span>
      </div>
      <details class="hit-why">
        <summary>{t.search.why}</summary>
        <Why terms={hit.terms} signals={hit.signals} />
      </details>
    </li>
  );
}

/** A click on a hit opens it, unless it was meant for something inside or to select text. */
function openHit(event: MouseEvent, id: number): void {
  const on = event.target as HTMLElement;
  if (on.closest("a, button, summary, details") || getSelection()?.toString()) return;
  go(memoryHref(id));
}

function Why({ terms, signals }: Pick<Explanation, "terms" | "signals">) {
  return (
    <div class="why">
      {terms && (
        <section>
          <h3>{t.search.terms}</h3>
          <Terms terms={terms} />
        </section>
      )}
      {signals && (
        <section>
          <h3>{t.search.signals}</h3>
          <Terms terms={signals} />
        </section>
      )}
    </div>
  );
}

function WhyNot({ chosen, explanation }: { chosen: string; explanation: Explanation | undefined }) {
  const [reference, setReference] = useState(chosen);
  return (
    <details class="card padded" open={chosen !== ""}>
      <summary>{t.search.whyNot}</summary>
      <form class="row why-not" onSubmit={(event) => (event.preventDefault(), setQuery({ why: reference.trim() }))}>
        <TextField label={t.search.memory} hint={t.search.whyNotHint} value={reference} onValue={setReference} />
        <Button type="submit">{t.search.explain}</Button>
      </form>
      {explanation && (
        <div class="stack">
          <p>
            <strong>{explanation.is_hit ? t.search.found(explanation.place) : t.search.notFound}.</strong> {explanation.reason}{" "}
            <a href={memoryHref(explanation.id)}>#{explanation.id}</a>
          </p>
          {explanation.relevance !== undefined && explanation.needed !== undefined && (
            <p class="faint">{t.search.needed(percent(explanation.relevance), percent(explanation.needed))}</p>
          )}
          <Why terms={explanation.terms} signals={explanation.signals} />
        </div>
      )}
    </details>
  );
}

// How the store grows, what is asked of it, and which memories are of use.
import { call } from "../api";
import { SelectField } from "../components/controls";
import { memoryHref, titleOf, When } from "../components/memory_parts";
import { EmptyState, Loaded } from "../components/notices";
import { BarPlot, HeatMap, LinePlot, type Point } from "../components/plots";
import { useData } from "../data";
import { AS_OF, href, setQuery, usePlace } from "../router";
import { t } from "../strings";
import type { Facets, Memory } from "../types";

interface Question {
  query: string;
  times: number;
  at: string;
  actor: string;
}

interface RecallDay {
  day: string;
  recalls: number;
  empty: number;
  tokens: number;
  /** Median milliseconds. */
  p50: number;
}

interface AnalyticsReply {
  stored_by_day: Record<string, number>;
  by_namespace: Record<string, number>;
  by_kind: Record<string, number>;
  by_tag: Record<string, number>;
  recalls: {
    count: number;
    empty: number;
    tokens: number;
    p50?: number;
    p95?: number;
    by_day: RecallDay[];
    by_actor: Record<string, number>;
    unanswered: Question[];
    frequent: Question[];
  };
  most_used: Memory[];
  least_used: Memory[];
}

const SPANS = ["1d", "7d", "30d", "90d"] as const;

export default function AnalyticsPage() {
  const { query } = usePlace();
  const [namespace, since] = [query.get("namespace") ?? "", query.get("since") ?? "30d"];
  const facets = useData((signal) => call<Facets>("facets", {}, signal), []).data;
  const found = useData(
    (signal) => call<AnalyticsReply>("analytics", { namespace: namespace || "*", since }, signal),
    [namespace, since],
  );
  const spaces = Object.keys(facets?.namespace ?? {});
  return (
    <div class="page">
      <div class="page-head">
        <h1>{t.nav.analytics}</h1>
      </div>
      <div class="filter-fields">
        <SelectField
          label={t.memory.namespace}
          value={namespace}
          onValue={(value) => setQuery({ namespace: value })}
          options={[["", t.filters.any], ...spaces.map((one) => [one, one] as const)]}
        />
        <SelectField
          label={t.analytics.span}
          value={since}
          onValue={(value) => setQuery({ since: value })}
          options={SPANS.map((one) => [one, t.analytics.spans[one]] as const)}
        />
      </div>
      <Loaded data={found}>{(reply) => <Figures reply={reply} busy={found.loading} />}</Loaded>
    </div>
  );
}

const RECALL_PLOTS: [title: string, value: (day: RecallDay) => number][] = [
  [t.analytics.recallsByDay, (day) => day.recalls],
  [t.analytics.emptyByDay, (day) => day.empty],
  [t.analytics.timeByDay, (day) => day.p50],
  [t.analytics.tokensByDay, (day) => day.tokens],
];

function Figures({ reply, busy }: { reply: AnalyticsReply; busy: boolean }) {
  const moment = usePlace().query.get(AS_OF);
  const recalls = reply.recalls;
  const days = Object.entries(reply.stored_by_day);
  if (!days.length) return <EmptyState title={t.analytics.nothing} />;
  return (
    <div class="stack" aria-busy={busy}>
      <dl class="figures">
        <Figure name={t.analytics.recalls} value={recalls.count.toLocaleString()} />
        <Figure name={t.analytics.empty} value={`${recalls.empty.toLocaleString()}${share(recalls.empty, recalls.count)}`} />
        <Figure name={t.analytics.median} value={milliseconds(recalls.p50)} />
        <Figure name={t.analytics.slow} value={milliseconds(recalls.p95)} />
        <Figure name={t.analytics.tokens} value={recalls.tokens.toLocaleString()} />
      </dl>
      <div class="plots">
        <LinePlot title={t.analytics.growth} points={sums(days)} />
        <HeatMap title={t.analytics.heat} days={reply.stored_by_day} until={moment ? new Date(moment) : new Date()} />
        {recalls.by_day.length > 0 &&
          RECALL_PLOTS.map(([title, value]) => (
            <LinePlot key={title} title={title} points={recalls.by_day.map((one) => ({ day: one.day, value: value(one) }))} />
          ))}
        <BarPlot title={t.analytics.byNamespace} counts={reply.by_namespace} link={(namespace) => href("browse", { namespace })} />
        <BarPlot title={t.analytics.byKind} counts={reply.by_kind} link={(kind) => href("browse", { kind })} />
        <BarPlot title={t.analytics.byTag} counts={reply.by_tag} link={(tag) => href("browse", { tag })} />
        {recalls.count > 0 && <BarPlot title={t.analytics.byClient} counts={recalls.by_actor} />}
        <Questions title={t.analytics.unanswered} none={t.analytics.allAnswered} questions={recalls.unanswered} />
        <Questions title={t.analytics.frequent} none={t.analytics.noRecalls} questions={recalls.frequent} />
        <Memories title={t.analytics.mostUsed} memories={reply.most_used} />
        <Memories title={t.analytics.leastUsed} memories={reply.least_used} />
      </div>
    </div>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div class="card padded">
      <dt class="faint">{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

const share = (part: number, whole: number) => (whole ? ` (${Math.round((100 * part) / whole)} %)` : "");
const milliseconds = (value: number | undefined) => (value === undefined ? "–" : `${value.toFixed(1)} ms`);

/** How many there were by each day. */
function sums(days: [string, number][]): Point[] {
  let total = 0;
  return days.map(([day, count]) => ({ day, value: (total += count) }));
}

function Questions({ title, none, questions }: { title: string; none: string; questions: Question[] }) {
  return (
    <section class="card padded plot">
      <h2>{title}</h2>
      {questions.length ? (
        <ol class="questions">
          {questions.slice(0, 15).map((one) => (
            <li key={one.query}>
              <a href={href("search", { q: one.query })} dir="auto">
                {one.query}
              </a>
              <span class="faint">
                {t.analytics.times(one.times)} · {one.actor} · <When iso={one.at} />
              </span>
            </li>
          ))}
        </ol>
      ) : (
        <p class="faint">{none}</p>
      )}
    </section>
  );
}

function Memories({ title, memories }: { title: string; memories: Memory[] }) {
  return (
    <section class="card padded plot">
      <h2>{title}</h2>
      <ol class="questions">
        {memories.map((memory) => (
          <li key={memory.id}>
            <a href={memoryHref(memory.id)} dir="auto">
              {titleOf(memory)}
            </a>
            <span class="faint">{t.memory.uses(memory.access_count)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

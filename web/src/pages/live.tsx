// What agents write and recall now, as the daemon tells it.
import { useEffect, useState } from "preact/hooks";
import { Button, SelectField } from "../components/controls";
import { memoryHref, When } from "../components/memory_parts";
import { EmptyState } from "../components/notices";
import { setQuery, usePlace } from "../router";
import { t } from "../strings";

interface LiveChange {
  change: number;
  at: string;
  actor: string;
  operation: string;
  subject: string;
  id: number;
  title: string | null;
  namespace: string | null;
}

interface LiveRecall {
  at: string;
  actor: string;
  query: string;
  namespaces: string[] | null;
  hits: number;
  relevance: number | null;
  milliseconds: number;
  ids: number[];
}

type Event = { key: number } & (({ what: "change" } & LiveChange) | ({ what: "recall" } & LiveRecall));

const MOST = 500;
let counted = 0;

export default function LivePage() {
  const { query } = usePlace();
  const [paused, setPaused] = useState(false);
  const { events, connected, clear } = useFeed(paused);
  const [actor, space] = [query.get("actor") ?? "", query.get("namespace") ?? ""];
  const shown = events.filter(
    (one) => (!actor || one.actor === actor) && (!space || spacesOf(one).includes(space)),
  );
  const options = (values: string[]) =>
    [["", t.filters.any], ...[...new Set(values)].sort().map((one) => [one, one])] as [string, string][];
  return (
    <div class="page">
      <div class="page-head">
        <h1>{t.nav.live}</h1>
        <span class={connected ? "badge good" : "badge warn"} role="status">
          {connected ? t.live.connected : t.live.waiting}
        </span>
        <Button aria-pressed={paused} onClick={() => setPaused(!paused)}>
          {t.live.pause}
        </Button>
        <Button onClick={clear}>{t.actions.clear}</Button>
      </div>
      <p class="faint">{t.live.about}</p>
      <div class="filter-fields">
        <SelectField
          label={t.live.client}
          value={actor}
          onValue={(value) => setQuery({ actor: value })}
          options={options([...events.map((one) => one.actor), ...(actor ? [actor] : [])])}
        />
        <SelectField
          label={t.memory.namespace}
          value={space}
          onValue={(value) => setQuery({ namespace: value })}
          options={options([...events.flatMap(spacesOf), ...(space ? [space] : [])])}
        />
      </div>
      {shown.length ? (
        <ol class="timeline" aria-label={t.live.events} aria-live={paused ? "off" : "polite"} aria-relevant="additions">
          {shown.map((one) => (
            <li key={one.key} class="card padded live">
              {one.what === "recall" ? <Recall one={one} /> : <Written one={one} />}
            </li>
          ))}
        </ol>
      ) : (
        <EmptyState title={t.live.nothing}>
          <p>{t.live.nothingHint}</p>
        </EmptyState>
      )}
    </div>
  );
}

function spacesOf(one: Event): string[] {
  if (one.what === "recall") return one.namespaces ?? [];
  return one.namespace ? [one.namespace] : [];
}

function Written({ one }: { one: LiveChange }) {
  return (
    <>
      <span class="badge">{one.operation}</span>{" "}
      {one.subject === "memory" && one.title ? (
        <a href={memoryHref(one.id)} dir="auto">
          {one.title}
        </a>
      ) : (
        <span>
          {one.subject} #{one.id}
        </span>
      )}{" "}
      <span class="faint">
        {one.actor}
        {one.namespace && ` · ${one.namespace}`} · <When iso={one.at} />
      </span>
    </>
  );
}

function Recall({ one }: { one: LiveRecall }) {
  return (
    <>
      <span class={one.hits ? "badge good" : "badge warn"}>{one.hits ? t.counts.hits(one.hits) : t.live.empty}</span>{" "}
      <q dir="auto">{one.query}</q>{" "}
      {one.ids.slice(0, 5).map((id) => (
        <a key={id} href={memoryHref(id)}>
          #{id}{" "}
        </a>
      ))}
      <span class="faint">
        {one.actor}
        {one.namespaces && ` · ${one.namespaces.join(", ")}`} · {one.milliseconds.toFixed(0)} ms · <When iso={one.at} />
      </span>
    </>
  );
}

/** The newest events, and whether the feed is there. */
function useFeed(paused: boolean) {
  const [events, setEvents] = useState<Event[]>([]);
  const [connected, setConnected] = useState(false);
  useEffect(() => {
    if (paused) {
      setConnected(false);
      return;
    }
    const feed = new EventSource("/api/v1/live");
    const take = (what: "change" | "recall") => (message: MessageEvent<string>) => {
      const one = { ...JSON.parse(message.data), what, key: counted++ } as Event;
      setEvents((earlier) => [one, ...earlier].slice(0, MOST));
    };
    feed.addEventListener("open", () => setConnected(true));
    feed.addEventListener("error", () => setConnected(false));
    feed.addEventListener("change", take("change"));
    feed.addEventListener("recall", take("recall"));
    return () => feed.close();
  }, [paused]);
  return { events, connected, clear: () => setEvents([]) };
}

// How memories are linked: a whole namespace in clusters or the surroundings of one, with paths and consequences.
import type { ComponentType } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { call } from "../api";
import { Button, CheckField, SelectField, TextField } from "../components/controls";
import type { GraphReply } from "../components/graph_canvas";
import { memoryHref } from "../components/memory_parts";
import { EmptyState, Loaded, Problem, Waiting } from "../components/notices";
import { useData } from "../data";
import { setQuery, usePlace } from "../router";
import { t } from "../strings";
import type { Facets, Link, Memory } from "../types";

interface ExploreReply {
  memories: (Memory & { distance: number })[];
  links: Link[];
}

type Canvas = typeof import("../components/graph_canvas");
const LISTED = 200;

export default function GraphPage() {
  const { query } = usePlace();
  const [namespace, around] = [query.get("namespace") ?? "", query.get("around") ?? ""];
  const depth = Number(query.get("depth") ?? 2);
  const facets = useData((signal) => call<Facets>("facets", {}, signal), []).data;
  const found = useData(
    (signal) => call<GraphReply>("graph", around ? { id: around, depth } : { namespace: namespace || "*" }, signal),
    [namespace, around, depth],
  );
  const spaces = Object.keys(facets?.namespace ?? {});
  return (
    <div class="page wide">
      <div class="page-head">
        <h1>{t.nav.graph}</h1>
      </div>
      <div class="filter-fields">
        <SelectField
          label={t.memory.namespace}
          value={namespace}
          onValue={(value) => setQuery({ namespace: value, around: null })}
          options={[["", t.filters.any], ...spaces.map((one) => [one, one] as const)]}
        />
        {around && (
          <SelectField
            label={t.graph.depth}
            value={String(depth)}
            onValue={(value) => setQuery({ depth: value })}
            options={[1, 2, 3, 4, 5].map((one) => [String(one), String(one)] as const)}
          />
        )}
      </div>
      <Around key={around} value={around} />
      <Loaded data={found}>
        {(reply) =>
          reply.nodes.length ? (
            <Explorer reply={reply} />
          ) : (
            <EmptyState title={t.graph.nothing}>
              <p>{t.graph.nothingHint}</p>
            </EmptyState>
          )
        }
      </Loaded>
    </div>
  );
}

function Around({ value }: { value: string }) {
  const [typed, setTyped] = useState(value);
  return (
    <form
      class="row end"
      onSubmit={(event) => {
        event.preventDefault();
        setQuery({ around: typed.trim() });
      }}
    >
      <TextField label={t.graph.around} value={typed} onValue={setTyped} placeholder={t.graph.reference} />
      <Button type="submit">{t.graph.show}</Button>
      {value && <Button onClick={() => setQuery({ around: null })}>{t.graph.whole}</Button>}
    </form>
  );
}

function Explorer({ reply }: { reply: GraphReply }) {
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set());
  const [selected, setSelected] = useState<number | null>(null);
  const [marked, setMarked] = useState<ReadonlySet<number> | null>(null);
  const canvas = useCanvas();
  const Picture = canvas.loaded?.default as ComponentType<Parameters<Canvas["default"]>[0]> | undefined;
  useEffect(() => {
    setSelected(null);
    setMarked(null);
    setHidden(new Set());
  }, [reply]);
  return (
    <div class="graph-columns">
      <div class="stack">
        <Legend reply={reply} hidden={hidden} setHidden={setHidden} colour={canvas.loaded?.colour} />
        {canvas.error && <Problem error={canvas.error} />}
        {Picture ? (
          <Picture reply={reply} hidden={hidden} selected={selected} marked={marked} onSelect={setSelected} />
        ) : (
          !canvas.error && <Waiting />
        )}
        {reply.left_out && <p class="faint">{t.graph.leftOut(reply.left_out)}</p>}
      </div>
      <div class="stack">
        {selected !== null && (
          <Selected key={selected} id={selected} reply={reply} onSelect={setSelected} onMark={setMarked} isMarked={marked !== null} />
        )}
        <NodeList reply={reply} marked={marked} selected={selected} onSelect={setSelected} />
      </div>
    </div>
  );
}

/** The part that draws, which is fetched when it is first needed. */
function useCanvas() {
  const [loaded, setLoaded] = useState<Canvas>();
  const [error, setError] = useState<Error>();
  useEffect(() => {
    import("../components/graph_canvas").then(setLoaded, setError);
  }, []);
  return { loaded, error };
}

function Legend(props: {
  reply: GraphReply;
  hidden: ReadonlySet<number>;
  setHidden: (hidden: ReadonlySet<number>) => void;
  colour: ((place: number) => string) | undefined;
}) {
  const { reply, hidden, colour } = props;
  const toggle = (place: number, isShown: boolean) => {
    const next = new Set(hidden);
    if (isShown) next.delete(place);
    else next.add(place);
    props.setHidden(next);
  };
  return (
    <div class="legend">
      <fieldset>
        <legend>{t.graph.types}</legend>
        {reply.types.map((type, place) => (
          <CheckField
            key={type}
            checked={!hidden.has(place)}
            onChecked={(isShown) => toggle(place, isShown)}
            label={
              <>
                <span class="swatch line" style={{ background: colour?.(place) }} /> {type}{" "}
                <span class="faint">{reply.type_counts[type]?.toLocaleString()}</span>
              </>
            }
          />
        ))}
      </fieldset>
      <ul aria-label={t.graph.kinds}>
        {reply.kinds.map((kind, place) => (
          <li key={kind}>
            <span class="swatch" style={{ background: colour?.(place) }} /> {kind}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Selected(props: {
  id: number;
  reply: GraphReply;
  onSelect: (id: number) => void;
  onMark: (marked: ReadonlySet<number> | null) => void;
  isMarked: boolean;
}) {
  const { id, reply, onMark } = props;
  const [to, setTo] = useState("");
  const [told, setTold] = useState<string>();
  const [error, setError] = useState<Error>();
  const place = reply.nodes.findIndex((node) => node[0] === id);
  const node = reply.nodes[place];
  const neighbours = useMemo(() => neighboursOf(reply, place), [reply, place]);
  const explore = async (given: object, say: (found: ExploreReply) => string) => {
    setError(undefined);
    try {
      const found = await call<ExploreReply>("explore", { id: String(id), ...given });
      onMark(found.memories.length ? new Set(found.memories.map((memory) => memory.id)) : null);
      setTold(say(found));
    } catch (problem) {
      setError(problem as Error);
    }
  };
  if (!node) return null;
  return (
    <section class="card padded stack" aria-label={t.graph.chosen}>
      <h2>
        <a href={memoryHref(id)} dir="auto">
          {node[1]}
        </a>
      </h2>
      <p class="faint">
        #{id} · {reply.kinds[node[2]]} · {reply.namespaces[node[3]]}
      </p>
      <div class="row">
        <Button onClick={() => setQuery({ around: String(id) }, true)}>{t.graph.aroundThis}</Button>
        <Button onClick={() => void explore({ impact: true, limit: 500 }, (found) => t.graph.impact(found.memories.length - 1))}>
          {t.graph.impactOf}
        </Button>
      </div>
      <form
        class="row end"
        onSubmit={(event) => {
          event.preventDefault();
          if (to.trim()) void explore({ to: to.trim() }, (found) => t.graph.path(found.memories.map((memory) => memory.title)));
        }}
      >
        <TextField label={t.graph.pathTo} value={to} onValue={setTo} placeholder={t.graph.reference} />
        <Button type="submit">{t.graph.find}</Button>
      </form>
      {error && <Problem error={error} />}
      <p role="status">{told}</p>
      {props.isMarked && (
        <Button
          onClick={() => {
            onMark(null);
            setTold(undefined);
          }}
        >
          {t.graph.unmark}
        </Button>
      )}
      <h3>{t.graph.neighbours(neighbours.length)}</h3>
      <ul class="graph-list">
        {neighbours.slice(0, 100).map((one, index) => (
          <li key={index}>
            <span class="faint">
              {one.arrow} {one.type}
            </span>{" "}
            <button type="button" class="as-link" dir="auto" onClick={() => props.onSelect(one.id)}>
              {one.title}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function neighboursOf(reply: GraphReply, place: number) {
  return reply.links
    .filter(([source, target]) => source === place || target === place)
    .map(([source, target, type]) => {
      const [id, title] = reply.nodes[source === place ? target : source] ?? [0, ""];
      return { id, title, type: reply.types[type], arrow: source === place ? "→" : "←" };
    });
}

/** The memories of the picture as a list, the best linked first. */
function NodeList(props: {
  reply: GraphReply;
  marked: ReadonlySet<number> | null;
  selected: number | null;
  onSelect: (id: number) => void;
}) {
  const { reply, marked } = props;
  const [contains, setContains] = useState("");
  const ranked = useMemo(() => byLinks(reply), [reply]);
  const needle = contains.trim().toLowerCase();
  const passing = ranked.filter(
    (one) => (!marked || marked.has(one.id)) && (!needle || one.title.toLowerCase().includes(needle)),
  );
  return (
    <section class="card padded stack" aria-label={t.graph.list}>
      <h2>{marked ? t.graph.markedOnes : t.graph.list}</h2>
      <TextField label={t.browse.contains} value={contains} onValue={setContains} />
      <ol class="graph-list">
        {passing.slice(0, LISTED).map((one) => (
          <li key={one.id}>
            <button
              type="button"
              class="as-link"
              dir="auto"
              aria-pressed={one.id === props.selected}
              onClick={() => props.onSelect(one.id)}
            >
              {one.title || t.memory.untitled}
            </button>{" "}
            <span class="faint">{t.graph.links(one.links)}</span>
          </li>
        ))}
      </ol>
      {passing.length > LISTED && <p class="faint">{t.graph.more(passing.length - LISTED)}</p>}
    </section>
  );
}

function byLinks(reply: GraphReply): { id: number; title: string; links: number }[] {
  const counts = new Uint32Array(reply.nodes.length);
  for (const [source, target] of reply.links) {
    counts[source] = (counts[source] ?? 0) + 1;
    counts[target] = (counts[target] ?? 0) + 1;
  }
  return reply.nodes
    .map(([id, title], place) => ({ id, title, links: counts[place] ?? 0 }))
    .sort((one, other) => other.links - one.links);
}

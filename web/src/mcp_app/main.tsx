// The MCP App: recalled memories with their relevance, and what is linked to one of them, inside an MCP client.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Meter } from "../components/bars";
import { date, excerpt, percent } from "../format";
import { useValue } from "../state";
import { t } from "./strings";
import { answer, callTool, canCall, connect, notify, toolCall } from "./host";
import { Neighbourhood, type Surroundings } from "./neighbourhood";
import "../style/base.css";
import "./style.css";

/** A memory as `recall` and `explore` tell it. */
interface Told {
  id: number;
  title?: string;
  text: string;
  tags?: string[];
  namespace?: string;
  when?: string;
  relevance?: number;
}

interface Reply {
  memories: Told[];
  links?: Surroundings["links"];
  note?: string;
}

const LONGEST = 400;
const DEPTH = 2;
const MOST = 40;

function App() {
  const { input, result, cancelled } = useValue(toolCall);
  useReportedSize();
  if (cancelled) return <p class="faint">{t.cancelled}</p>;
  if (!result) return <p class="faint">{t.loading}</p>;
  try {
    const reply = answer<Reply>(result);
    return reply.links ? <Explored reply={reply} /> : <Recalled query={String(input?.query ?? "")} reply={reply} />;
  } catch (error) {
    return <p class="bad">{(error as Error).message}</p>;
  }
}

function Recalled({ query, reply }: { query: string; reply: Reply }) {
  const [around, setAround] = useState<Surroundings>();
  const [problem, setProblem] = useState<string>();
  const mayCall = useValue(canCall);
  const show = async (id: number) => {
    setProblem(undefined);
    try {
      setAround({ centre: id, ...(await callTool<Omit<Surroundings, "centre">>("explore", { id: String(id), depth: DEPTH, limit: MOST })) });
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <>
      {query && (
        <h1 dir="auto">
          {t.recalled(reply.memories.length)} <q>{query}</q>
        </h1>
      )}
      {reply.note && <p class="faint">{reply.note}</p>}
      <ol class="hits">
        {reply.memories.map((one) => (
          <Hit key={one.id} memory={one} onLinks={mayCall ? () => void show(one.id) : undefined} isChosen={around?.centre === one.id} />
        ))}
      </ol>
      {problem && <p class="bad">{problem}</p>}
      {around && <Neighbourhood around={around} onCentre={(id) => void show(id)} />}
    </>
  );
}

function Hit({ memory, onLinks, isChosen }: { memory: Told; onLinks?: () => void; isChosen: boolean }) {
  const [whole, setWhole] = useState(false);
  const text = whole ? memory.text : excerpt(memory.text, LONGEST);
  return (
    <li class="hit">
      {memory.title && <h2 dir="auto">{memory.title}</h2>}
      <p class="text" dir="auto">
        {text}
      </p>
      <p class="facts faint">
        {memory.relevance !== undefined && (
          <span class="relevance">
            <Meter value={memory.relevance} label={t.relevance(percent(memory.relevance))} />
            <span aria-hidden="true">{percent(memory.relevance)}</span>
          </span>
        )}
        <span>#{memory.id}</span>
        {memory.when && <span>{date(memory.when)}</span>}
        {memory.namespace && <span>{memory.namespace}</span>}
        {memory.tags?.map((tag) => (
          <span key={tag} class="tag">
            {tag}
          </span>
        ))}
        {memory.text.length > LONGEST && (
          <button type="button" aria-expanded={whole} onClick={() => setWhole(!whole)}>
            {whole ? t.less : t.more}
          </button>
        )}
        {onLinks && (
          <button type="button" aria-pressed={isChosen} onClick={onLinks} aria-label={t.linksOf(memory.title ?? excerpt(memory.text, 60))}>
            {t.links}
          </button>
        )}
      </p>
    </li>
  );
}

/** The answer of `explore` itself. */
function Explored({ reply }: { reply: Reply }) {
  const first = reply.memories[0];
  const [around, setAround] = useState<Surroundings>();
  if (!first) return <p class="faint">{t.nothing}</p>;
  const shown = around ?? ({ centre: first.id, ...reply } as Surroundings);
  const centre = async (id: number) =>
    setAround({ centre: id, ...(await callTool<Omit<Surroundings, "centre">>("explore", { id: String(id), depth: DEPTH, limit: MOST })) });
  return <Neighbourhood around={shown} onCentre={canCall.get() ? (id) => void centre(id) : undefined} />;
}

/** Tells the host how much room the page needs, whenever that changes. */
function useReportedSize(): void {
  useEffect(() => {
    const root = document.documentElement;
    const watch = new ResizeObserver(() => notify("ui/notifications/size-changed", { width: root.scrollWidth, height: Math.ceil(document.body.getBoundingClientRect().height) }));
    watch.observe(document.body);
    return () => watch.disconnect();
  }, []);
}

const root = document.getElementById("app");
if (root) {
  render(<App />, root);
  connect().catch(() => {});
}

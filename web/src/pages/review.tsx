// What wants a decision: one item at a time, with one key each for yes and no.
import { useEffect, useId, useState } from "preact/hooks";
import { call, change } from "../api";
import { Button } from "../components/controls";
import { editHref, memoryHref, Tags, titleOf, When } from "../components/memory_parts";
import { EmptyState, Loaded } from "../components/notices";
import { say } from "../components/undo_bar";
import { useData, useMayChange } from "../data";
import { percent } from "../format";
import { useKeys } from "../keys";
import { go, href, usePlace } from "../router";
import { t } from "../strings";
import type { Memory } from "../types";

const KINDS = ["captured", "duplicates", "conflicts", "expiring", "poisoned", "unused", "links"] as const;
type Kind = (typeof KINDS)[number];

interface Item {
  memory: Memory;
  others?: Memory[];
  reason: string;
}

interface ReviewReply {
  kind: Kind;
  items: Item[];
  total: number;
  /** The share of the search that is done, while it is under way. */
  progress?: number;
  accept: string;
  reject: string;
}

const SHOWN = 20;
const LOOK_AGAIN_MS = 700;
/** So long a count waits for the list to be complete, before it tells what there is so far. */
const COUNT_SECONDS = 5;

export default function ReviewPage() {
  const { query } = usePlace();
  const asked = query.get("kind") as Kind;
  const kind = KINDS.includes(asked) ? asked : "captured";
  const found = useData(
    (signal) => call<ReviewReply>("review", { kind, namespace: "*", limit: SHOWN, wait_seconds: 0.2 }, signal),
    [kind],
  );
  const isGrowing = found.data?.kind === kind && found.data.progress !== undefined;
  useEffect(() => {
    if (!isGrowing || found.loading) return;
    const timer = setTimeout(found.reload, LOOK_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [isGrowing, found.loading]);
  const counts = useCounts(found.data);
  return (
    <div class="page">
      <div class="page-head">
        <h1>{t.nav.review}</h1>
      </div>
      <p class="faint">{t.review.about}</p>
      <nav class="tabs" aria-label={t.review.kinds}>
        {KINDS.map((one) => (
          <a key={one} href={href("review", { kind: one })} aria-current={one === kind ? "page" : undefined}>
            {t.review.names[one]} <span class="faint number">{counts[one] || ""}</span>
          </a>
        ))}
      </nav>
      <Loaded data={found}>
        {(reply) => (reply.kind === kind ? <Queue key={kind} reply={reply} busy={found.loading} /> : null)}
      </Loaded>
    </div>
  );
}

/** How much waits of each kind. The others are asked for after the first, so that a costly list is ready when it is wanted. */
function useCounts(shown: ReviewReply | undefined): Partial<Record<Kind, number>> {
  const [counts, setCounts] = useState<Partial<Record<Kind, number>>>({});
  const isReady = shown !== undefined;
  useEffect(() => {
    const abort = new AbortController();
    const count = async () => {
      for (const kind of isReady ? KINDS : []) {
        let isComplete = false;
        while (!isComplete) {
          const asked = { kind, namespace: "*", limit: 1, wait_seconds: COUNT_SECONDS };
          const { total, progress } = await call<ReviewReply>("review", asked, abort.signal);
          isComplete = progress === undefined;
          setCounts((before) => ({ ...before, [kind]: total }));
        }
      }
    };
    count().catch(() => {}); // a page that was left, or a daemon that is gone: the list itself says so
    return () => abort.abort();
  }, [isReady]);
  return shown ? { ...counts, [shown.kind]: shown.total } : counts;
}

function Queue({ reply, busy }: { reply: ReviewReply; busy: boolean }) {
  const may = useMayChange();
  const [at, setAt] = useState(0);
  const [deciding, setDeciding] = useState(false);
  const place = Math.min(at, reply.items.length - 1);
  const current = reply.items[place];
  const decide = async (decision: "accept" | "reject", item = current) => {
    if (!item || deciding || !may) return;
    setDeciding(true);
    const given = { kind: reply.kind, decision, id: item.memory.id, others: item.others?.map((one) => one.id) ?? [] };
    await change(`${reply[decision]}: ${titleOf(item.memory)}`, "review", given).catch((error: Error) => say(error.message));
    setDeciding(false);
  };
  useKeys({
    j: () => setAt(Math.min(place + 1, reply.items.length - 1)),
    k: () => setAt(Math.max(place - 1, 0)),
    a: () => void decide("accept"),
    r: () => void decide("reject"),
    e: () => current && go(editHref(current.memory.id)),
  });
  const searching = reply.progress !== undefined && <Searching share={reply.progress} />;
  if (!current) {
    return (
      <div class="stack">
        {searching}
        <EmptyState title={searching ? t.review.soFar : t.review.nothing} />
      </div>
    );
  }
  return (
    <div class="stack" aria-busy={busy && !searching}>
      {searching}
      <p class="faint">
        {t.review.waiting(reply.total)} <kbd>j</kbd> <kbd>k</kbd> {t.review.keys.move}
        {may && (
          <>
            , <kbd>a</kbd> {reply.accept}, <kbd>r</kbd> {reply.reject}, <kbd>e</kbd> {t.review.keys.edit}
          </>
        )}
      </p>
      <ol class="review" aria-label={t.review.names[reply.kind]}>
        {reply.items.map((item, index) => (
          <li
            key={`${item.memory.id}-${item.others?.map((one) => one.id).join("-") ?? ""}`}
            class="card padded stack"
            aria-current={index === place ? "true" : undefined}
            onFocusCapture={() => setAt(index)}
          >
            <p class="badge">{item.reason}</p>
            <Said memory={item.memory} />
            {item.others?.map((other) => <Said key={other.id} memory={other} />)}
            {may && (
              <div class="row">
                <Button look="primary" disabled={deciding} onClick={() => void decide("accept", item)}>
                  {reply.accept}
                </Button>
                <Button look="danger" disabled={deciding} onClick={() => void decide("reject", item)}>
                  {reply.reject}
                </Button>
              </div>
            )}
          </li>
        ))}
      </ol>
      {reply.total > reply.items.length && <p class="faint">{t.review.more(reply.total - reply.items.length)}</p>}
    </div>
  );
}

/** How far the search for items is. */
function Searching({ share }: { share: number }) {
  const id = useId();
  return (
    <div class="searching faint">
      <label for={id}>{t.review.searching}</label>
      <progress id={id} max={1} value={share} />
      <span class="number">{percent(share)}</span>
    </div>
  );
}

function Said({ memory }: { memory: Memory }) {
  return (
    <div>
      <a href={memoryHref(memory.id)} dir="auto">
        {titleOf(memory)}
      </a>
      <p class="text clipped" dir="auto">
        {memory.text}
      </p>
      <p class="faint">
        #{memory.id} · {memory.namespace} · {memory.kind} · <When iso={memory.created_at} /> <Tags tags={memory.tags} />
      </p>
    </div>
  );
}

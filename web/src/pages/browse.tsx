// All memories as a table or as cards, page by page, with actions on one or many.
import { useEffect, useRef, useState } from "preact/hooks";
import { call, change } from "../api";
import { Button, TextField } from "../components/controls";
import { Dialog } from "../components/dialog";
import { type FilterName, FilterBar, filterArguments, filterKey } from "../components/filter_bar";
import { type Action, ActionDialog, archive, remove, restore } from "../components/memory_actions";
import { changedFields, type FormValues, MemoryForm } from "../components/memory_form";
import { editHref, memoryHref, repeatsText, StateBadge, Tags, titleOf, When } from "../components/memory_parts";
import { EmptyState, Loaded } from "../components/notices";
import { Pager } from "../components/pager";
import { type Column, Table } from "../components/table";
import { say } from "../components/undo_bar";
import { useData, useMayChange } from "../data";
import { excerpt } from "../format";
import { useKeys } from "../keys";
import { go, setQuery, usePlace } from "../router";
import { t } from "../strings";
import type { ListReply, Memory } from "../types";

const FILTERS: FilterName[] = ["namespace", "kind", "tag", "tier", "state", "session", "actor", "since", "until"];
const LIMIT = 50;
/** The orders that begin with the largest or newest, unless reversed. */
const FALLING = new Set(["newest", "updated", "used", "use", "priority", "confidence"]);

const COLUMNS: Column<Memory>[] = [
  { key: "title", title: t.memory.title, order: "title", cell: (memory) => <TitleCell memory={memory} /> },
  { key: "kind", title: t.memory.kind, order: "kind", optional: true, cell: (memory) => memory.kind },
  { key: "namespace", title: t.memory.namespace, order: "namespace", optional: true, cell: (memory) => memory.namespace },
  { key: "tags", title: t.memory.tags, optional: true, cell: (memory) => <div class="row tight"><Tags tags={memory.tags} /></div> },
  { key: "priority", title: t.memory.priority, order: "priority", numeric: true, optional: true, cell: (memory) => memory.priority },
  { key: "use", title: t.memory.used, order: "use", numeric: true, optional: true, cell: (memory) => memory.access_count },
  { key: "updated", title: t.memory.updated, order: "updated", cell: (memory) => <When iso={memory.updated_at} /> },
];

function TitleCell({ memory }: { memory: Memory }) {
  const repeats = repeatsText(memory);
  return (
    <div class="title-cell" dir="auto">
      <a href={memoryHref(memory.id)}>{repeats ? excerpt(memory.text, 160) : titleOf(memory)}</a> <StateBadge memory={memory} />
      {!repeats && <p class="faint">{excerpt(memory.text, 160)}</p>}
    </div>
  );
}

export default function BrowsePage() {
  const { query } = usePlace();
  const order = query.get("order") ?? "newest";
  const reverse = query.has("reverse");
  const offset = Number(query.get("offset")) || 0;
  const contains = query.get("text") ?? "";
  const cards = query.get("view") === "cards";
  const may = useMayChange();
  const [adding, setAdding] = useState(false);
  const found = useData(
    (signal) => {
      const page = { order, reverse, offset, limit: LIMIT, brief: true, text: contains || undefined };
      return call<ListReply>("list", { ...filterArguments(query), ...page }, signal);
    },
    [filterKey(query), order, reverse, offset, contains],
  );
  return (
    <div class="page">
      <div class="page-head">
        <h1>{t.nav.browse}</h1>
        <Contains value={contains} />
        <Button icon="table" label={t.browse.table} aria-pressed={!cards} onClick={() => setQuery({ view: null })} />
        <Button icon="cards" label={t.browse.cards} aria-pressed={cards} onClick={() => setQuery({ view: "cards" })} />
        {may && <Button onClick={() => setAdding(true)}>{t.browse.add}</Button>}
      </div>
      <FilterBar names={FILTERS} />
      <Loaded data={found}>
        {(reply) =>
          reply.memories.length ? (
            <Listing reply={reply} order={order} reverse={reverse} offset={offset} cards={cards} busy={found.loading} />
          ) : (
            <EmptyState title={t.browse.nothing}>
              <p>{t.browse.nothingHint}</p>
            </EmptyState>
          )
        }
      </Loaded>
      {adding && <AddDialog onClose={() => setAdding(false)} />}
    </div>
  );
}

function Contains({ value }: { value: string }) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  return (
    <form class="contains" onSubmit={(event) => (event.preventDefault(), setQuery({ text: typed.trim(), offset: null }))}>
      <TextField label={t.browse.contains} value={typed} onValue={setTyped} autocomplete="off" />
    </form>
  );
}

interface ListingProps {
  reply: ListReply;
  order: string;
  reverse: boolean;
  offset: number;
  cards: boolean;
  busy: boolean;
}

function Listing({ reply, order, reverse, offset, cards, busy }: ListingProps) {
  const may = useMayChange();
  const [current, setCurrent] = useState(-1);
  const [selected, setSelected] = useState<ReadonlyMap<number | string, Memory>>(new Map());
  const [action, setAction] = useState<Action>();
  const rows = reply.memories;
  const at = rows[current];
  const chosen = selected.size ? [...selected.values()] : at ? [at] : [];
  const clear = () => setSelected(new Map());
  const choose = (memory: Memory, on: boolean) => {
    const next = new Map(selected);
    if (on) next.set(memory.id, memory);
    else next.delete(memory.id);
    setSelected(next);
  };
  const run = (work: (memories: Memory[]) => Promise<unknown>) => {
    if (chosen.length) work(chosen).then(clear, (error: Error) => say(error.message));
  };
  const sort = (by: string) => setQuery({ order: by, reverse: by === order && !reverse, offset: null });
  useEffect(() => setCurrent((now) => Math.min(now, rows.length - 1)), [rows.length]);
  useKeys({
    j: () => setCurrent(Math.min(rows.length - 1, current + 1)),
    k: () => setCurrent(Math.max(0, current - 1)),
    Enter: () => at && go(memoryHref(at.id)),
    x: () => at && may && choose(at, !selected.has(at.id)),
    e: () => at && may && go(editHref(at.id)),
    "#": () => may && run(remove),
  });
  return (
    <div class="stack" aria-busy={busy}>
      {may && selected.size > 0 && (
        <div class="bulk row" role="toolbar" aria-label={t.browse.bulk}>
          <strong>{t.counts.selected(selected.size)}</strong>
          <Button onClick={() => setAction("tag")}>{t.acts.tag.button}</Button>
          <Button onClick={() => setAction("move")}>{t.acts.move.button}</Button>
          <Button disabled={selected.size < 2} onClick={() => setAction("link")}>
            {t.acts.link.button}
          </Button>
          <Button disabled={selected.size < 2} onClick={() => setAction("merge")}>
            {t.acts.merge.button}
          </Button>
          <Button onClick={() => run(archive)}>{t.actions.archive}</Button>
          <Button look="danger" onClick={() => run(remove)}>
            {t.actions.remove}
          </Button>
          <Button onClick={() => run(restore)} disabled={chosen.every((memory) => !memory.state || memory.state === "living")}>
            {t.actions.restore}
          </Button>
          <Button look="quiet" onClick={clear}>
            {t.actions.clear}
          </Button>
        </div>
      )}
      {cards ? (
        <Cards
          rows={rows}
          current={current}
          onCurrent={setCurrent}
          selected={selected}
          onSelect={may ? choose : undefined}
        />
      ) : (
        <Table
          label={t.nav.browse}
          columns={COLUMNS}
          rows={rows}
          id={(memory) => memory.id}
          name={titleOf}
          current={current}
          onCurrent={setCurrent}
          selected={new Set(selected.keys())}
          onSelect={may ? choose : undefined}
          onSelectAll={(on) => setSelected(on ? new Map(rows.map((memory) => [memory.id, memory])) : new Map())}
          sort={{ order, descending: FALLING.has(order) !== reverse }}
          onSort={sort}
        />
      )}
      <Pager
        offset={offset}
        limit={LIMIT}
        shown={rows.length}
        total={reply.total}
        onOffset={(next) => (clear(), setQuery({ offset: next || null }, true))}
      />
      {action && (
        <ActionDialog
          action={action}
          memories={chosen}
          onClose={() => setAction(undefined)}
          onDone={() => (setAction(undefined), clear())}
        />
      )}
    </div>
  );
}

interface CardsProps {
  rows: Memory[];
  current: number;
  onCurrent: (index: number) => void;
  selected: ReadonlyMap<number | string, Memory>;
  onSelect?: (memory: Memory, on: boolean) => void;
}

function Cards({ rows, current, onCurrent, selected, onSelect }: CardsProps) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    if (current >= 0) list.current?.children[current]?.scrollIntoView({ block: "nearest" });
  }, [current]);
  return (
    <ul class="cards" ref={list}>
      {rows.map((memory, index) => (
        <li
          key={memory.id}
          class={index === current ? "card memory-card current" : "card memory-card"}
          aria-current={index === current ? "true" : undefined}
          onClick={() => onCurrent(index)}
        >
          <div class="card-head">
            <h2 dir="auto">
              <a href={memoryHref(memory.id)}>{repeatsText(memory) ? excerpt(memory.text, 220) : titleOf(memory)}</a>
            </h2>
            {onSelect && (
              // As in the table: rendering between a click and the change it makes would take the change back.
              <span onClick={(event) => event.stopPropagation()}>
                <input
                  type="checkbox"
                  aria-label={t.table.select(titleOf(memory))}
                  checked={selected.has(memory.id)}
                  onChange={(event) => onSelect(memory, event.currentTarget.checked)}
                />
              </span>
            )}
          </div>
          {!repeatsText(memory) && (
            <p class="text" dir="auto">
              {excerpt(memory.text, 220)}
            </p>
          )}
          <div class="row tight">
            <span class="badge">{memory.namespace}</span>
            <span class="badge">{memory.kind}</span>
            <StateBadge memory={memory} />
            <Tags tags={memory.tags} />
          </div>
          <p class="faint">
            <When iso={memory.updated_at} /> · {t.memory.uses(memory.access_count)}
          </p>
        </li>
      ))}
    </ul>
  );
}

function AddDialog({ onClose }: { onClose: () => void }) {
  const save = async (values: FormValues, before: FormValues) => {
    await change(t.did.added, "remember", changedFields(before, values));
    onClose();
  };
  return (
    <Dialog title={t.browse.add} onClose={onClose} wide>
      <MemoryForm onSave={save} onCancel={onClose} />
    </Dialog>
  );
}

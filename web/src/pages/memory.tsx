// One memory: its text, fields and links, its changes and versions, and everything that can be done to it.
import { useState } from "preact/hooks";
import { call, change } from "../api";
import { Button } from "../components/controls";
import { FieldDiffs, TextDiff } from "../components/diff_view";
import { type Action, ActionDialog, archive, MemoryLink, remove, restore } from "../components/memory_actions";
import { changedFields, type FormValues, MemoryForm, valuesOf } from "../components/memory_form";
import { StateBadge, Tags, titleOf, When } from "../components/memory_parts";
import { EmptyState, Loaded } from "../components/notices";
import { say } from "../components/undo_bar";
import { useData, useMayChange } from "../data";
import { moment, percent } from "../format";
import { useKeys } from "../keys";
import { AS_OF, go, href, setQuery, usePlace } from "../router";
import { t } from "../strings";
import type { Brief, HistoryReply, Link, OpenedMemory, OpenReply } from "../types";

export default function MemoryPage({ path }: { path: string[] }) {
  const reference = path[0] ?? "";
  const found = useData(
    async (signal) => (await call<OpenReply>("open", { ids: [reference], namespace: "*" }, signal)).memories[0],
    [reference],
  );
  return (
    <div class="page memory">
      <Loaded data={found}>{(memory) => (memory ? <Opened memory={memory} /> : <EmptyState title={t.one.missing} />)}</Loaded>
    </div>
  );
}

const TABS = ["details", "changes", "versions"] as const;

function Opened({ memory }: { memory: OpenedMemory }) {
  const { query } = usePlace();
  const may = useMayChange();
  const editing = may && query.has("edit");
  const tab = TABS.find((one) => one === query.get("tab")) ?? "details";
  const [action, setAction] = useState<Action>();
  const isLiving = !memory.state || memory.state === "living";
  const run = (work: Promise<unknown>) => void work.catch((error: Error) => say(error.message));
  useKeys({
    e: () => may && isLiving && setQuery({ edit: 1 }),
    "#": () => may && isLiving && run(remove([memory])),
  });
  return (
    <>
      <div class="page-head">
        <h1 dir="auto">{titleOf(memory)}</h1>
        {may && isLiving && !editing && (
          <div class="row">
            <Button look="primary" onClick={() => setQuery({ edit: 1 })}>
              {t.actions.edit}
            </Button>
            {(["link", "merge", "split"] as const).map((one) => (
              <Button key={one} onClick={() => setAction(one)}>
                {t.acts[one].button}
              </Button>
            ))}
            <Button onClick={() => run(archive([memory]))}>{t.actions.archive}</Button>
            <Button look="danger" onClick={() => run(remove([memory]))}>
              {t.actions.remove}
            </Button>
          </div>
        )}
        {may && !isLiving && (
          <Button look="primary" onClick={() => run(restore([memory]))}>
            {t.actions.restore}
          </Button>
        )}
      </div>
      {!isLiving && (
        <div class="notice warn">
          <span>
            <StateBadge memory={memory} /> {memory.state_reason}
          </span>
        </div>
      )}
      {editing ? (
        <Edit memory={memory} />
      ) : (
        <>
          <nav class="tabs" aria-label={t.one.tabs}>
            {TABS.map((one) => (
              <a
                key={one}
                href={href(`memory/${memory.id}`, { tab: one === "details" ? null : one })}
                aria-current={one === tab ? "page" : undefined}
              >
                {t.one[one]}
              </a>
            ))}
          </nav>
          {tab === "details" && <Details memory={memory} />}
          {tab === "changes" && <Changes memory={memory} />}
          {tab === "versions" && <Versions memory={memory} />}
        </>
      )}
      {action && (
        <ActionDialog
          action={action}
          memories={[memory]}
          onClose={() => setAction(undefined)}
          onDone={() => setAction(undefined)}
        />
      )}
    </>
  );
}

function Edit({ memory }: { memory: OpenedMemory }) {
  const [base, setBase] = useState(memory);
  const [newer, setNewer] = useState<OpenedMemory>();
  const close = () => setQuery({ edit: null });
  const save = async (values: FormValues, before: FormValues) => {
    const id = String(memory.id);
    const now = (await call<OpenReply>("open", { ids: [id] })).memories[0];
    if (now && JSON.stringify(valuesOf(now)) !== JSON.stringify(valuesOf(base))) {
      setNewer(now);
      setBase(now);
      return;
    }
    const { supersede } = values;
    const fields = changedFields(before, values);
    if (!Object.keys(fields).length) return close();
    const given = supersede ? { text: values.text, supersede } : fields;
    const reply = await change<{ memory: { id: number } }>(t.did.edited(titleOf(memory)), "revise", { id, ...given });
    if (reply.memory.id !== memory.id) go(href(`memory/${reply.memory.id}`));
    else close();
  };
  return (
    <section class="card padded" aria-label={t.one.form}>
      {newer && (
        <div class="notice warn stack" role="alert">
          <p>{t.one.changedMeanwhile}</p>
          <TextDiff before={memory.text} after={newer.text} />
        </div>
      )}
      <MemoryForm memory={memory} onSave={save} onCancel={close} />
    </section>
  );
}

function Details({ memory }: { memory: OpenedMemory }) {
  return (
    <div class="columns">
      <div class="stack">
        <div class="card padded">
          <div class="text body" dir="auto">
            {memory.text}
          </div>
        </div>
        <Links memory={memory} />
      </div>
      <aside class="card padded" aria-label={t.one.fields}>
        <Facts memory={memory} />
      </aside>
    </div>
  );
}

function Facts({ memory }: { memory: OpenedMemory }) {
  const facts: [string, preact.ComponentChildren][] = [
    [t.one.number, `#${memory.id}`],
    [t.memory.namespace, <a href={href("browse", { namespace: memory.namespace })}>{memory.namespace}</a>],
    [t.memory.kind, <a href={href("browse", { kind: memory.kind })}>{memory.kind}</a>],
    [t.memory.tags, memory.tags && <span class="row tight"><Tags tags={memory.tags} /></span>],
    [t.memory.summary, memory.summary],
    [t.memory.tier, memory.tier],
    [t.memory.priority, memory.priority],
    [t.memory.confidence, percent(memory.confidence)],
    [t.memory.source, memory.source],
    [t.memory.session, memory.session && <a href={href(`sessions/${memory.session}`)}>#{memory.session}</a>],
    [t.memory.occurred, memory.occurred_at && moment(memory.occurred_at)],
    [t.memory.created, moment(memory.created_at)],
    [t.memory.updated, moment(memory.updated_at)],
    [t.memory.used, `${t.memory.uses(memory.access_count)}${memory.last_accessed_at ? `, ${moment(memory.last_accessed_at)}` : ""}`],
    [t.memory.expires, memory.expires_at && moment(memory.expires_at)],
    [t.one.metadata, memory.metadata && <code class="text">{JSON.stringify(memory.metadata, null, 1)}</code>],
    [t.one.uid, <code>{memory.uid}</code>],
  ];
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== null && value !== "")
        .map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name} value`}>{value}</dd>])}
    </dl>
  );
}

function Links({ memory }: { memory: OpenedMemory }) {
  const may = useMayChange();
  const links = memory.links ?? [];
  const others = [...new Set(links.map((link) => otherEnd(link, memory.id)))];
  const found = useData(
    async (signal) =>
      others.length ? (await call<OpenReply>("open", { ids: others.map(String) }, signal)).memories : [],
    [others.join()],
  );
  if (!links.length) return null;
  const titles = new Map((found.data ?? []).map((one) => [one.id, one as Brief]));
  const end = (link: Link) =>
    change(t.did.unlinked, "link", { source: String(link.source), target: String(link.target), type: link.type, end: true }).catch(
      (error: Error) => say(error.message),
    );
  return (
    <section class="card padded stack">
      <h2>{t.one.links}</h2>
      <ul class="links">
        {links.map((link) => {
          const other = otherEnd(link, memory.id);
          return (
            <li key={link.id} class="row">
              <span class="badge">{link.source === memory.id ? `${link.type} →` : `← ${link.type}`}</span>
              <MemoryLink memory={titles.get(other) ?? { id: other, title: `#${other}` }} />
              {link.reason && <span class="faint">{link.reason}</span>}
              {link.ended_at && <span class="badge warn">{t.one.linkEnded(moment(link.ended_at))}</span>}
              {may && !link.ended_at && (
                <Button look="quiet" icon="close" label={t.one.endLink} onClick={() => void end(link)} />
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function otherEnd(link: Link, id: number): number {
  return link.source === id ? link.target : link.source;
}

function Changes({ memory }: { memory: OpenedMemory }) {
  const until = usePlace().query.get(AS_OF) ?? undefined;
  const found = useData(
    (signal) => call<HistoryReply>("history", { id: String(memory.id), until, limit: 100 }, signal),
    [memory.id],
  );
  return (
    <Loaded data={found}>
      {(reply) => (
        <ol class="timeline">
          {(reply.changes ?? []).map((one) => (
            <li key={one.change} class="card padded stack">
              <p>
                <strong>{one.operation}</strong> · {one.actor} · <When iso={one.at} /> <span class="faint">#{one.change}</span>
              </p>
              <FieldDiffs before={one.before} after={one.after} />
            </li>
          ))}
        </ol>
      )}
    </Loaded>
  );
}

function Versions({ memory }: { memory: OpenedMemory }) {
  const until = usePlace().query.get(AS_OF) ?? undefined;
  const found = useData(
    (signal) => call<HistoryReply>("history", { id: String(memory.id), view: "versions", until }, signal),
    [memory.id],
  );
  return (
    <Loaded data={found}>
      {(reply) => {
        const versions = reply.versions ?? [];
        return (
          <ol class="timeline">
            {versions.map((one, index) => (
              <li key={one.id} class="card padded stack">
                <p>
                  <MemoryLink memory={one} /> <StateBadge memory={one} /> <span class="faint">{moment(one.created_at)}</span>
                </p>
                {index === 0 ? <p class="text">{one.text}</p> : <TextDiff before={versions[index - 1]?.text ?? ""} after={one.text} />}
              </li>
            ))}
          </ol>
        );
      }}
    </Loaded>
  );
}

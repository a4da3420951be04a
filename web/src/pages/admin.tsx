// For the owner of a store: settings, clients, tokens, namespaces, import and export, backups, checks.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { call, change, login, refresh, session } from "../api";
import { Button, CheckField, Field, SelectField, TextField } from "../components/controls";
import { Dialog } from "../components/dialog";
import { FieldDiffs } from "../components/diff_view";
import { memoryHref } from "../components/memory_parts";
import { EmptyState, Loaded, Problem } from "../components/notices";
import { type Column, Table } from "../components/table";
import { say } from "../components/undo_bar";
import { useData } from "../data";
import { bytes, listed, moment } from "../format";
import { href, usePlace } from "../router";
import { useValue } from "../state";
import { t } from "../strings";
import type {
  Backup,
  BackupsReply,
  ChecksReply,
  Client,
  ClientsReply,
  ImportReply,
  Setting,
  SettingsReply,
  Standard,
  StandardsReply,
  StatsReply,
  Token,
  TokensReply,
} from "../types";

const TABS = ["settings", "clients", "tokens", "namespaces", "transfer", "backups", "checks"] as const;
type Tab = (typeof TABS)[number];

const CONTENTS: Record<Tab, () => ComponentChildren> = {
  settings: () => <SettingsTab />,
  clients: () => <ClientsTab />,
  tokens: () => <TokensTab />,
  namespaces: () => <NamespacesTab />,
  transfer: () => <TransferTab />,
  backups: () => <BackupsTab />,
  checks: () => <ChecksTab />,
};

export default function AdminPage({ path }: { path: string[] }) {
  usePlace();
  const tab = TABS.find((one) => one === path[0]) ?? "settings";
  const now = useValue(session);
  if (now.state !== "open" || !now.who.is_admin) return <EmptyState title={t.admin.denied} />;
  return (
    <div class="page">
      <div class="page-head">
        <h1>{t.nav.admin}</h1>
        <span class="faint">Mnemic {now.who.version}</span>
      </div>
      <nav class="tabs" aria-label={t.admin.tabs}>
        {TABS.map((one) => (
          <a key={one} href={href(`admin/${one}`)} aria-current={one === tab ? "page" : undefined}>
            {t.admin[one]}
          </a>
        ))}
      </nav>
      <div key={tab} class="stack">
        {CONTENTS[tab]()}
      </div>
    </div>
  );
}

/** Runs *work*; what goes wrong is shown, not lost. */
function useAction(): [Error | undefined, (work: () => Promise<unknown>) => void] {
  const [problem, setProblem] = useState<Error>();
  return [
    problem,
    (work) => {
      setProblem(undefined);
      work().catch(setProblem);
    },
  ];
}

function SettingsTab() {
  const found = useData((signal) => call<SettingsReply>("settings", {}, signal), []);
  const [edited, setEdited] = useState<Setting>();
  const columns: Column<Setting>[] = [
    {
      key: "title",
      title: t.admin.setting,
      cell: (one) => (
        <div class="title-cell">
          <code>{one.key}</code>
          <p class="faint">{one.help}</p>
        </div>
      ),
    },
    { key: "value", title: t.admin.value, cell: (one) => <code>{String(one.value ?? "")}</code> },
    { key: "source", title: t.admin.source, optional: true, cell: (one) => <span class="faint">{one.source}</span> },
    {
      key: "act",
      title: "",
      cell: (one) => <Button onClick={() => setEdited(one)} label={t.admin.setLabel(one.key)}>{t.admin.set}</Button>,
    },
  ];
  return (
    <Loaded data={found}>
      {(reply) => (
        <>
          <p class="faint">{t.admin.settingsFile(reply.file)}</p>
          {edited && <SettingForm key={edited.key} setting={edited} onClose={() => setEdited(undefined)} />}
          <Table label={t.admin.settings} columns={columns} rows={reply.settings} id={(one) => one.key} />
        </>
      )}
    </Loaded>
  );
}

function SettingForm({ setting, onClose }: { setting: Setting; onClose: () => void }) {
  const [value, setValue] = useState(setting.is_secret ? "" : String(setting.value ?? ""));
  const [problem, run] = useAction();
  const put = (given: string | undefined) =>
    run(async () => {
      await call("settings", { key: setting.key, value: given });
      say(t.admin.written);
      refresh();
      onClose();
    });
  return (
    <form class="card padded form" onSubmit={(event) => (event.preventDefault(), put(value))}>
      {problem && <Problem error={problem} />}
      {setting.choices ? (
        <SelectField label={setting.key} hint={setting.help} value={value} onValue={setValue} options={setting.choices.map((one) => [one, one] as const)} />
      ) : (
        <TextField label={setting.key} hint={setting.help} value={value} onValue={setValue} autocomplete="off" />
      )}
      <div class="form-end">
        <Button onClick={onClose}>{t.actions.cancel}</Button>
        <Button onClick={() => put(undefined)}>{t.admin.useDefault}</Button>
        <Button type="submit" look="primary">
          {t.admin.write}
        </Button>
      </div>
    </form>
  );
}

function ClientsTab() {
  const found = useData((signal) => call<ClientsReply>("clients", {}, signal), []);
  const [planned, setPlanned] = useState<{ client: Client; uninstall: boolean; difference: string }>();
  const [problem, run] = useAction();
  const plan = (client: Client, uninstall: boolean) =>
    run(async () => {
      const reply = await call<ClientsReply>("clients", { client: client.name, uninstall });
      setPlanned({ client, uninstall, difference: reply.difference ?? "" });
    });
  const apply = () =>
    run(async () => {
      if (!planned) return;
      const reply = await call<ClientsReply>("clients", { client: planned.client.name, uninstall: planned.uninstall, apply: true });
      say(reply.note ?? t.admin.clientDone(planned.client.title));
      setPlanned(undefined);
      refresh();
    });
  const columns: Column<Client>[] = [
    { key: "title", title: t.admin.client, cell: (one) => one.title },
    {
      key: "state",
      title: t.memory.state,
      cell: (one) =>
        one.is_installed ? (
          <span class="badge good">{t.admin.installed}</span>
        ) : one.is_found ? (
          <span class="badge">{t.admin.found}</span>
        ) : (
          <span class="faint">–</span>
        ),
    },
    {
      key: "act",
      title: "",
      cell: (one) => (
        <Button onClick={() => plan(one, one.is_installed)} label={one.is_installed ? t.admin.leaveLabel(one.title) : t.admin.installLabel(one.title)}>
          {one.is_installed ? t.admin.leave : t.admin.install}
        </Button>
      ),
    },
  ];
  return (
    <Loaded data={found}>
      {(reply) => (
        <>
          {problem && <Problem error={problem} />}
          {planned && (
            <section class="card padded stack" aria-label={t.admin.planned}>
              <h2>{planned.client.title}</h2>
              <p>{planned.difference ? t.admin.planned : t.admin.nothingToChange}</p>
              {planned.difference && <pre class="code">{planned.difference}</pre>}
              <div class="form-end">
                <Button onClick={() => setPlanned(undefined)}>{t.actions.cancel}</Button>
                <Button look="primary" disabled={!planned.difference} onClick={apply}>
                  {t.actions.apply}
                </Button>
              </div>
            </section>
          )}
          <Table label={t.admin.clients} columns={columns} rows={reply.clients} id={(one) => one.name} />
        </>
      )}
    </Loaded>
  );
}

function TokensTab() {
  const found = useData((signal) => call<TokensReply>("tokens", {}, signal), []);
  const now = useValue(session);
  const isFirst = now.state === "open" && !now.who.needs_token;
  const [name, setName] = useState("");
  const [namespaces, setNamespaces] = useState("");
  const [canWrite, setCanWrite] = useState(true);
  const [expires, setExpires] = useState("");
  const [secret, setSecret] = useState<string>();
  const [problem, run] = useAction();
  const create = () =>
    run(async () => {
      const limits = isFirst ? {} : { namespaces: namespaces.trim() ? listed(namespaces) : undefined, can_write: canWrite };
      const reply = await call<TokensReply>("tokens", { action: "create", name, expires: expires || undefined, ...limits });
      // From the first token on everybody needs one, this browser too.
      if (isFirst && reply.secret) await login(reply.secret);
      setSecret(reply.secret);
      setName("");
      refresh();
    });
  const act = (action: "rotate" | "revoke", one: Token) =>
    run(async () => {
      const reply = await call<TokensReply>("tokens", { action, name: one.name });
      setSecret(reply.secret);
      refresh();
    });
  const columns: Column<Token>[] = [
    { key: "title", title: t.admin.name, cell: (one) => one.name },
    { key: "namespace", title: t.memory.namespace, cell: (one) => one.namespaces?.join(", ") ?? t.admin.all },
    { key: "rights", title: t.admin.rights, cell: (one) => (one.can_write ? t.admin.readWrite : t.login.readOnly) },
    { key: "expires", title: t.memory.expires, optional: true, cell: (one) => (one.expires_at ? moment(one.expires_at) : t.admin.never) },
    { key: "used", title: t.memory.used, optional: true, cell: (one) => (one.used_at ? moment(one.used_at) : t.admin.never) },
    {
      key: "act",
      title: "",
      cell: (one) => (
        <div class="row">
          <Button onClick={() => act("rotate", one)}>{t.admin.rotate}</Button>
          <Button look="danger" onClick={() => act("revoke", one)}>
            {t.admin.revoke}
          </Button>
        </div>
      ),
    },
  ];
  return (
    <>
      {problem && <Problem error={problem} />}
      {secret && (
        <div class="notice" role="status">
          <p>
            {t.admin.secret} <code class="secret">{secret}</code>
          </p>
        </div>
      )}
      <form class="card padded form" onSubmit={(event) => (event.preventDefault(), create())}>
        <h2>{t.admin.newToken}</h2>
        {isFirst && <p class="hint">{t.admin.firstToken}</p>}
        <div class="form-row">
          <TextField label={t.admin.name} value={name} onValue={setName} required autocomplete="off" />
          {!isFirst && (
            <TextField label={t.memory.namespace} hint={t.admin.namespacesHint} value={namespaces} onValue={setNamespaces} autocomplete="off" />
          )}
          <TextField label={t.memory.expires} placeholder="2027-01-31" value={expires} onValue={setExpires} autocomplete="off" />
        </div>
        {!isFirst && <CheckField label={t.admin.mayWrite} checked={canWrite} onChecked={setCanWrite} />}
        <div class="form-end">
          <Button type="submit" look="primary">
            {t.admin.create}
          </Button>
        </div>
      </form>
      <Loaded data={found}>
        {(reply) =>
          reply.tokens.length ? (
            <Table label={t.admin.tokens} columns={columns} rows={reply.tokens} id={(one) => one.name} />
          ) : (
            <EmptyState title={t.admin.noTokens}>
              <p>{t.admin.noTokensHint}</p>
            </EmptyState>
          )
        }
      </Loaded>
    </>
  );
}

function NamespacesTab() {
  const stats = useData((signal) => call<StatsReply>("stats", {}, signal), []);
  const found = useData((signal) => call<StandardsReply>("standard_memories", {}, signal), []);
  const [namespace, setNamespace] = useState("");
  const [memory, setMemory] = useState("");
  const [parent, setParent] = useState("");
  const [problem, run] = useAction();
  const put = () =>
    run(() => change(t.admin.standardSet, "standard_memories", { namespace, memory: Number(memory), parent: parent || undefined }));
  const clear = (one: string) => run(() => change(t.admin.standardCleared, "standard_memories", { namespace: one, clear: true }));
  const standards = new Map((found.data?.standards ?? []).map((one) => [one.namespace, one]));
  type Row = { namespace: string; count: number; standard?: Standard };
  const columns: Column<Row>[] = [
    { key: "title", title: t.memory.namespace, cell: (one) => <a href={href("browse", { namespace: one.namespace })}>{one.namespace}</a> },
    { key: "count", title: t.admin.count, numeric: true, cell: (one) => one.count.toLocaleString() },
    {
      key: "standard",
      title: t.admin.standard,
      cell: (one) =>
        one.standard?.memory ? (
          <span class="row">
            <a href={memoryHref(one.standard.memory.id)}>{one.standard.memory.title}</a>
            {one.standard.parent && <span class="faint">← {one.standard.parent}</span>}
            <Button look="quiet" onClick={() => clear(one.namespace)}>
              {t.actions.clear}
            </Button>
          </span>
        ) : (
          <span class="faint">–</span>
        ),
    },
  ];
  return (
    <>
      {problem && <Problem error={problem} />}
      <form class="card padded form" onSubmit={(event) => (event.preventDefault(), put())}>
        <h2>{t.admin.setStandard}</h2>
        <p class="hint">{t.admin.standardHint}</p>
        <div class="form-row">
          <TextField label={t.memory.namespace} value={namespace} onValue={setNamespace} required autocomplete="off" />
          <TextField label={t.admin.standardMemory} type="number" min={1} value={memory} onValue={setMemory} required />
          <TextField label={t.admin.parent} value={parent} onValue={setParent} autocomplete="off" />
        </div>
        <div class="form-end">
          <Button type="submit">{t.admin.set}</Button>
        </div>
      </form>
      <Loaded data={stats}>
        {(reply) => {
          const counts = new Map(reply.by_namespace.map((one) => [one.namespace, one.count]));
          const names = [...new Set([...counts.keys(), ...standards.keys()])];
          const rows = names.map((name) => ({ namespace: name, count: counts.get(name) ?? 0, standard: standards.get(name) }));
          return <Table label={t.admin.namespaces} columns={columns} rows={rows} id={(one) => one.namespace} />;
        }}
      </Loaded>
    </>
  );
}

const LARGEST_FILE = 1_900_000;

function TransferTab() {
  const [content, setContent] = useState<string>();
  const [preview, setPreview] = useState<ImportReply>();
  const [problem, run] = useAction();
  const read = (file: File | undefined) =>
    run(async () => {
      setPreview(undefined);
      if (!file) return;
      if (file.size > LARGEST_FILE) throw new Error(t.admin.tooLarge);
      const text = await file.text();
      setContent(text);
      setPreview(await call<ImportReply>("import_content", { content: text }));
    });
  const apply = () =>
    run(async () => {
      const reply = await change<ImportReply>(t.admin.importDone, "import_content", { content, apply: true });
      say(t.admin.importResult(reply.imported, reply.known));
      setPreview(undefined);
    });
  return (
    <>
      {problem && <Problem error={problem} />}
      <section class="card padded stack">
        <h2>{t.admin.import}</h2>
        <Field label={t.admin.file} hint={t.admin.fileHint}>
          {(id, notes) => (
            <input
              id={id}
              aria-describedby={notes}
              type="file"
              accept=".json,.jsonl,.ndjson"
              onChange={(event) => read(event.currentTarget.files?.[0])}
            />
          )}
        </Field>
        {preview && (
          <div class="stack">
            <ImportCounts preview={preview} />
            <ul class="plain-list">
              {preview.titles.map((title, index) => (
                <li key={index} dir="auto">
                  {title}
                </li>
              ))}
            </ul>
            {!!preview.changes?.length && <ImportChanges changes={preview.changes} />}
            {preview.conflicts.length > 0 && <ImportConflicts conflicts={preview.conflicts} />}
            {preview.errors.length > 0 && (
              <div class="notice bad">
                <ul>
                  {preview.errors.map((error, index) => (
                    <li key={index}>{error}</li>
                  ))}
                </ul>
              </div>
            )}
            <div class="row">
              <Button look="primary" disabled={!preview.imported && !preview.links} onClick={apply}>
                {t.admin.import}
              </Button>
            </div>
          </div>
        )}
      </section>
      <section class="card padded stack">
        <h2>{t.admin.export}</h2>
        <p class="faint">{t.admin.exportHint}</p>
        <div class="row">
          <a class="button" href="/api/v1/export.jsonl" download="mnemic.jsonl">
            {t.admin.download}
          </a>
        </div>
      </section>
    </>
  );
}

/** How much of a file is new, changes something, or is known. */
function ImportCounts({ preview }: { preview: ImportReply }) {
  const counts: [string, number][] = [
    [t.admin.importNew, preview.new],
    [t.admin.importChanged, preview.changed],
    [t.admin.importKnown, preview.known],
    [t.admin.importLinks, preview.links],
    [t.admin.importConflicts, preview.conflicts.length],
  ];
  return (
    <>
      <dl class="counts">
        {counts.map(([name, count]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="number">{count.toLocaleString()}</dd>
          </div>
        ))}
      </dl>
      {!preview.is_compared && <p class="faint">{t.admin.notCompared}</p>}
      {!preview.imported && !preview.links && <p class="faint">{t.admin.nothingNew}</p>}
    </>
  );
}

/** What known memories would say after the import. */
function ImportChanges({ changes }: { changes: NonNullable<ImportReply["changes"]> }) {
  return (
    <section class="stack" aria-label={t.admin.importChanged}>
      <h3>{t.admin.importChanged}</h3>
      <ul class="timeline">
        {changes.map((one) => (
          <li key={one.change} class="card padded stack">
            <strong dir="auto">{one.title}</strong>
            <FieldDiffs before={one.before} after={one.after} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function ImportConflicts({ conflicts }: { conflicts: ImportReply["conflicts"] }) {
  type Row = ImportReply["conflicts"][number];
  const told = (value: unknown) => (typeof value === "string" ? value : value === undefined || value === null ? "–" : JSON.stringify(value));
  const columns: Column<Row>[] = [
    { key: "title", title: t.memory.title, cell: (one) => <span dir="auto">{one.title}</span> },
    { key: "field", title: t.admin.field, cell: (one) => one.field },
    { key: "here", title: t.admin.here, cell: (one) => <span dir="auto">{told(one.here)}</span> },
    { key: "there", title: t.admin.inFile, cell: (one) => <span dir="auto">{told(one.there)}</span> },
    { key: "kept", title: t.admin.kept, cell: (one) => <span dir="auto">{told(one.kept)}</span> },
  ];
  return (
    <div class="stack">
      <p>{t.admin.conflictsHint}</p>
      <Table label={t.admin.importConflicts} columns={columns} rows={conflicts} id={(one) => `${one.title}/${one.field}`} />
    </div>
  );
}

const nameOf = (file: string) => file.split(/[\\/]/).pop() ?? file;

function BackupsTab() {
  const found = useData((signal) => call<BackupsReply>("backups", {}, signal), []);
  const [problem, run] = useAction();
  const [chosen, setChosen] = useState<{ backup: Backup; undone: number }>();
  const ask = (backup: Backup) =>
    run(async () => {
      const reply = await call<BackupsReply>("backups", { restore: nameOf(backup.file) });
      setChosen({ backup, undone: reply.undone ?? 0 });
    });
  const restore = ({ backup }: { backup: Backup }) =>
    run(async () => {
      setChosen(undefined);
      await change(t.admin.restored, "backups", { restore: nameOf(backup.file), apply: true });
    });
  const make = () =>
    run(async () => {
      await call("backups", { make: true });
      say(t.admin.backupDone);
      refresh();
    });
  const columns: Column<Backup>[] = [
    { key: "title", title: t.admin.file, cell: (one) => <code title={one.file}>{nameOf(one.file)}</code> },
    { key: "size", title: t.admin.size, numeric: true, cell: (one) => bytes(one.bytes) },
    { key: "updated", title: t.memory.created, cell: (one) => moment(one.made_at) },
    {
      key: "act",
      title: "",
      cell: (one) => (
        <Button onClick={() => ask(one)} label={t.admin.restoreLabel(nameOf(one.file))}>
          {t.actions.restore}
        </Button>
      ),
    },
  ];
  return (
    <>
      {problem && <Problem error={problem} />}
      {chosen && (
        <Dialog title={t.admin.restoreTitle} onClose={() => setChosen(undefined)}>
          <p>
            <code>{nameOf(chosen.backup.file)}</code> · {moment(chosen.backup.made_at)}
          </p>
          <p>
            <strong>{t.admin.restoreCount(chosen.undone)}</strong>
          </p>
          <p>{t.admin.restoreHint}</p>
          <p class="faint">
            {t.admin.restoreOffline} <code>mnemic restore --force --from "{chosen.backup.file}"</code>
          </p>
          <div class="form-end">
            <Button onClick={() => setChosen(undefined)}>{t.actions.cancel}</Button>
            <Button look="danger" disabled={!chosen.undone} onClick={() => restore(chosen)}>
              {t.actions.restore}
            </Button>
          </div>
        </Dialog>
      )}
      <p class="faint">
        {t.admin.backupHint} <code>{found.data?.folder}</code>
      </p>
      <div class="row">
        <Button look="primary" onClick={make}>
          {t.admin.makeBackup}
        </Button>
      </div>
      <Loaded data={found}>
        {(reply) =>
          reply.backups.length ? (
            <Table label={t.admin.backups} columns={columns} rows={reply.backups} id={(one) => one.file} />
          ) : (
            <EmptyState title={t.admin.noBackups} />
          )
        }
      </Loaded>
    </>
  );
}

const HEALTH_LOOKS: Record<string, string> = { ok: "good", note: "warn", broken: "bad" };

function ChecksTab() {
  const found = useData((signal) => call<ChecksReply>("checks", {}, signal), []);
  return (
    <Loaded data={found}>
      {(reply) => (
        <dl class="card rows checks">
          {reply.checks.map((one) => (
            <div key={one.check}>
              <dt>
                <span class={`badge ${HEALTH_LOOKS[one.health] ?? ""}`}>{one.health}</span> {one.check}
              </dt>
              <dd>{one.detail}</dd>
            </div>
          ))}
        </dl>
      )}
    </Loaded>
  );
}

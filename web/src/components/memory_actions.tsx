// What can be done to one or several memories: tag, move, link, merge, split, archive, delete, restore.
import { useState } from "preact/hooks";
import { call, change, changes } from "../api";
import { useData } from "../data";
import { listed } from "../format";
import { t } from "../strings";
import type { Brief, LinkReply, Memory, TidyReply } from "../types";
import { Button, Field, TextField } from "./controls";
import { Dialog } from "./dialog";
import { memoryHref, titleOf } from "./memory_parts";
import { Loaded, Problem } from "./notices";

export type Action = "tag" | "move" | "link" | "merge" | "split";

const ids = (memories: readonly Memory[]) => memories.map((memory) => String(memory.id));

export function remove(memories: readonly Memory[]): Promise<unknown> {
  return change(t.did.deleted(memories.length), "forget", { ids: ids(memories) });
}

export function archive(memories: readonly Memory[]): Promise<unknown> {
  return change(t.did.archived(memories.length), "forget", { ids: ids(memories), archive: true });
}

export function restore(memories: readonly Memory[]): Promise<unknown> {
  return change(t.did.restored(memories.length), "restore", { ids: ids(memories) });
}

interface ActionDialogProps {
  action: Action;
  memories: readonly Memory[];
  onClose: () => void;
  onDone: () => void;
}

export function ActionDialog(props: ActionDialogProps) {
  const { action, onClose } = props;
  return (
    <Dialog title={t.acts[action].title} onClose={onClose}>
      {action === "tag" && <TagForm {...props} />}
      {action === "move" && <MoveForm {...props} />}
      {action === "link" && <LinkForm {...props} />}
      {action === "merge" && <MergeForm {...props} />}
      {action === "split" && <SplitForm {...props} />}
    </Dialog>
  );
}

interface FormProps {
  submit: string;
  work: () => Promise<unknown>;
  onClose: () => void;
  onDone: () => void;
  children: preact.ComponentChildren;
  disabled?: boolean;
}

function ActionForm({ submit, work, onClose, onDone, children, disabled }: FormProps) {
  const [problem, setProblem] = useState<Error>();
  const [busy, setBusy] = useState(false);
  const run = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      await work();
      onDone();
    } catch (error) {
      setProblem(error as Error);
      setBusy(false);
    }
  };
  return (
    <form class="form" onSubmit={run}>
      {problem && <Problem error={problem} />}
      {children}
      <div class="form-end">
        <Button onClick={onClose}>{t.actions.cancel}</Button>
        <Button type="submit" look="primary" disabled={busy || disabled}>
          {submit}
        </Button>
      </div>
    </form>
  );
}

function TagForm({ memories, onClose, onDone }: ActionDialogProps) {
  const shared = (memories[0]?.tags ?? []).filter((tag) => memories.every((memory) => memory.tags?.includes(tag)));
  const [add, setAdd] = useState("");
  const [drop, setDrop] = useState("");
  const work = () =>
    change(t.did.tagged(memories.length), "bulk", {
      action: "edit",
      ids: ids(memories),
      add_tags: listed(add),
      remove_tags: listed(drop),
    });
  return (
    <ActionForm submit={t.acts.tag.submit} work={work} onClose={onClose} onDone={onDone} disabled={!add.trim() && !drop.trim()}>
      <TextField label={t.acts.tag.add} hint={t.memory.tagsHint} value={add} onValue={setAdd} autocomplete="off" />
      <TextField
        label={t.acts.tag.drop}
        hint={shared.length ? t.acts.tag.shared(shared) : undefined}
        value={drop}
        onValue={setDrop}
        autocomplete="off"
      />
    </ActionForm>
  );
}

function MoveForm({ memories, onClose, onDone }: ActionDialogProps) {
  const [namespace, setNamespace] = useState("");
  const work = () =>
    change(t.did.moved(memories.length, namespace), "bulk", { action: "edit", ids: ids(memories), namespace });
  return (
    <ActionForm submit={t.acts.move.submit} work={work} onClose={onClose} onDone={onDone}>
      <TextField label={t.memory.namespace} value={namespace} onValue={setNamespace} required autocomplete="off" />
    </ActionForm>
  );
}

function LinkForm({ memories, onClose, onDone }: ActionDialogProps) {
  const [first, second] = memories;
  const [target, setTarget] = useState(second ? String(second.id) : "");
  const [type, setType] = useState("related_to");
  const [reason, setReason] = useState("");
  const suggested = useData(
    async (signal) =>
      first ? ((await call<LinkReply>("link", { source: String(first.id), suggest: 5 }, signal)).suggestions ?? []) : [],
    [first?.id],
  );
  const sources = second ? memories.filter((memory) => String(memory.id) !== target) : memories;
  const work = () =>
    changes(
      t.did.linked,
      sources.map((memory) => ({
        name: "link",
        given: { source: String(memory.id), target, type, reason: reason || undefined },
      })),
    );
  return (
    <ActionForm submit={t.acts.link.submit} work={work} onClose={onClose} onDone={onDone}>
      <p class="faint">{sources.map(titleOf).join(" · ")}</p>
      <TextField label={t.acts.link.target} hint={t.search.whyNotHint} value={target} onValue={setTarget} required autocomplete="off" />
      {!second && suggested.data && suggested.data.length > 0 && (
        <fieldset class="choices">
          <legend>{t.acts.link.suggested}</legend>
          {suggested.data.map((one: Brief) => (
            <Button key={one.id} onClick={() => setTarget(String(one.id))} aria-pressed={target === String(one.id)}>
              {titleOf(one)}
            </Button>
          ))}
        </fieldset>
      )}
      <TextField label={t.acts.link.type} value={type} onValue={setType} required autocomplete="off" />
      <TextField label={t.acts.link.reason} value={reason} onValue={setReason} autocomplete="off" />
    </ActionForm>
  );
}

function MergeForm({ memories, onClose, onDone }: ActionDialogProps) {
  const [into, setInto] = useState(memories.length > 1 ? String(memories[0]?.id) : "");
  const others = memories.filter((memory) => String(memory.id) !== into);
  const work = () => change(t.did.merged(others.length), "bulk", { action: "merge", ids: ids(others), into });
  return (
    <ActionForm submit={t.acts.merge.submit} work={work} onClose={onClose} onDone={onDone} disabled={!others.length}>
      {memories.length > 1 ? (
        <fieldset class="choices">
          <legend>{t.acts.merge.stays}</legend>
          {memories.map((memory) => (
            <label key={memory.id} class="check">
              <input type="radio" name="into" checked={into === String(memory.id)} onChange={() => setInto(String(memory.id))} />
              <span>{titleOf(memory)}</span>
            </label>
          ))}
        </fieldset>
      ) : (
        <TextField label={t.acts.merge.into} hint={t.search.whyNotHint} value={into} onValue={setInto} required autocomplete="off" />
      )}
      {into && <MergePreview others={others} into={into} />}
    </ActionForm>
  );
}

/** What the memory that stays would say. */
function MergePreview({ others, into }: { others: readonly Memory[]; into: string }) {
  const first = others[0];
  const preview = useData(
    (signal) => call<TidyReply>("tidy", { action: "merge", id: String(first?.id), into }, signal),
    [first?.id, into],
  );
  if (!first) return null;
  return (
    <Field label={t.acts.merge.preview}>
      {(id) => (
        <div id={id} class="code text" dir="auto">
          <Loaded data={preview}>{(reply) => <>{reply.parts?.flatMap((part) => part.texts).join("\n")}</>}</Loaded>
        </div>
      )}
    </Field>
  );
}

function SplitForm({ memories, onClose, onDone }: ActionDialogProps) {
  const id = String(memories[0]?.id);
  const preview = useData((signal) => call<TidyReply>("tidy", { action: "split", id }, signal), [id]);
  const parts = preview.data?.parts ?? [];
  const work = () => change(t.did.split(parts.length), "tidy", { action: "split", id, apply: true });
  return (
    <ActionForm submit={t.acts.split.submit} work={work} onClose={onClose} onDone={onDone} disabled={!parts.length}>
      <Loaded data={preview}>
        {() =>
          parts.length ? (
            <ol class="parts">
              {parts.map((part) => (
                <li key={part.title}>
                  <strong>{part.title}</strong>
                  <p class="text">{part.texts.join("\n")}</p>
                </li>
              ))}
            </ol>
          ) : (
            <p>{t.acts.split.nothing}</p>
          )
        }
      </Loaded>
    </ActionForm>
  );
}

export function MemoryLink({ memory }: { memory: Brief }) {
  return <a href={memoryHref(memory.id)}>{titleOf(memory)}</a>;
}

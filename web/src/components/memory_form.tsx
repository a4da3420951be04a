// The form that a memory is written or changed with.
import { useState } from "preact/hooks";
import { listed } from "../format";
import { t } from "../strings";
import type { Memory, Tier } from "../types";
import { Button, CheckField, Field, SelectField, TextField } from "./controls";
import { Problem } from "./notices";

export interface FormValues {
  title: string;
  text: string;
  kind: string;
  namespace: string;
  tags: string;
  tier: Tier | "";
  priority: string;
  confidence: string;
  ttl: string;
  supersede: boolean;
}

const EMPTY: FormValues = {
  title: "",
  text: "",
  kind: "",
  namespace: "",
  tags: "",
  tier: "",
  priority: "",
  confidence: "",
  ttl: "",
  supersede: false,
};

export function valuesOf(memory: Memory): FormValues {
  return {
    ...EMPTY,
    title: memory.title,
    text: memory.text,
    kind: memory.kind,
    namespace: memory.namespace,
    tags: (memory.tags ?? []).join(", "),
    tier: memory.tier,
    priority: String(memory.priority),
    confidence: String(memory.confidence),
  };
}

/** The fields in which *values* differ from *before*, as `revise` and `remember` take them. */
export function changedFields(before: FormValues, values: FormValues): Record<string, unknown> {
  const changed: Record<string, unknown> = {};
  for (const name of ["title", "text", "kind", "namespace", "tier", "ttl"] as const) {
    if (values[name] !== before[name] && values[name] !== "") changed[name] = values[name];
  }
  for (const name of ["priority", "confidence"] as const) {
    if (values[name] !== before[name] && values[name] !== "") changed[name] = Number(values[name]);
  }
  if (values.tags !== before.tags) changed.tags = listed(values.tags);
  return changed;
}

interface MemoryFormProps {
  memory?: Memory;
  onSave: (values: FormValues, before: FormValues) => Promise<void>;
  onCancel: () => void;
}

export function MemoryForm({ memory, onSave, onCancel }: MemoryFormProps) {
  const [before] = useState(memory ? valuesOf(memory) : EMPTY);
  const [values, setValues] = useState(before);
  const [problem, setProblem] = useState<Error>();
  const [busy, setBusy] = useState(false);
  const put = <Name extends keyof FormValues>(name: Name) => (value: FormValues[Name]) =>
    setValues((now) => ({ ...now, [name]: value }));
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      await onSave(values, before);
    } catch (error) {
      setProblem(error as Error);
    } finally {
      setBusy(false);
    }
  };
  const replaced = memory !== undefined && values.text !== before.text;
  return (
    <form class="form" onSubmit={submit}>
      {problem && <Problem error={problem} />}
      <TextField label={t.memory.title} value={values.title} onValue={put("title")} autocomplete="off" />
      <Field label={t.memory.text}>
        {(id) => (
          <textarea
            id={id}
            dir="auto"
            required
            rows={8}
            value={values.text}
            onInput={(event) => put("text")(event.currentTarget.value)}
          />
        )}
      </Field>
      {replaced && <CheckField label={t.edit.supersede} checked={values.supersede} onChecked={put("supersede")} />}
      <div class="form-row">
        <TextField label={t.memory.tags} hint={t.memory.tagsHint} value={values.tags} onValue={put("tags")} autocomplete="off" />
        <TextField label={t.memory.kind} value={values.kind} onValue={put("kind")} autocomplete="off" />
        <TextField label={t.memory.namespace} value={values.namespace} onValue={put("namespace")} autocomplete="off" />
      </div>
      <div class="form-row">
        <SelectField
          label={t.memory.tier}
          value={values.tier}
          onValue={(value) => put("tier")(value as Tier)}
          options={[...(memory ? [] : [["", t.filters.any] as const]), ["short", "short"], ["mid", "mid"], ["long", "long"]]}
        />
        <TextField label={t.memory.priority} type="number" min={1} max={10} value={values.priority} onValue={put("priority")} />
        <TextField
          label={t.memory.confidence}
          type="number"
          min={0}
          max={1}
          step={0.01}
          value={values.confidence}
          onValue={put("confidence")}
        />
        <TextField label={t.edit.ttl} placeholder="30d" value={values.ttl} onValue={put("ttl")} autocomplete="off" />
      </div>
      <div class="form-end">
        <Button onClick={onCancel}>{t.actions.cancel}</Button>
        <Button type="submit" look="primary" disabled={busy}>
          {t.actions.save}
        </Button>
      </div>
    </form>
  );
}

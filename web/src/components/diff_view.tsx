// The fields of a change, before and after.
import { difference } from "../diff";
import { moment } from "../format";
import { t } from "../strings";

type Fields = Record<string, unknown>;

/** Fields that move with every change. */
const UNTOLD = new Set(["updated_at"]);
/** Fields that are told of something new; the others have the values everything begins with. */
const TOLD_OF_NEW = new Set(["statements", "summary", "tags", "kind", "namespace", "topic", "type", "reason", "expires_at"]);

export function TextDiff({ before, after }: { before: string; after: string }) {
  return (
    <span class="diff text" dir="auto">
      {difference(before, after).map((piece, index) => {
        if (piece.kind === "added") return <ins key={index}>{piece.text}</ins>;
        if (piece.kind === "removed") return <del key={index}>{piece.text}</del>;
        return <span key={index}>{piece.text}</span>;
      })}
    </span>
  );
}

export function FieldDiffs({ before, after }: { before?: Fields; after?: Fields }) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const isTold = (name: string) => (before ? !UNTOLD.has(name) : TOLD_OF_NEW.has(name));
  const told = names.filter((name) => isTold(name) && shown(before?.[name]) !== shown(after?.[name]));
  if (!told.length) return null;
  return (
    <dl class="facts">
      {told.map((name) => (
        <FieldDiff key={name} name={name} before={before?.[name]} after={after?.[name]} />
      ))}
    </dl>
  );
}

function FieldDiff({ name, before, after }: { name: string; before: unknown; after: unknown }) {
  return (
    <>
      <dt>{t.fields[name] ?? name.replaceAll("_", " ")}</dt>
      <dd>
        <TextDiff before={shown(before)} after={shown(after)} />
      </dd>
    </>
  );
}

/** A value of the journal as text. */
function shown(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.every((one) => typeof one === "string") ? value.join("\n") : JSON.stringify(value);
  if (typeof value === "object") return JSON.stringify(value);
  if (typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value)) return moment(value);
  return String(value);
}

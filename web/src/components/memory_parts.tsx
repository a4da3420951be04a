// Parts of a memory that several pages show.
import { ago, moment } from "../format";
import { href } from "../router";
import { t } from "../strings";
import type { Memory } from "../types";

export function Tags({ tags }: { tags: string[] | undefined }) {
  return (
    <>
      {tags?.map((tag) => (
        <a key={tag} class="tag" href={href("browse", { tag })}>
          {tag}
        </a>
      ))}
    </>
  );
}

const STATE_LOOKS: Record<string, string> = { archived: "warn", forgotten: "bad", superseded: "warn", expired: "warn" };

export function StateBadge({ memory }: { memory: Memory }) {
  if (!memory.state || memory.state === "living") return null;
  return (
    <span class={`badge ${STATE_LOOKS[memory.state] ?? ""}`} title={memory.state_reason}>
      {memory.state}
    </span>
  );
}

export function When({ iso }: { iso: string }) {
  return (
    <time dateTime={iso} title={moment(iso)}>
      {ago(iso)}
    </time>
  );
}

export function memoryHref(id: number | string): string {
  return href(`memory/${encodeURIComponent(id)}`);
}

/** The address where a memory is changed. */
export function editHref(id: number | string): string {
  return href(`memory/${encodeURIComponent(id)}`, { edit: 1 });
}

/** Whether a title is the beginning of the text, since nobody chose one: then one of them is enough. */
export function repeatsText(memory: { title: string; text: string }): boolean {
  return memory.text.startsWith(memory.title.replace(/[…. ]+$/, ""));
}

export function titleOf(memory: { title: string }): string {
  return memory.title || t.memory.untitled;
}

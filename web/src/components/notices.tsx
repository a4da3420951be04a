// What is shown instead of, or above, content: nothing found, a problem, waiting.
import type { ComponentChildren } from "preact";
import { t } from "../strings";
import { Button } from "./controls";

export function EmptyState({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

export function Problem({ error, retry }: { error: Error; retry?: () => void }) {
  return (
    <div class="notice bad" role="alert">
      <p>{error.message}</p>
      {retry && <Button onClick={retry}>{t.errors.retry}</Button>}
    </div>
  );
}

export function Waiting() {
  return (
    <p class="waiting" role="status">
      {t.loading}
    </p>
  );
}

/** The content of *data*, or what stands in its place until it is there. */
export function Loaded<T>(props: {
  data: { data: T | undefined; error: Error | undefined; reload: () => void };
  children: (reply: T) => ComponentChildren;
}) {
  const { data, error, reload } = props.data;
  return (
    <>
      {error && <Problem error={error} retry={reload} />}
      {data === undefined ? !error && <Waiting /> : props.children(data)}
    </>
  );
}

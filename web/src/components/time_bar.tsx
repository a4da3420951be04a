// Time travel: every page shows the store as it was at the moment chosen here.
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../api";
import { moment as shownMoment } from "../format";
import { AS_OF, setQuery, usePlace } from "../router";
import { t } from "../strings";
import type { ListReply } from "../types";
import { Button, Field } from "./controls";

const STEPS = 1000;

export function TimeBar() {
  const { query } = usePlace();
  const at = query.get(AS_OF);
  const [open, setOpen] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const close = (event: Event) => {
      const escaped = event instanceof KeyboardEvent && event.key === "Escape";
      const outside = event.type === "pointerdown" && !place.current?.contains(event.target as Node);
      if (escaped || outside) setOpen(false);
    };
    document.addEventListener("keydown", close);
    document.addEventListener("pointerdown", close);
    return () => {
      document.removeEventListener("keydown", close);
      document.removeEventListener("pointerdown", close);
    };
  }, [open]);
  return (
    <div class="time" ref={place}>
      <Button
        look={at ? "primary" : "quiet"}
        icon="clock"
        label={t.time.label(at ? shownMoment(at) : t.time.now)}
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <span class="wide-only">{at ? shownMoment(at) : t.time.now}</span>
      </Button>
      {open && <TimePanel at={at} />}
      {at && (
        <div class="time-note" role="status">
          {t.time.viewing(shownMoment(at))} <Button onClick={() => setQuery({ [AS_OF]: null }, true)}>{t.time.back}</Button>
        </div>
      )}
    </div>
  );
}

function TimePanel({ at }: { at: string | null }) {
  const [first, setFirst] = useState<number>();
  const now = useRef(Date.now()).current;
  useEffect(() => {
    const oldest = { order: "newest", reverse: true, limit: 1, state: "any", brief: true, [AS_OF]: undefined };
    call<ListReply>("list", oldest).then(
      (reply) => setFirst(reply.memories[0] ? Date.parse(reply.memories[0].created_at) : now),
      () => setFirst(now),
    );
  }, []);
  const start = first ?? now;
  const span = Math.max(now - start, 1);
  const position = at ? Math.round(((Date.parse(at) - start) / span) * STEPS) : STEPS;
  const choose = (step: number) =>
    setQuery({ [AS_OF]: step >= STEPS ? null : new Date(start + (step / STEPS) * span).toISOString() });
  return (
    <div class="time-panel card">
      <Field label={t.time.slider}>
        {(id) => (
          <input
            id={id}
            type="range"
            min={0}
            max={STEPS}
            value={position}
            aria-valuetext={at ? shownMoment(at) : t.time.now}
            disabled={first === undefined}
            onChange={(event) => choose(Number(event.currentTarget.value))}
          />
        )}
      </Field>
      <div class="time-ends faint">
        <span>{first === undefined ? "" : shownMoment(new Date(start).toISOString())}</span>
        <span>{t.time.now}</span>
      </div>
      <Field label={t.time.exact}>
        {(id) => (
          <input
            id={id}
            type="datetime-local"
            value={at ? local(at) : ""}
            onChange={(event) => {
              const { value } = event.currentTarget;
              setQuery({ [AS_OF]: value ? new Date(value).toISOString() : null });
            }}
          />
        )}
      </Field>
      <Button disabled={!at} onClick={() => setQuery({ [AS_OF]: null })}>
        {t.time.back}
      </Button>
    </div>
  );
}

/** A moment in the form that a date and time field takes, in local time. */
function local(iso: string): string {
  const moment = new Date(iso);
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

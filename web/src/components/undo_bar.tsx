// After every action: what was done, and a button that takes it back through the journal.
import { useState } from "preact/hooks";
import { done, undo } from "../api";
import { useValue, Value } from "../state";
import { t } from "../strings";
import { Button } from "./controls";

/** A sentence shown for a moment, where there is nothing to take back. */
export const said = new Value<string | null>(null);

const SHOWN_MS = 6000;
let timer = 0;

export function say(sentence: string): void {
  said.set(sentence);
  clearTimeout(timer);
  timer = window.setTimeout(() => said.set(null), SHOWN_MS);
}

export function UndoBar() {
  const action = useValue(done);
  const sentence = useValue(said);
  const [busy, setBusy] = useState(false);
  const takeBack = async () => {
    if (!action) return;
    setBusy(true);
    try {
      await undo(action);
      say(t.undo.undone);
    } catch (error) {
      say((error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="undo-place" role="status" aria-label={t.undo.region}>
      {sentence && <div class="undo-bar">{sentence}</div>}
      {action && (
        <div class="undo-bar">
          <span>{action.label}</span>
          <Button look="quiet" disabled={busy} onClick={takeBack}>
            {t.undo.button}
          </Button>
          <Button look="quiet" icon="close" label={t.undo.dismiss} onClick={() => done.set(null)} />
        </div>
      )}
    </div>
  );
}

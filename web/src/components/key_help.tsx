// The list of single-key shortcuts, and the switch that turns them off.
import { keysEnabled } from "../keys";
import { useValue } from "../state";
import { t } from "../strings";
import { CheckField } from "./controls";
import { Dialog } from "./dialog";

const SHORTCUTS: [string, string][] = [
  ["/", t.keys.search],
  ["j", t.keys.next],
  ["k", t.keys.previous],
  ["Enter", t.keys.enter],
  ["x", t.keys.select],
  ["e", t.keys.edit],
  ["#", t.keys.remove],
  ["a", t.keys.accept],
  ["r", t.keys.reject],
  ["?", t.keys.help],
];

export function KeyHelp({ onClose }: { onClose: () => void }) {
  const on = useValue(keysEnabled);
  return (
    <Dialog title={t.keys.heading} onClose={onClose}>
      <dl class="shortcuts">
        {SHORTCUTS.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <CheckField label={t.keys.enabled} checked={on} onChecked={(value) => keysEnabled.set(value)} />
    </Dialog>
  );
}

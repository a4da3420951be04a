// Single-key shortcuts. They can be switched off, as WCAG 2.1.4 asks.
import { useLayoutEffect, useRef } from "preact/hooks";
import { Value } from "./state";

const STORED = "mnemic.keys";

export const keysEnabled = new Value(localStorage.getItem(STORED) !== "off");
keysEnabled.watch((on) => localStorage.setItem(STORED, on ? "on" : "off"));

export type Keys = Record<string, (event: KeyboardEvent) => void>;

/** Let *keys* act while the component is shown, except while somebody types or a dialog is open. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const act = latest.current[event.key];
      if (!act || !keysEnabled.get() || isTaken(event)) return;
      event.preventDefault();
      act(event);
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
}

function isTaken(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return true;
  if (document.querySelector("dialog[open]")) return true;
  const on = event.target as HTMLElement;
  if (on.isContentEditable || /^(TEXTAREA|SELECT)$/.test(on.tagName)) return true;
  if (on.tagName === "INPUT" && !["checkbox", "radio"].includes((on as HTMLInputElement).type)) return true;
  return event.key === "Enter" && /^(A|BUTTON|SUMMARY)$/.test(on.tagName);
}

// Modal dialog over the platform's own, which keeps the focus inside and closes on Escape.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { t } from "../strings";
import { Button } from "./controls";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  wide?: boolean;
}

export function Dialog({ title, onClose, children, wide }: DialogProps) {
  const shown = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    shown.current?.showModal();
    return () => before?.focus();
  }, []);
  return (
    <dialog
      ref={shown}
      class={wide ? "wide" : ""}
      aria-labelledby={heading}
      onClose={onClose}
      onClick={(event) => event.target === shown.current && onClose()}
    >
      <div class="dialog-box">
        <header>
          <h2 id={heading}>{title}</h2>
          <Button icon="close" look="quiet" label={t.actions.close} onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  );
}

// Buttons and labelled form fields.
import type { ComponentChildren, HTMLAttributes } from "preact";
import { useId } from "preact/hooks";
import { Icon } from "./icon";

interface ButtonProps extends Omit<HTMLAttributes<HTMLButtonElement>, "icon" | "role"> {
  children?: ComponentChildren;
  icon?: string;
  /** Accessible name of a button that shows only its icon. */
  label?: string;
  look?: "plain" | "primary" | "danger" | "quiet";
  type?: "button" | "submit";
  disabled?: boolean;
}

export function Button({ icon, label, look = "plain", type = "button", children, class: more, ...rest }: ButtonProps) {
  const shape = children ? "" : "only-icon";
  return (
    <button type={type} class={`button ${look} ${shape} ${more ?? ""}`} aria-label={label} title={label} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

interface FieldProps {
  label: string;
  hint?: string;
  problem?: string;
  class?: string;
  children: (id: string, describedBy: string | undefined) => ComponentChildren;
}

/** A form control with its label, a hint and what is wrong with it. */
export function Field({ label, hint, problem, class: more, children }: FieldProps) {
  const id = useId();
  const notes = hint || problem ? `${id}-notes` : undefined;
  return (
    <div class={`field ${more ?? ""}`}>
      <label for={id}>{label}</label>
      {children(id, notes)}
      {notes && (
        <p id={notes} class={problem ? "hint bad" : "hint"}>
          {problem ?? hint}
        </p>
      )}
    </div>
  );
}

interface InputProps {
  label: string;
  hint?: string;
  problem?: string;
  value: string;
  onValue: (value: string) => void;
  type?: "text" | "password" | "number" | "date";
  min?: number;
  max?: number;
  step?: number;
  required?: boolean;
  autocomplete?: "off" | "current-password";
  placeholder?: string;
}

export function TextField({ label, hint, problem, value, onValue, type = "text", ...rest }: InputProps) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(id, notes) => (
        <input
          id={id}
          type={type as "text"}
          aria-describedby={notes}
          aria-invalid={problem ? true : undefined}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
          {...rest}
        />
      )}
    </Field>
  );
}

interface SelectProps {
  label: string;
  hint?: string;
  value: string;
  onValue: (value: string) => void;
  options: readonly (readonly [value: string, shown: string])[];
  class?: string;
}

export function SelectField({ label, hint, value, onValue, options, class: more }: SelectProps) {
  return (
    <Field label={label} hint={hint} class={more}>
      {(id, notes) => (
        <select id={id} aria-describedby={notes} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
          {options.map(([one, shown]) => (
            <option key={one} value={one}>
              {shown}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface CheckProps {
  label: ComponentChildren;
  checked: boolean;
  onChecked: (checked: boolean) => void;
  disabled?: boolean;
}

export function CheckField({ label, checked, onChecked, disabled }: CheckProps) {
  const id = useId();
  return (
    <div class="check">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChecked(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
    </div>
  );
}

// Light or dark: the system's choice unless the user made one.
import { Value } from "./state";

export type Theme = "system" | "light" | "dark";
const STORED = "mnemic.theme";

export const theme = new Value<Theme>((localStorage.getItem(STORED) as Theme | null) ?? "system");

export function applyTheme(): void {
  const show = (chosen: Theme) => {
    if (chosen === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
  };
  show(theme.get());
  theme.watch((chosen) => {
    localStorage.setItem(STORED, chosen);
    show(chosen);
  });
}

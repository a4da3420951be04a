// Numbers, times and texts as people read them.

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

export function date(iso: string): string {
  return DATE.format(new Date(iso));
}

export function moment(iso: string): string {
  return MOMENT.format(new Date(iso));
}

/** How long ago, as in "3 days ago". */
export function ago(iso: string, now = Date.now()): string {
  const seconds = (new Date(iso).getTime() - now) / 1000;
  for (const [unit, size] of STEPS) {
    if (Math.abs(seconds) >= size) return RELATIVE.format(Math.trunc(seconds / size), unit);
  }
  return RELATIVE.format(0, "second");
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

export function bytes(count: number): string {
  if (count < 1e6) return `${Math.ceil(count / 1e3).toLocaleString()} kB`;
  return count < 1e9 ? `${(count / 1e6).toFixed(1)} MB` : `${(count / 1e9).toFixed(2)} GB`;
}

/** *text* cut at a word, with an ellipsis. */
export function excerpt(text: string, length: number): string {
  if (text.length <= length) return text;
  const cut = text.slice(0, length);
  const at = cut.lastIndexOf(" ");
  return `${at > length * 0.6 ? cut.slice(0, at) : cut}…`;
}

/** The values of a list typed with commas. */
export function listed(text: string): string[] {
  return [...new Set(text.split(",").map((one) => one.trim()).filter(Boolean))];
}

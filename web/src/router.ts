// Addresses of the form `#/browse/12?namespace=acme`: page and filters are in the address, so that every view can be
// kept as a bookmark. The moment of the time slider (`as_of`) stays in the address from page to page.
import { useValue, Value } from "./state";

export interface Place {
  /** `["memory", "12"]` of `#/memory/12`. */
  path: string[];
  query: URLSearchParams;
}

export type Query = Record<string, string | number | boolean | null | undefined | readonly string[]>;

export const AS_OF = "as_of";

function read(): Place {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  return { path: path.split("/").filter(Boolean).map(decode), query: new URLSearchParams(query) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const place = new Value<Place>(read());
addEventListener("hashchange", () => place.set(read()));

/** The place that the address names. */
export function usePlace(): Place {
  return useValue(place);
}

/** The address of *path* with *query*; the moment looked at stays. */
export function href(path: string, query: Query = {}): string {
  const asked = new URLSearchParams();
  const moment = place.get().query.get(AS_OF);
  if (moment) asked.set(AS_OF, moment);
  fill(asked, query);
  return address(path, asked);
}

export function go(to: string): void {
  location.hash = to;
}

/** Change parts of the query of this page; null removes one. Without *keep* the back button does not stop here. */
export function setQuery(changes: Query, keep = false): void {
  const { path, query } = read();
  const asked = new URLSearchParams(query);
  fill(asked, changes);
  const to = address(path.map(encodeURIComponent).join("/"), asked);
  if (keep) history.pushState(null, "", to);
  else history.replaceState(null, "", to);
  place.set(read());
}

function fill(asked: URLSearchParams, changes: Query): void {
  for (const [name, value] of Object.entries(changes)) {
    asked.delete(name);
    if (Array.isArray(value)) for (const one of value) asked.append(name, one);
    else if (value !== null && value !== undefined && value !== "" && value !== false) asked.set(name, String(value));
  }
}

function address(path: string, query: URLSearchParams): string {
  const asked = query.toString();
  return `#/${path.replace(/^\//, "")}${asked ? `?${asked}` : ""}`;
}

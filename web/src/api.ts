// Calls of the daemon. Every operation is `POST /api/v1/tools/mnemic/NAME` with its arguments as JSON.
import { AS_OF, place } from "./router";
import { Value } from "./state";
import { t } from "./strings";
import type { Whoami } from "./types";

const BASE = "/api/v1";

/** Header that a page of another origin cannot send: with it the login cookie counts, without it it does not. */
const HEADERS = { "Content-Type": "application/json", "Mnemic-Client": "dashboard" };

/** The operations that can look at a past moment; all others that only read show the present. */
const READ_AT = new Set(["recall", "open", "explore", "stats", "list", "facets", "sessions", "graph", "analytics"]);

/** Looking is no use: what is typed into the search box or opened here changes no count and is in no log of recalls. */
const UNRECORDED = new Set(["recall", "open"]);

/** What the daemon answered instead of what was asked for, in its own words. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly field?: string,
  ) {
    super(message);
  }
}

/** The daemon could not be reached. */
export class Unreachable extends Error {}

export type Session = { state: "unknown" } | { state: "login" } | { state: "open"; who: Whoami };

/** Whether we are logged in, and as whom. */
export const session = new Value<Session>({ state: "unknown" });
/** Whether the daemon answers. */
export const connected = new Value(true);
/** Counts our own changes and those noticed elsewhere; views that depend on it read again. */
export const revision = new Value(0);

export interface Done {
  label: string;
  changes: number[];
}
/** The action that the undo bar offers to take back. */
export const done = new Value<Done | null>(null);

export function refresh(): void {
  revision.set(revision.get() + 1);
}

/** The reply of the operation *name*. */
export async function call<T>(name: string, given: object = {}, signal?: AbortSignal): Promise<T> {
  return (await send<T>(name, given, signal)).reply;
}

/** Do something that changes the store, and offer to take it back. */
export async function change<T>(label: string, name: string, given: object): Promise<T> {
  return (await changes<T>(label, [{ name, given }]))[0] as T;
}

/** Several calls as one action with one undo. What was done before a failure can still be taken back. */
export async function changes<T>(label: string, calls: { name: string; given: object }[]): Promise<T[]> {
  const replies: T[] = [];
  const numbers: number[] = [];
  try {
    for (const { name, given } of calls) {
      const answer = await send<T>(name, given);
      replies.push(answer.reply);
      numbers.push(...answer.changes);
    }
  } finally {
    if (numbers.length) done.set({ label, changes: numbers });
    if (replies.length) refresh();
  }
  return replies;
}

/** Take *action* back, its last change first. */
export async function undo(action: Done): Promise<void> {
  for (const number of [...action.changes].reverse()) await send("undo", { change: number });
  done.set(null);
  refresh();
}

interface Answer<T> {
  reply: T;
  changes: number[];
}

async function send<T>(name: string, given: object, signal?: AbortSignal): Promise<Answer<T>> {
  const moment = place.get().query.get(AS_OF);
  const at = moment && READ_AT.has(name) && !(AS_OF in given) ? { [AS_OF]: moment } : {};
  const unrecorded = UNRECORDED.has(name) ? { record: false } : {};
  const response = await request(`/tools/mnemic/${name}`, {
    method: "POST",
    body: JSON.stringify({ ...given, ...at, ...unrecorded }),
    signal,
  });
  const changes = (response.headers.get("Mnemic-Changes") ?? "").split(",").filter(Boolean).map(Number);
  return { reply: (await response.json()) as T, changes };
}

/** A response of the daemon below /api/v1; Refused or Unreachable if there is none. */
export async function request(path: string, options: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(BASE + path, { credentials: "same-origin", ...options, headers: HEADERS });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    lose();
    throw new Unreachable(t.errors.unreachable);
  }
  connected.set(true);
  if (!response.ok) throw await refusal(response);
  return response;
}

async function refusal(response: Response): Promise<Refused> {
  const body = (await response.json().catch(() => ({}))) as Record<string, string>;
  if (response.status === 401) session.set({ state: "login" });
  return new Refused(response.status, body.code ?? "", body.message ?? body.error ?? response.statusText, body.field);
}

const RETRY_MS = 2000;
let retrying = false;

/** Say that the daemon is gone, and look until it is back. */
function lose(): void {
  connected.set(false);
  if (retrying) return;
  retrying = true;
  const look = async () => {
    const found = await fetch(`${BASE}/health`).catch(() => null);
    if (!found) return void setTimeout(look, RETRY_MS);
    retrying = false;
    connected.set(true);
    await enter().catch(() => {});
    refresh();
  };
  setTimeout(look, RETRY_MS);
}

/** Find out whom the daemon takes us for. */
export async function enter(): Promise<void> {
  const who = (await (await request("/whoami")).json()) as Whoami;
  session.set({ state: "open", who });
}

export async function login(token: string): Promise<void> {
  await request("/login", { method: "POST", body: JSON.stringify({ token }) });
  await enter();
  refresh();
}

export async function logout(): Promise<void> {
  await request("/logout", { method: "POST", body: "{}" });
  done.set(null);
  session.set({ state: "login" });
}

/** Whether the caller may change anything here and now: not with a read-only token, not in the past. */
export function mayChange(): boolean {
  const now = session.get();
  return now.state === "open" && now.who.can_write && !place.get().query.get(AS_OF);
}

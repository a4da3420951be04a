// The host of an MCP App: JSON-RPC over postMessage with the client that shows this page (MCP Apps, 2026-01-26).
import { Value } from "../state";

export const PROTOCOL = "2026-01-26";

/** What a tool answered, as MCP tells it. */
export interface ToolResult {
  content?: { type: string; text?: string }[];
  structuredContent?: unknown;
  isError?: boolean;
}

interface HostContext {
  theme?: "light" | "dark";
  styles?: { variables?: Record<string, string | undefined> };
  toolInfo?: { tool?: { name?: string } };
}

interface Welcome {
  hostCapabilities?: { serverTools?: object };
  hostContext?: HostContext;
}

interface Message {
  jsonrpc: "2.0";
  id?: number | string;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { message?: string };
}

/** What the tool was called with, what it answered, and whether it was cancelled. */
export interface Call {
  input?: Record<string, unknown>;
  result?: ToolResult;
  cancelled?: boolean;
}

export const toolCall = new Value<Call>({});
/** Whether this page may call tools of its server. */
export const canCall = new Value(false);

const waiting = new Map<number, (message: Message) => void>();
let last = 0;
/** What the tools of this server are called: a client's settings can put a prefix before their names. */
let prefix = "";

function send(message: object): void {
  // A page without an origin of its own does not know that of its host.
  window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
}

function ask<T>(method: string, params: object): Promise<T> {
  const id = ++last;
  send({ id, method, params });
  return new Promise((resolve, reject) => {
    waiting.set(id, ({ result, error }) => (error ? reject(new Error(error.message ?? method)) : resolve(result as T)));
  });
}

export function notify(method: string, params: object = {}): void {
  send({ method, params });
}

/** What the tool *name* of this server answers, read from its text; an error in its words. */
export async function callTool<T>(name: string, given: object): Promise<T> {
  return answer<T>(await ask<ToolResult>("tools/call", { name: prefix + name, arguments: given }));
}

/** The JSON that a tool answered with. */
export function answer<T>(result: ToolResult): T {
  const text = result.content?.find((one) => one.type === "text")?.text ?? "";
  if (result.isError) throw new Error(text);
  return (result.structuredContent ?? JSON.parse(text)) as T;
}

/** Introduce this page to its host, and listen to it from then on. */
export async function connect(): Promise<void> {
  window.addEventListener("message", ({ source, data }) => source === window.parent && data?.jsonrpc === "2.0" && heard(data));
  const welcome = await ask<Welcome>("ui/initialize", {
    appInfo: { name: "mnemic-memories", version: "1" },
    appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
    protocolVersion: PROTOCOL,
  });
  canCall.set(welcome.hostCapabilities?.serverTools !== undefined);
  adopt(welcome.hostContext);
  notify("ui/notifications/initialized");
}

function heard(message: Message): void {
  if (message.method === undefined) {
    waiting.get(message.id as number)?.(message);
    waiting.delete(message.id as number);
  } else if (message.id === undefined) {
    noted(message.method, message.params ?? {});
  } else if (["ping", "ui/resource-teardown"].includes(message.method)) {
    send({ id: message.id, result: {} });
  } else {
    send({ id: message.id, error: { code: -32601, message: "Method not found" } });
  }
}

function noted(method: string, params: Record<string, unknown>): void {
  const now = toolCall.get();
  if (method === "ui/notifications/tool-input") toolCall.set({ ...now, input: params.arguments as Call["input"] });
  else if (method === "ui/notifications/tool-result") toolCall.set({ ...now, result: params as ToolResult });
  else if (method === "ui/notifications/tool-cancelled") toolCall.set({ ...now, cancelled: true });
  else if (method === "ui/notifications/host-context-changed") adopt(params as HostContext);
}

/** Look as the host does, and learn what it calls our tools. */
function adopt(context: HostContext | undefined): void {
  if (context?.theme) document.documentElement.dataset.theme = context.theme;
  for (const [name, value] of Object.entries(context?.styles?.variables ?? {})) {
    if (name.startsWith("--") && value) document.documentElement.style.setProperty(name, value);
  }
  const called = context?.toolInfo?.tool?.name;
  if (called) prefix = called.replace(/(recall|explore)$/, "");
}

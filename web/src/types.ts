// Requests and replies of the native dialect, as its OpenAPI document describes them.

export type Tier = "short" | "mid" | "long";
export type State = "living" | "archived" | "forgotten" | "superseded" | "expired" | "named";

export interface Memory {
  id: number;
  uid: string;
  title: string;
  text: string;
  kind: string;
  namespace: string;
  tags?: string[];
  summary?: string;
  tier: Tier;
  priority: number;
  confidence: number;
  source?: string;
  session?: number;
  metadata?: Record<string, unknown>;
  occurred_at?: string;
  created_at: string;
  updated_at: string;
  last_accessed_at?: string;
  access_count: number;
  expires_at?: string;
  state?: State;
  state_reason?: string;
}

export interface Link {
  id: number;
  source: number;
  target: number;
  type: string;
  weight: number;
  reason?: string;
  created_at: string;
  ended_at?: string;
}

export interface OpenedMemory extends Memory {
  links?: Link[];
  links_left?: number;
}

export interface Brief {
  id: number;
  title: string;
}

export interface Hit extends Memory {
  when: string;
  relevance?: number;
  score: number;
  signals?: Record<string, number>;
  terms?: Record<string, number>;
}

export interface Explanation {
  id: number;
  is_hit: boolean;
  reason: string;
  place?: number;
  relevance?: number;
  needed?: number;
  signals?: Record<string, number>;
  terms?: Record<string, number>;
}

export interface RecallReply {
  memories: Hit[];
  note?: string;
  left_out?: number;
  pending?: number;
  explanations?: Explanation[];
}

export interface OpenReply {
  memories: OpenedMemory[];
  count: number;
}

export interface ListReply {
  memories: Memory[];
  count: number;
  total?: number;
}

export interface Change {
  change: number;
  at: string;
  actor: string;
  operation: string;
  subject: string;
  id: number;
  title?: string;
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
}

export interface Difference {
  id: number;
  title?: string;
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
}

export interface HistoryReply {
  count: number;
  changes?: Change[];
  versions?: Memory[];
  added?: Difference[];
  changed?: Difference[];
  left?: Difference[];
}

export interface StatsReply {
  total: number;
  by_tier: { tier: string; count: number }[];
  by_namespace: { namespace: string; count: number }[];
  namespaces_left?: number;
  by_kind: Record<string, number>;
  by_state: Record<string, number>;
  expiring_soon: number;
  links_count: number;
  pending_vectors: number;
  model?: string;
  changes: number;
  db_size_bytes: number;
}

/** Who the daemon takes this browser for. */
export interface Whoami {
  version: string;
  needs_token: boolean;
  can_write: boolean;
  is_admin: boolean;
  namespaces: string[] | null;
}

/** Counts of the values that a listing can be filtered by. */
export interface Facets {
  namespace?: Record<string, number>;
  kind?: Record<string, number>;
  tag?: Record<string, number>;
  actor?: Record<string, number>;
}

export interface LinkReply {
  linked: boolean;
  link?: Link;
  suggestions?: (Brief & { score: number; terms: Record<string, number> })[];
}

export interface TidyReply {
  applied: boolean;
  count?: number;
  parts?: { title: string; texts: string[] }[];
  memory?: Memory;
}

export interface WorkSession {
  id: number;
  namespace: string;
  topic?: string;
  summary?: string;
  started_at: string;
  ended_at?: string;
}

export interface CountedSession extends WorkSession {
  turns: number;
  memories: number;
}

/** A recall: who asked what, and what came of it. */
export interface RecallEntry {
  number: number;
  at: string;
  actor: string;
  query: string;
  session?: number;
  hits: number;
  relevance?: number;
  tokens: number;
  milliseconds: number;
  ids: number[];
}

export interface SessionsReply {
  sessions?: CountedSession[];
  total?: number;
  session?: WorkSession;
  turns?: Memory[];
  episodes?: Memory[];
  memories?: Memory[];
  reflections?: Memory[];
  recalls?: RecallEntry[];
  recalled?: Brief[];
}

export interface Setting {
  key: string;
  value: unknown;
  source: string;
  help: string;
  choices?: string[];
  is_secret: boolean;
}

export interface SettingsReply {
  file: string;
  settings: Setting[];
}

export interface Client {
  name: string;
  title: string;
  is_found: boolean;
  is_installed: boolean;
}

export interface ClientsReply {
  clients: Client[];
  difference?: string;
  note?: string;
}

export interface Token {
  name: string;
  namespaces?: string[];
  can_write: boolean;
  created_at: string;
  expires_at?: string;
  used_at?: string;
}

export interface TokensReply {
  tokens: Token[];
  secret?: string;
}

export interface Standard {
  namespace: string;
  memory?: Brief;
  parent?: string;
}

export interface StandardsReply {
  standards: Standard[];
}

export interface ImportReply {
  imported: number;
  new: number;
  changed: number;
  known: number;
  links: number;
  titles: string[];
  changes?: { change: number; title?: string; before?: Record<string, unknown>; after?: Record<string, unknown> }[];
  conflicts: { title: string; field: string; here?: unknown; there?: unknown; kept?: unknown }[];
  errors: string[];
  is_applied: boolean;
  is_compared: boolean;
}

export interface Backup {
  file: string;
  bytes: number;
  made_at: string;
}

export interface BackupsReply {
  folder: string;
  backups: Backup[];
  undone?: number;
}

export interface ChecksReply {
  checks: { check: string; health: string; detail: string }[];
}

/** What an agent would read. */
export interface PlaygroundReply {
  text: string;
  tokens: number;
  is_error: boolean;
  milliseconds: number;
}

// The pages, in the order of the navigation. Each is fetched when it is opened first.
import type { ComponentType } from "preact";
import { t } from "./strings";

export interface Page {
  path: string;
  title: string;
  icon: string;
  load: () => Promise<{ default: ComponentType<{ path: string[] }> }>;
  /** Left out of the navigation. */
  hidden?: boolean;
  /** Shown to callers who may do everything. */
  admin?: boolean;
  /** There is nothing to see of the past. */
  presentOnly?: boolean;
}

export const PAGES: Page[] = [
  { path: "search", title: t.nav.search, icon: "search", load: () => import("./pages/search") },
  { path: "browse", title: t.nav.browse, icon: "table", load: () => import("./pages/browse") },
  { path: "history", title: t.nav.history, icon: "history", load: () => import("./pages/history") },
  { path: "sessions", title: t.nav.sessions, icon: "chat", load: () => import("./pages/sessions") },
  { path: "graph", title: t.nav.graph, icon: "graph", load: () => import("./pages/graph") },
  { path: "review", title: t.nav.review, icon: "review", load: () => import("./pages/review"), presentOnly: true },
  { path: "live", title: t.nav.live, icon: "live", load: () => import("./pages/live"), presentOnly: true },
  { path: "analytics", title: t.nav.analytics, icon: "chart", load: () => import("./pages/analytics") },
  { path: "playground", title: t.nav.playground, icon: "play", load: () => import("./pages/playground") },
  { path: "admin", title: t.nav.admin, icon: "settings", load: () => import("./pages/admin"), admin: true, presentOnly: true },
  { path: "memory", title: t.nav.browse, icon: "table", load: () => import("./pages/memory"), hidden: true },
];

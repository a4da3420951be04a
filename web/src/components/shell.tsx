// The frame around every page: search box, navigation, time travel, undo bar.
import type { ComponentType } from "preact";
import { useEffect, useErrorBoundary, useRef, useState } from "preact/hooks";
import { connected, logout, session } from "../api";
import { useKeys } from "../keys";
import { AS_OF, href, usePlace } from "../router";
import { PAGES, type Page } from "../routes";
import { useValue } from "../state";
import { t } from "../strings";
import { type Theme, theme } from "../theme";
import { Button } from "./controls";
import { Icon } from "./icon";
import { KeyHelp } from "./key_help";
import { EmptyState, Problem, Waiting } from "./notices";
import { SearchBox } from "./search_box";
import { TimeBar } from "./time_bar";
import { UndoBar } from "./undo_bar";

export function Shell() {
  const { path, query } = usePlace();
  const page = PAGES.find((one) => one.path === path[0]) ?? (PAGES[0] as Page);
  const [menu, setMenu] = useState(false);
  const [help, setHelp] = useState(false);
  const main = useRef<HTMLElement>(null);
  const online = useValue(connected);
  useEffect(() => setMenu(false), [path.join("/")]);
  useKeys({ "?": () => setHelp(true) });
  return (
    <div class={menu ? "shell menu-open" : "shell"}>
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        {t.skip}
      </a>
      <header class="top">
        <Button class="menu-button" look="quiet" icon="menu" label={t.menu} aria-expanded={menu} onClick={() => setMenu(!menu)} />
        <a class="brand" href={href("search")} aria-label={t.app}>
          <img src="/web/icon.svg" alt="" width="24" height="24" />
          <span>{t.app}</span>
        </a>
        <SearchBox />
        <TimeBar />
        <ThemeButton />
        <Button class="wide-only" look="quiet" icon="keyboard" label={t.keys.open} onClick={() => setHelp(true)} />
        <Account />
      </header>
      <nav class="side" aria-label={t.navigation}>
        <Navigation current={page} />
      </nav>
      <main ref={main} id="main" tabIndex={-1}>
        {!online && (
          <div class="notice warn" role="alert">
            {t.errors.lost}
          </div>
        )}
        {page.presentOnly && query.has(AS_OF) ? <OnlyNow page={page} /> : <Shown key={page.path} page={page} path={path.slice(1)} />}
      </main>
      <UndoBar />
      {help && <KeyHelp onClose={() => setHelp(false)} />}
    </div>
  );
}

function Navigation({ current }: { current: Page }) {
  const now = useValue(session);
  const isAdmin = now.state === "open" && now.who.is_admin;
  return (
    <ul>
      {PAGES.filter((page) => !page.hidden && (isAdmin || !page.admin)).map((page) => (
        <li key={page.path}>
          <a href={href(page.path)} aria-current={page === current ? "page" : undefined}>
            <Icon name={page.icon} />
            {page.title}
          </a>
        </li>
      ))}
      <li>
        <a href="/api/v1/docs">
          <Icon name="api" />
          {t.nav.api}
        </a>
      </li>
    </ul>
  );
}

/** Instead of a page that has no past. */
function OnlyNow({ page }: { page: Page }) {
  return (
    <div class="page">
      <div class="page-head">
        <h1>{page.title}</h1>
      </div>
      <EmptyState title={t.time.onlyNow} />
    </div>
  );
}

const loaded = new Map<string, ComponentType<{ path: string[] }>>();

/** A page, fetched first if need be. */
function Shown({ page, path }: { page: Page; path: string[] }) {
  const [, setReady] = useState(0);
  const [failure, setFailure] = useState<Error>();
  const [broken, reset] = useErrorBoundary();
  useEffect(() => {
    document.title = `${page.title} · ${t.app}`;
    if (loaded.has(page.path)) return;
    page.load().then((module) => {
      loaded.set(page.path, module.default);
      setReady((count) => count + 1);
    }, setFailure);
  }, [page]);
  const problem = failure ?? (broken as Error | undefined);
  if (problem) return <Problem error={problem} retry={() => (failure ? location.reload() : reset())} />;
  const Content = loaded.get(page.path);
  return Content ? <Content path={path} /> : <Waiting />;
}

const NEXT_THEME: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };

function ThemeButton() {
  const chosen = useValue(theme);
  const icon = chosen === "light" ? "sun" : chosen === "dark" ? "moon" : "contrast";
  return (
    <Button
      look="quiet"
      icon={icon}
      label={`${t.theme.label}: ${t.theme[chosen]}`}
      onClick={() => theme.set(NEXT_THEME[chosen])}
    />
  );
}

function Account() {
  const now = useValue(session);
  if (now.state !== "open") return null;
  const { who } = now;
  return (
    <>
      {who.namespaces && <span class="badge wide-only">{t.login.limited(who.namespaces)}</span>}
      {!who.can_write && <span class="badge">{t.login.readOnly}</span>}
      {who.needs_token && (
        <Button look="quiet" onClick={() => void logout()}>
          {t.login.logout}
        </Button>
      )}
    </>
  );
}

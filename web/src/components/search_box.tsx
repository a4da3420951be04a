// The one search box. What is typed goes into the address of the search page, from wherever one is.
import { useEffect, useRef, useState } from "preact/hooks";
import { useKeys } from "../keys";
import { go, href, setQuery, usePlace } from "../router";
import { t } from "../strings";
import { Icon } from "./icon";

const SETTLE_MS = 150;

export function SearchBox() {
  const { path, query } = usePlace();
  const isSearch = (path[0] ?? "search") === "search";
  const asked = isSearch ? (query.get("q") ?? "") : "";
  const [typed, setTyped] = useState(asked);
  const box = useRef<HTMLInputElement>(null);
  const timer = useRef(0);
  useEffect(() => {
    // What stands in the address wins, except over what is being typed.
    if (!timer.current) setTyped(asked);
  }, [asked]);
  useKeys({ "/": () => box.current?.select() });
  const search = (text: string) => {
    clearTimeout(timer.current);
    timer.current = 0;
    if (isSearch && path[0]) setQuery({ q: text, why: null });
    else if (text) go(href("search", { q: text }));
  };
  const type = (text: string) => {
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => search(text), SETTLE_MS);
  };
  return (
    <form class="search-box" role="search" onSubmit={(event) => (event.preventDefault(), search(typed))}>
      <Icon name="search" />
      <input
        ref={box}
        type="search"
        aria-label={t.search.box}
        placeholder={t.search.placeholder}
        value={typed}
        maxLength={10_000}
        onInput={(event) => type(event.currentTarget.value)}
      />
      <kbd aria-hidden="true">/</kbd>
    </form>
  );
}

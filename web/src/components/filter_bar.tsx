// Filters that live in the address: namespace, kind, tag, tier, state, session, actor and time.
import { useEffect, useId, useState } from "preact/hooks";
import { call } from "../api";
import { useData } from "../data";
import { setQuery, usePlace } from "../router";
import { t } from "../strings";
import type { Facets } from "../types";
import { Button, Field, SelectField } from "./controls";
import { Icon } from "./icon";

export type FilterName = "namespace" | "kind" | "tag" | "tier" | "state" | "session" | "actor" | "since" | "until";

const LABELS: Record<FilterName, string> = {
  namespace: t.memory.namespace,
  kind: t.memory.kind,
  tag: t.memory.tags,
  tier: t.memory.tier,
  state: t.memory.state,
  session: t.memory.session,
  actor: t.memory.actor,
  since: t.memory.since,
  until: t.memory.until,
};
const AHEAD_MS = 1500;
const TIERS = ["short", "mid", "long"];
const STATES = ["living", "archived", "forgotten", "superseded", "any"];

/** The filters of *query* as the arguments of an operation. */
export function filterArguments(query: URLSearchParams): Record<string, unknown> {
  const one = (name: FilterName) => query.get(name) ?? undefined;
  const number = Number(query.get("session"));
  return {
    namespace: one("namespace") ?? "*",
    kinds: one("kind") && [one("kind")],
    tags: query.getAll("tag").length ? query.getAll("tag") : undefined,
    tier: one("tier"),
    state: one("state"),
    session: number > 0 ? number : undefined,
    actor: one("actor"),
    since: one("since"),
    until: one("until"),
  };
}

/** The filters that are set, as a key for `useData`. */
export function filterKey(query: URLSearchParams): string {
  return JSON.stringify(filterArguments(query));
}

export function FilterBar({ names }: { names: readonly FilterName[] }) {
  const { query } = usePlace();
  const set = names.flatMap((name) => query.getAll(name).map((value) => ({ name, value })));
  const [open, setOpen] = useState(set.length > 0);
  const [wanted, setWanted] = useState(open);
  useEffect(() => {
    // The first count of a large store takes a while: it is made once the page itself is there.
    const timer = setTimeout(() => setWanted(true), open ? 0 : AHEAD_MS);
    return () => clearTimeout(timer);
  }, [open]);
  const facets = useData(async (signal) => (wanted ? call<Facets>("facets", {}, signal) : undefined), [wanted]).data;
  const put = (name: FilterName, value: string) => setQuery({ [name]: value || null, offset: null });
  return (
    <section class="filters" aria-label={t.filters.label}>
      <div class="row">
        <Button icon="filter" aria-expanded={open} onClick={() => setOpen(!open)}>
          {t.filters.label}
        </Button>
        {set.map(({ name, value }) => (
          <button
            type="button"
            key={`${name} ${value}`}
            class="button chip"
            aria-label={t.filters.remove(LABELS[name], value)}
            onClick={() => setQuery({ [name]: query.getAll(name).filter((one) => one !== value), offset: null })}
          >
            {LABELS[name]}: {value} <Icon name="close" />
          </button>
        ))}
        {set.length > 1 && (
          <Button look="quiet" onClick={() => setQuery(Object.fromEntries([...names, "offset"].map((name) => [name, null])))}>
            {t.filters.clear}
          </Button>
        )}
      </div>
      {open && (
        <div class="filter-fields">
          {names.map((name) => (
            <Filter key={name} name={name} value={query.get(name) ?? ""} facets={facets} onValue={(value) => put(name, value)} />
          ))}
        </div>
      )}
    </section>
  );
}

interface FilterProps {
  name: FilterName;
  value: string;
  facets: Facets | undefined;
  onValue: (value: string) => void;
}

function Filter({ name, value, facets, onValue }: FilterProps) {
  const choices = useId();
  const label = LABELS[name];
  if (name === "tier" || name === "state") {
    const values = name === "tier" ? TIERS : STATES;
    const none = name === "state" ? ([] as const) : ([["", t.filters.any]] as const);
    const shown = value || (name === "state" ? "living" : "");
    return (
      <SelectField
        label={label}
        value={shown}
        onValue={(chosen) => onValue(name === "state" && chosen === "living" ? "" : chosen)}
        options={[...none, ...values.map((one) => [one, one] as const)]}
      />
    );
  }
  const known = Object.keys(facets?.[name as keyof Facets] ?? {});
  const type = name === "session" ? "number" : "text";
  return (
    <Field label={label}>
      {(id) => (
        <>
          <input
            id={id}
            key={value}
            type={type}
            list={known.length ? choices : undefined}
            defaultValue={value}
            placeholder={name === "since" ? "7d" : name === "until" ? "2026-01-31" : t.filters.any}
            onChange={(event) => onValue(event.currentTarget.value.trim())}
          />
          {known.length > 0 && (
            <datalist id={choices}>
              {known.map((one) => (
                <option key={one} value={one} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
}

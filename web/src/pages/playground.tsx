// The exact text that an agent would get, with its tokens; two settings or two moments side by side.
import { useState } from "preact/hooks";
import { call } from "../api";
import { Button, CheckField, SelectField, TextField } from "../components/controls";
import { TextDiff } from "../components/diff_view";
import { Loaded } from "../components/notices";
import { useData } from "../data";
import { AS_OF, setQuery, usePlace } from "../router";
import { t } from "../strings";
import type { PlaygroundReply } from "../types";

const NAMES = ["namespace", "limit", "budget", "floor", "around", "detail", "explain", "as_of"] as const;
type Name = (typeof NAMES)[number];
type Side = "a" | "b";

export default function PlaygroundPage() {
  const { query } = usePlace();
  const asked = query.get("ask") ?? "";
  const compares = query.has("compare");
  const [typed, setTyped] = useState(asked);
  const one = useReply(query, "a", asked);
  const other = useReply(query, "b", compares ? asked : "");
  return (
    <div class="page">
      <div class="page-head">
        <h1>{t.nav.playground}</h1>
      </div>
      <p class="faint">{t.playground.about}</p>
      <form class="card padded form" onSubmit={(event) => (event.preventDefault(), setQuery({ ask: typed.trim() }, true))}>
        <TextField label={t.playground.question} value={typed} onValue={setTyped} required autocomplete="off" />
        <CheckField label={t.playground.compare} checked={compares} onChecked={(on) => setQuery({ compare: on })} />
        <div class={compares ? "columns even" : "stack"}>
          <Settings side="a" query={query} />
          {compares && <Settings side="b" query={query} />}
        </div>
        <div class="form-end">
          <Button type="submit" look="primary">
            {t.playground.ask}
          </Button>
        </div>
      </form>
      {asked && (
        <div class={compares ? "columns even" : "stack"}>
          <Reply title={compares ? `${t.playground.reply} ${t.playground.one}` : t.playground.reply} data={one} />
          {compares && <Reply title={`${t.playground.reply} ${t.playground.other}`} data={other} />}
        </div>
      )}
      {asked && compares && one.data && other.data && (
        <details class="card padded">
          <summary>{t.playground.difference}</summary>
          <div class="code">
            <TextDiff before={pretty(one.data.text)} after={pretty(other.data.text)} />
          </div>
        </details>
      )}
    </div>
  );
}

function Settings({ side, query }: { side: Side; query: URLSearchParams }) {
  const put = (name: Name) => (value: string) => setQuery({ [`${side}_${name}`]: value });
  const get = (name: Name) => query.get(`${side}_${name}`) ?? "";
  return (
    <fieldset class="setting-side">
      <legend>{side === "a" ? t.playground.one : t.playground.other}</legend>
      <div class="form-row">
        <TextField label={t.memory.namespace} placeholder="*" value={get("namespace")} onValue={put("namespace")} autocomplete="off" />
        <TextField label={t.playground.asOf} placeholder={query.get(AS_OF) ?? "2026-01-31"} value={get("as_of")} onValue={put("as_of")} autocomplete="off" />
        <TextField label={t.playground.limit} type="number" min={1} max={100} placeholder="10" value={get("limit")} onValue={put("limit")} />
        <TextField label={t.playground.budget} type="number" min={50} value={get("budget")} onValue={put("budget")} />
        <TextField label={t.playground.floor} type="number" min={0} max={1} step={0.01} value={get("floor")} onValue={put("floor")} />
        <TextField label={t.playground.around} type="number" min={0} max={10} placeholder="0" value={get("around")} onValue={put("around")} />
        <SelectField label={t.playground.detail} value={get("detail")} onValue={put("detail")} options={[["", "brief"], ["full", "full"]]} />
      </div>
      <CheckField label={t.playground.explain} checked={get("explain") !== ""} onChecked={(on) => put("explain")(on ? "1" : "")} />
    </fieldset>
  );
}

/** The arguments of `recall` that the address holds for one side. */
function given(query: URLSearchParams, side: Side, asked: string): Record<string, unknown> {
  const get = (name: Name) => query.get(`${side}_${name}`) ?? undefined;
  const number = (name: Name) => (get(name) === undefined ? undefined : Number(get(name)));
  return {
    query: asked,
    namespace: get("namespace"),
    as_of: get("as_of") ?? query.get(AS_OF) ?? undefined,
    limit: number("limit"),
    budget_tokens: number("budget"),
    min_relevance: number("floor"),
    around: number("around"),
    detail: get("detail"),
    explain: get("explain") ? true : undefined,
  };
}

function useReply(query: URLSearchParams, side: Side, asked: string) {
  const arguments_ = given(query, side, asked);
  return useData(
    async (signal) =>
      asked ? call<PlaygroundReply>("playground", { tool: "recall", arguments: arguments_ }, signal) : undefined,
    [JSON.stringify(arguments_)],
  );
}

function Reply({ title, data }: { title: string; data: ReturnType<typeof useReply> }) {
  return (
    <section class="stack">
      <Loaded data={data}>
        {(reply) =>
          reply && (
            <>
              <div class="row">
                <h2>{title}</h2>
                <span class="badge number">{t.playground.tokens(reply.tokens)}</span>
                <span class="badge number">{t.playground.took(reply.milliseconds)}</span>
                {reply.is_error && <span class="badge bad">{t.playground.failed}</span>}
              </div>
              <pre class="text" dir="auto" tabIndex={0} aria-label={title}>
                {reply.text}
              </pre>
            </>
          )
        }
      </Loaded>
    </section>
  );
}

/** JSON with a line per value, so that two replies can be compared. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 1);
  } catch {
    return text;
  }
}

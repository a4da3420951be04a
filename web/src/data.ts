// Hooks that fetch.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { mayChange, revision, session } from "./api";
import { AS_OF, usePlace } from "./router";
import { useValue } from "./state";

export interface Data<T> {
  /** The newest reply; it stays while the next one is fetched. */
  data: T | undefined;
  error: Error | undefined;
  loading: boolean;
  reload: () => void;
}

/** What *fetch* answers, again when *deps*, the moment looked at or the store change. */
export function useData<T>(fetch: (signal: AbortSignal) => Promise<T>, deps: readonly unknown[]): Data<T> {
  const [data, setData] = useState<T>();
  const [error, setError] = useState<Error>();
  const [loading, setLoading] = useState(true);
  const [again, setAgain] = useState(0);
  const version = useValue(revision);
  const moment = usePlace().query.get(AS_OF);
  const latest = useRef(fetch);
  latest.current = fetch;
  useEffect(() => {
    const abort = new AbortController();
    setLoading(true);
    latest.current(abort.signal).then(
      (reply) => {
        if (abort.signal.aborted) return;
        setData(reply);
        setError(undefined);
        setLoading(false);
      },
      (problem: Error) => {
        if (abort.signal.aborted) return;
        setError(problem);
        setLoading(false);
      },
    );
    return () => abort.abort();
  }, [...deps, version, moment, again]);
  const reload = useCallback(() => setAgain((count) => count + 1), []);
  return { data, error, loading, reload };
}

/** *value* once it has not changed for *ms*. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

/** Whether buttons that change something are shown. */
export function useMayChange(): boolean {
  useValue(session);
  usePlace();
  return mayChange();
}

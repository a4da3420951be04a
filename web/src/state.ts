// Values that several components watch.
import { useEffect, useState } from "preact/hooks";

/** A value that components can watch with `useValue`. */
export class Value<T> {
  private readonly watchers = new Set<(value: T) => void>();

  constructor(private current: T) {}

  get(): T {
    return this.current;
  }

  set(value: T): void {
    if (Object.is(value, this.current)) return;
    this.current = value;
    for (const watcher of [...this.watchers]) watcher(value);
  }

  watch(watcher: (value: T) => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }
}

/** The current value, again whenever it changes. */
export function useValue<T>(value: Value<T>): T {
  const [seen, setSeen] = useState<{ now: T }>({ now: value.get() });
  useEffect(() => {
    setSeen({ now: value.get() });
    return value.watch((now) => setSeen({ now }));
  }, [value]);
  return seen.now;
}

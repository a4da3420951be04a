// Horizontal bars: the share of a whole, or the terms of a score.

export function Meter({ value, label }: { value: number; label: string }) {
  const share = Math.max(0, Math.min(1, value));
  return (
    <span class="meter" role="img" aria-label={label}>
      <span class="meter-fill" style={{ width: `${share * 100}%` }} />
    </span>
  );
}

/** Named numbers with bars; the largest fills its row, what lowers a score is drawn in another colour. */
export function Terms({ terms }: { terms: Record<string, number> }) {
  const entries = Object.entries(terms).filter(([, value]) => value !== 0);
  const largest = Math.max(...entries.map(([, value]) => Math.abs(value)), 1e-9);
  return (
    <dl class="terms">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name.replaceAll("_", " ")}</dt>
          <dd>
            <span class={value < 0 ? "bar minus" : "bar"}>
              <span style={{ width: `${(Math.abs(value) / largest) * 100}%` }} />
            </span>
            <span class="number">{value.toFixed(3)}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

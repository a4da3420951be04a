// Plots as SVG, each with the same numbers in a table for those who cannot see it.
import type { ComponentChildren } from "preact";
import { t } from "../strings";

export interface Point {
  day: string;
  value: number;
}

const [WIDTH, HEIGHT] = [600, 140];
const DAY_MS = 86_400_000;

function Figure(props: { title: string; rows: [string, string][]; children: ComponentChildren }) {
  return (
    <figure class="card padded plot">
      <figcaption>
        <h2>{props.title}</h2>
      </figcaption>
      {props.children}
      <details>
        <summary>{t.analytics.table}</summary>
        <table>
          <tbody>
            {props.rows.map(([name, value]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class="number">{value}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

/** A line over days, with the area below it. */
export function LinePlot({ title, points }: { title: string; points: Point[] }) {
  const largest = Math.max(...points.map((one) => one.value), 1);
  const [first, last] = [Date.parse(points[0]?.day ?? ""), Date.parse(points.at(-1)?.day ?? "")];
  const x = (day: string) => (last > first ? ((Date.parse(day) - first) / (last - first)) * WIDTH : WIDTH / 2);
  const y = (value: number) => HEIGHT - (value / largest) * (HEIGHT - 10);
  const single = points.length === 1 && points[0] ? [`0,${y(points[0].value)}`, `${WIDTH},${y(points[0].value)}`] : null;
  const line = (single ?? points.map((one) => `${x(one.day).toFixed(1)},${y(one.value).toFixed(1)}`)).join(" ");
  const rows = points.slice(-100).map((one): [string, string] => [one.day, one.value.toLocaleString()]);
  return (
    <Figure title={title} rows={rows}>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={t.analytics.plotted(title, points[0]?.day ?? "", points.at(-1)?.day ?? "", largest)}
        preserveAspectRatio="none"
      >
        <polygon class="area" points={`0,${HEIGHT} ${line} ${WIDTH},${HEIGHT}`} />
        <polyline class="line" points={line} />
      </svg>
      <p class="plot-ends faint">
        <span>{points[0]?.day}</span>
        <span class="number">{largest.toLocaleString()}</span>
        <span>{points.at(-1)?.day}</span>
      </p>
    </Figure>
  );
}

/** A square for each day of the year that ends with *until*, darker the more there was. */
export function HeatMap({ title, days, until }: { title: string; days: Record<string, number>; until: Date }) {
  const today = new Date(until.toISOString().slice(0, 10)).getTime();
  const start = today - 52 * 7 * DAY_MS - new Date(today).getUTCDay() * DAY_MS;
  const most = Math.max(...Object.values(days), 1);
  const cells = [];
  for (let at = start, place = 0; at <= today; at += DAY_MS, place++) {
    const day = new Date(at).toISOString().slice(0, 10);
    const level = days[day] ? 1 + Math.min(3, Math.floor((4 * Math.log1p(days[day])) / (Math.log1p(most) + 1e-9))) : 0;
    cells.push(
      <rect key={day} class={`heat heat-${level}`} x={Math.floor(place / 7) * 11} y={(place % 7) * 11} width={9} height={9} rx={2}>
        <title>{`${day}: ${(days[day] ?? 0).toLocaleString()}`}</title>
      </rect>,
    );
  }
  const busiest = Object.entries(days).sort((one, other) => other[1] - one[1]).slice(0, 30);
  return (
    <Figure title={title} rows={busiest.map(([day, value]) => [day, value.toLocaleString()])}>
      <svg class="heat-map" viewBox="0 0 583 77" role="img" aria-label={t.analytics.heated(title, most)}>
        {cells}
      </svg>
    </Figure>
  );
}

/** Horizontal bars, the largest first. */
export function BarPlot({ title, counts, link }: { title: string; counts: Record<string, number>; link?: (name: string) => string }) {
  const entries = Object.entries(counts).slice(0, 12);
  const largest = Math.max(...entries.map(([, value]) => value), 1);
  return (
    <section class="card padded plot">
      <h2>{title}</h2>
      <dl class="terms">
        {entries.map(([name, value]) => (
          <div key={name}>
            <dt dir="auto">{link ? <a href={link(name)}>{name}</a> : name}</dt>
            <dd>
              <span class="bar">
                <span style={{ width: `${(value / largest) * 100}%` }} />
              </span>
              <span class="number">{value.toLocaleString()}</span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

// What is linked to a memory, as a picture in rings and as a list for those who cannot see it.
import { excerpt } from "../format";
import { t } from "./strings";
import type { Link, Memory } from "../types";

export interface Surroundings {
  centre: number;
  memories: (Pick<Memory, "id" | "title" | "text"> & { distance: number })[];
  links: Link[];
}

const [WIDTH, HEIGHT] = [640, 360];
const LABEL = 26;

interface Point {
  x: number;
  y: number;
}

export function Neighbourhood({ around, onCentre }: { around: Surroundings; onCentre?: (id: number) => void }) {
  const places = placed(around);
  const titles = new Map(around.memories.map((one) => [one.id, one.title || excerpt(one.text, 60)]));
  const shown = around.links.filter((one) => places.has(one.source) && places.has(one.target));
  return (
    <section class="around" aria-label={t.around(titles.get(around.centre) ?? "")}>
      <h2 dir="auto">{t.around(titles.get(around.centre) ?? "")}</h2>
      {shown.length ? (
        <>
          <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={t.picture(places.size, shown.length)}>
            {shown.map((one) => {
              const [from, to] = [places.get(one.source) as Point, places.get(one.target) as Point];
              return <line key={one.id} x1={from.x} y1={from.y} x2={to.x} y2={to.y} />;
            })}
            {[...places].map(([id, { x, y }]) => (
              <g key={id} class={id === around.centre ? "centre" : ""} transform={`translate(${x} ${y})`} onClick={() => onCentre?.(id)}>
                <title>{titles.get(id)}</title>
                <circle r={id === around.centre ? 10 : 7} />
                <text y={y > HEIGHT / 2 ? 20 : -12}>{excerpt(titles.get(id) ?? "", LABEL)}</text>
              </g>
            ))}
          </svg>
          <ul class="links">
            {shown.map((one) => (
              <li key={one.id} dir="auto">
                <End id={one.source} titles={titles} onCentre={onCentre} /> <span class="faint">→ {one.type} →</span>{" "}
                <End id={one.target} titles={titles} onCentre={onCentre} />
              </li>
            ))}
          </ul>
        </>
      ) : (
        <p class="faint">{t.unlinked}</p>
      )}
    </section>
  );
}

function End({ id, titles, onCentre }: { id: number; titles: Map<number, string>; onCentre?: (id: number) => void }) {
  const title = titles.get(id);
  if (!onCentre) return <span>{title}</span>;
  return (
    <button type="button" class="as-link" onClick={() => onCentre(id)}>
      {title}
    </button>
  );
}

/** Where each memory is drawn: the centre in the middle, the others in a ring for each step away from it. */
function placed({ centre, memories }: Surroundings): Map<number, Point> {
  const farthest = Math.max(1, ...memories.map((one) => one.distance));
  const places = new Map<number, Point>();
  for (let step = 0; step <= farthest; step++) {
    const ring = memories.filter((one) => (one.id === centre ? 0 : Math.max(1, one.distance)) === step);
    ring.forEach((one, place) => {
      const angle = (2 * Math.PI * (place + step / 2)) / Math.max(ring.length, 3) - Math.PI / 2;
      const share = step / farthest;
      places.set(one.id, {
        x: WIDTH / 2 + share * (WIDTH / 2 - 90) * Math.cos(angle),
        y: HEIGHT / 2 + share * (HEIGHT / 2 - 30) * Math.sin(angle),
      });
    });
  }
  return places;
}

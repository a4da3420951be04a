// Line icons, drawn on a grid of 24.
const PATHS: Record<string, string> = {
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5",
  table: "M4 5h16v14H4zM4 10h16M10 10v9",
  graph: "M6 7.5 11 16M18 7.5 13 16M8 6h8M4 6a2 2 0 1 0 4 0 2 2 0 0 0-4 0zM16 6a2 2 0 1 0 4 0 2 2 0 0 0-4 0zM10 18a2 2 0 1 0 4 0 2 2 0 0 0-4 0z",
  review: "M5 4h14v16H5zM9 12l2 2 4-5",
  history: "M4 12a8 8 0 1 0 2.5-5.8M4 4v4h4M12 8v4l3 2",
  chat: "M4 5h16v11H9l-5 4z",
  live: "M12 12h.01M8.5 15.5a5 5 0 0 1 0-7M15.5 8.5a5 5 0 0 1 0 7M5.6 18.4a9 9 0 0 1 0-12.8M18.4 5.6a9 9 0 0 1 0 12.8",
  chart: "M4 20h16M7 16v-5M12 16V6M17 16v-8",
  play: "M7 5l11 7-11 7z",
  settings: "M4 7h10M18 7h2M4 17h2M10 17h10M14 5v4M8 15v4",
  api: "M8 7l-5 5 5 5M16 7l5 5-5 5M13.5 5l-3 14",
  close: "M6 6l12 12M18 6 6 18",
  menu: "M4 7h16M4 12h16M4 17h16",
  clock: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4l3 2",
  contrast: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 4v16M15 5v14M18 7.5v9",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 3v1M12 20v1M3 12h1M20 12h1M5.6 5.6l.7.7M17.7 17.7l.7.7M18.4 5.6l-.7.7M6.3 17.7l-.7.7",
  moon: "M20 14A8 8 0 1 1 10 4a6.5 6.5 0 0 0 10 10z",
  keyboard: "M3 7h18v10H3zM7 11h.01M11 11h.01M15 11h.01M8 14h8",
  filter: "M4 5h16l-6 8v6l-4-2v-4z",
  cards: "M4 5h7v6H4zM13 5h7v6h-7zM4 13h7v6H4zM13 13h7v6h-7z",
  up: "M6 15l6-6 6 6",
  down: "M6 9l6 6 6-6",
  left: "M15 6l-6 6 6 6",
  right: "M9 6l6 6-6 6",
  link: "M10 14l4-4M8 12l-2 2a3 3 0 0 0 4 4l2-2M16 12l2-2a3 3 0 0 0-4-4l-2 2",
  dot: "M12 11a1 1 0 1 0 0 2 1 1 0 0 0 0-2z",
};

export function Icon({ name }: { name: string }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name] ?? PATHS.dot} />
    </svg>
  );
}

// Fills the start page: the address to paste, and the store in numbers.
"use strict";

for (const line of document.querySelectorAll("[data-line]")) {
  line.textContent = line.dataset.line.replace("ORIGIN", location.origin);
}

const SHOWN = {
  total: "memories",
  links_count: "links",
  changes: "changes",
  pending_vectors: "waiting for vectors",
  db_size_bytes: "on disk",
};

function size(bytes) {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

function entry(name, value) {
  const row = document.createElement("div");
  const term = document.createElement("dt");
  const number = document.createElement("dd");
  term.textContent = SHOWN[name];
  number.textContent = name === "db_size_bytes" ? size(value) : value.toLocaleString();
  row.append(term, number);
  return row;
}

async function showStats() {
  const answer = await fetch("/api/v1/tools/mnemic/stats", { method: "POST", body: "{}" });
  const stats = await answer.json();
  if (!answer.ok) throw new Error(stats.error);
  const names = Object.keys(SHOWN).filter((name) => name in stats);
  document.getElementById("stats").append(...names.map((name) => entry(name, stats[name])));
}

showStats().catch((error) => {
  document.getElementById("problem").textContent = error.message;
});

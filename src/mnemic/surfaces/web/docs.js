// Shows the OpenAPI document as a page on which every tool can be tried.
"use strict";

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function resolve(api, schema) {
  if (!schema?.$ref) return schema ?? {};
  return schema.$ref.slice(2).split("/").reduce((part, key) => part[key], api);
}

function kind(api, schema) {
  const part = resolve(api, schema);
  if (part.enum) return part.enum.join(" | ");
  if (part.anyOf) return part.anyOf.map((choice) => kind(api, choice)).filter((name) => name !== "null").join(" | ");
  if (part.type === "array") return `list of ${kind(api, part.items)}`;
  return part.type ?? "anything";
}

function fields(api, schema) {
  const part = resolve(api, schema);
  const table = element("table");
  for (const [name, field] of Object.entries(part.properties ?? {})) {
    const row = element("tr");
    const first = element("td");
    first.append(element("code", name));
    const needed = (part.required ?? []).includes(name) ? "required" : "";
    const about = [needed, resolve(api, field).description ?? field.description].filter(Boolean).join("; ");
    row.append(first, element("td", kind(api, field)), element("td", about, { class: "faint" }));
    table.append(row);
  }
  return table;
}

function trial(verb, path, body) {
  const box = element("div");
  const input = element("textarea", "", { rows: 4, "aria-label": "arguments as JSON", spellcheck: "false" });
  const first = Object.values(body.examples ?? {})[0];
  input.value = JSON.stringify(first?.value ?? {}, null, 2);
  const button = element("button", "Try it");
  const output = element("pre", "", { role: "status", hidden: "" });
  button.addEventListener("click", async () => {
    const answer = await fetch(path, { method: verb, body: input.value });
    const text = await answer.text();
    output.hidden = false;
    output.className = answer.ok ? "" : "bad";
    output.textContent = `${answer.status}\n${pretty(text)}`;
  });
  box.append(input, button, output);
  return box;
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function operation(api, verb, path, part) {
  const box = element("details");
  const head = element("summary");
  head.append(element("code", `${verb.toUpperCase()} ${path}`), ` ${part.summary ?? ""}`);
  box.append(head, element("p", part.description));
  for (const parameter of part.parameters ?? []) {
    box.append(element("p", `${parameter.name} (in the ${parameter.in})`, { class: "faint" }));
  }
  const body = part.requestBody?.content["application/json"];
  if (body) box.append(fields(api, body.schema));
  if (body && !path.includes("{")) box.append(trial(verb.toUpperCase(), path, body));
  const reply = (part.responses["200"] ?? part.responses["201"])?.content?.["application/json"];
  const answered = reply && fields(api, reply.schema);
  if (answered?.hasChildNodes()) box.append(element("p", "Reply", { class: "faint" }), answered);
  return box;
}

async function show() {
  const api = await (await fetch("/api/v1/openapi.json")).json();
  document.getElementById("about").textContent = api.info.description;
  const groups = new Map([["daemon", []], ...api.tags.map((tag) => [tag.name, []])]);
  for (const [path, verbs] of Object.entries(api.paths)) {
    for (const [verb, part] of Object.entries(verbs)) {
      groups.get(part.tags?.[0] ?? "daemon").push(operation(api, verb, path, part));
    }
  }
  const main = document.getElementById("operations");
  for (const [name, boxes] of groups) main.append(element("h2", name), ...boxes);
}

show().catch((error) => {
  document.getElementById("about").textContent = `The document could not be read: ${error.message}`;
});

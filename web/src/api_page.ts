// The API page: Swagger UI over our OpenAPI document, with a search over paths and summaries.
import SwaggerUI from "swagger-ui";
import "swagger-ui/dist/swagger-ui.css";
import "./style/api.css";

/** The parts of an Immutable collection that the search uses. */
interface Collection {
  get(name: string): Collection;
  getIn(path: string[], otherwise: string): string;
  filter(keep: (entry: Collection) => boolean): Collection;
  map(change: (entry: Collection) => Collection): Collection;
  set(name: string, value: Collection): Collection;
  size: number;
}

/** Keeps the operations that hold *phrase* in path, method, summary or description. */
function opsFilter(tagged: Collection, phrase: string): Collection {
  const wanted = phrase.toLowerCase();
  const holds = (operation: Collection) =>
    [["path"], ["method"], ["operation", "summary"], ["operation", "description"]].some((place) =>
      String(operation.getIn(place, "")).toLowerCase().includes(wanted),
    );
  return tagged
    .map((group) => group.set("operations", group.get("operations").filter(holds)))
    .filter((group) => group.get("operations").size > 0);
}

const LABELS: [selector: string, label: string][] = [[".operation-filter-input", "Search operations"]];

/** Swagger UI leaves some controls without a name. */
function name(): void {
  for (const [selector, label] of LABELS) {
    const control = document.querySelector(selector);
    control?.setAttribute("aria-label", label);
    control?.setAttribute("placeholder", label);
  }
}

SwaggerUI({
  url: "/api/v1/openapi.json",
  dom_id: "#api",
  filter: true,
  deepLinking: true,
  docExpansion: "none",
  defaultModelsExpandDepth: -1,
  validatorUrl: null,
  plugins: [{ fn: { opsFilter } }],
  requestInterceptor: (request: { headers: Record<string, string> }) => {
    request.headers["Mnemic-Client"] = "dashboard";
    return request;
  },
  onComplete: name,
});

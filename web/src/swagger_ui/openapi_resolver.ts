// Resolves the references of an OpenAPI 3.1 document. Swagger UI's own resolver for 3.1 brings 100 kB of parsers and
// remote loading; our document refers only to itself, which the generic resolver follows as well.
import generic from "swagger-client/es/resolver/strategies/generic";

export default {
  ...generic,
  name: "openapi-3-1",
  match: (document: { openapi?: string }) => document.openapi?.startsWith("3.1.") ?? false,
};

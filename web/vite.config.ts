// Builds the dashboard into the Python package. File names are stable and nothing depends on the time or the
// machine, so the same sources give the same bytes.
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const source = (file: string) => fileURLToPath(new URL(`src/swagger_ui/${file}`, import.meta.url));

/** Heavy parts of Swagger UI and what takes their place. */
const LIGHT = [
  { find: "swagger-client/es/resolver/strategies/openapi-3-1-apidom", replacement: source("openapi_resolver.ts") },
  { find: "@swagger-api/apidom-reference/configuration/empty", replacement: source("url.ts") },
  { find: /^react-dom$/, replacement: source("react_dom.ts") },
  { find: /^react$/, replacement: "preact/compat" },
  { find: "react/jsx-runtime", replacement: "preact/jsx-runtime" },
];

/** Lists the folders of the packages in the bundle, for their licences. */
const packages: Plugin = {
  name: "packages",
  generateBundle(_, bundle) {
    const modules = Object.values(bundle).flatMap((part) => (part.type === "chunk" ? part.moduleIds : []));
    const folders = modules.flatMap((id) => id.match(/node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+(?=\/)/) ?? []);
    this.emitFile({ type: "asset", fileName: "packages.json", source: JSON.stringify([...new Set(folders)]) });
  },
};

export default defineConfig({
  base: "/web/",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  resolve: { alias: LIGHT },
  plugins: [packages],
  worker: { format: "es", rollupOptions: { output: { entryFileNames: "[name].js" } } },
  build: {
    outDir: "../src/mnemic/transports/http/web",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
    rollupOptions: {
      input: { index: "index.html", api: "api.html" },
      output: {
        entryFileNames: "[name].js",
        chunkFileNames: "[name].js",
        assetFileNames: "[name][extname]",
      },
    },
  },
});

// Builds the dashboard into the Python package. File names are stable and nothing depends on the time or the
// machine, so the same sources give the same bytes.
import { defineConfig } from "vite";

export default defineConfig({
  base: "/web/",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
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

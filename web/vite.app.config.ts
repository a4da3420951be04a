// Builds the MCP App into the native dialect: one HTML file with its script and style inside, since a client shows it
// in a frame that may load nothing.
import { defineConfig, type Plugin } from "vite";

const inside: Plugin = {
  name: "inside",
  enforce: "post",
  generateBundle(_, bundle) {
    const page = bundle["memories_app.html"];
    if (page?.type !== "asset") throw new Error("memories_app.html was not built");
    let html = String(page.source);
    for (const [name, part] of Object.entries(bundle)) {
      if (part === page) continue;
      const text = part.type === "chunk" ? part.code : String(part.source);
      const tag = part.type === "chunk" ? /<script type="module"[^>]*><\/script>/ : /<link rel="stylesheet"[^>]*>/;
      const own = part.type === "chunk" ? `<script type="module">${text.replaceAll("</script", "<\\/script")}</script>` : `<style>${text}</style>`;
      html = html.replace(tag, () => own);
      delete bundle[name];
    }
    page.source = html;
  },
};

export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  publicDir: false,
  plugins: [inside],
  build: {
    outDir: "../src/mnemic/dialects/native",
    emptyOutDir: false,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rollupOptions: { input: "memories_app.html" },
  },
});

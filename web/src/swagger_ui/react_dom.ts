// React's DOM interface over Preact, with `createRoot` where Swagger UI looks for it.
import { options } from "preact";
import compat from "preact/compat";
import { createRoot } from "preact/compat/client";

// React draws after all handlers of an event; Preact would draw between a button's handler and its heading's, and the
// second would undo the first.
options.debounceRendering = (draw) => void setTimeout(draw);

export default { ...compat, createRoot };
export const { createPortal, flushSync, unstable_batchedUpdates } = compat;

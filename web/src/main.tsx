// The dashboard: log in if the daemon asks for it, then the page that the address names.
import { render } from "preact";
import { enter, refresh, session } from "./api";
import { Login } from "./components/login";
import { Shell } from "./components/shell";
import { Waiting } from "./components/notices";
import { useValue } from "./state";
import { applyTheme } from "./theme";
import "./style/base.css";
import "./style/layout.css";
import "./style/components.css";
import "./style/pages.css";

function App() {
  const { state } = useValue(session);
  if (state === "login") return <Login />;
  return state === "open" ? <Shell /> : <Waiting />;
}

applyTheme();
// Another window, or an agent, may have changed something meanwhile.
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && refresh());
enter().catch(() => {});
const root = document.getElementById("app");
if (root) {
  root.textContent = "";
  render(<App />, root);
}

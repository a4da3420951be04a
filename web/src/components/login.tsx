// The login form. The daemon answers with a cookie that no script can read.
import { useState } from "preact/hooks";
import { login, Refused } from "../api";
import { t } from "../strings";
import { Button, TextField } from "./controls";

export function Login() {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      await login(token.trim());
    } catch (error) {
      const refused = error instanceof Refused && error.status === 401;
      setProblem(refused ? t.login.refused : (error as Error).message);
      setBusy(false);
    }
  };
  return (
    <main class="login">
      <form class="card" onSubmit={submit}>
        <h1>{t.login.heading}</h1>
        <p class="faint">{t.login.about}</p>
        <TextField
          label={t.login.token}
          type="password"
          value={token}
          onValue={setToken}
          problem={problem}
          required
          autocomplete="current-password"
        />
        <Button type="submit" look="primary" disabled={busy}>
          {t.login.submit}
        </Button>
      </form>
    </main>
  );
}

// The question before a connection or its statement is killed: it asks for an account, whose privileges count.
import { useEffect, useRef, useState } from "preact/hooks";
import { post } from "./data.js";

// The name is kept for the next time, the password never.
let lastUser = "";

export function Kill({ transaction, onEnd }) {
  const dialog = useRef(null);
  const [state, setState] = useState({ busy: false, error: null, done: null });
  useEffect(() => dialog.current.showModal(), []);
  const submit = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    lastUser = form.get("user");
    setState({ busy: true, error: null, done: null });
    try {
      const { done } = await post("/api/kill", {
        user: lastUser,
        password: form.get("password"),
        connection: transaction.connection,
        statement_only: form.get("what") === "statement",
      });
      setState({ busy: false, error: null, done });
    } catch (error) {
      setState({ busy: false, error, done: null });
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby="kill-title" onClose={onEnd}>
      <h2 id="kill-title">Kill connection {transaction.connection}?</h2>
      <p>
        {transaction.user && `${transaction.user}@${transaction.host}: `}
        <code>{transaction.statement ?? "(idle)"}</code>
      </p>
      {state.done ? (
        <>
          <p role="status">{state.done}: done</p>
          <button autofocus onClick={() => dialog.current.close()}>Close</button>
        </>
      ) : (
        <form class="token" onSubmit={submit}>
          <fieldset>
            <legend>What ends</legend>
            <label><input type="radio" name="what" value="connection" defaultChecked /> the connection; its transaction is rolled back</label>
            <label><input type="radio" name="what" value="statement" /> only the statement that it executes</label>
          </fieldset>
          <label>
            Account
            <input name="user" autocomplete="off" required autofocus defaultValue={lastUser} />
          </label>
          <label>
            Password
            <input name="password" type="password" autocomplete="off" />
          </label>
          <small>Other accounts' sessions need the privilege CONNECTION ADMIN.</small>
          {state.error && <p class="error" role="alert">{state.error.message}</p>}
          <div class="choice">
            <button disabled={state.busy}>Kill</button>
            <button type="button" onClick={() => dialog.current.close()}>Cancel</button>
          </div>
        </form>
      )}
    </dialog>
  );
}

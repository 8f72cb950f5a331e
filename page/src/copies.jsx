// Copies of the data elsewhere: backups that this server has sent, archives that read its log.
import { bytes, micros } from "./data.js";
import { Scrolled } from "./scrolled.jsx";

/** Returns how a backup has ended, or that it has not. */
function state(backup) {
  if (backup.error) return `failed: ${backup.error}`;
  return backup.end_usec === null ? "running" : "complete";
}

function Archives({ archives }) {
  if (!archives.length) return <p class="empty">No archive is connected.</p>;
  return (
    <ul aria-label="archives" class="topology">
      {archives.map((one) => (
        <li class="server">
          <b>{one.host}{one.port ? `:${one.port}` : ""}</b> archive
          <dl>
            <dt>to send</dt>
            <dd>{bytes(one.lag_bytes)}, {one.lag_seconds === null ? "unknown" : `${one.lag_seconds} s`}</dd>
            <dt>sent up to</dt>
            <dd><code>{one.gtid_position || "–"}</code></dd>
          </dl>
        </li>
      ))}
    </ul>
  );
}

export function Copies({ overview }) {
  const { backups } = overview;
  return (
    <>
      <Archives archives={overview.readers.filter((one) => one.kind === "archive")} />
      {!backups.length && <p class="empty">No backup has been made.</p>}
      {backups.length > 0 && (
        <Scrolled label="backups">
          <table>
            <thead>
              <tr>
                <th scope="col">begun (UTC)</th>
                <th scope="col">backup</th>
                <th scope="col">account</th>
                <th scope="col" class="number">took</th>
                <th scope="col" class="number">size</th>
                <th scope="col">contains</th>
                <th scope="col">state</th>
              </tr>
            </thead>
            <tbody>
              {backups.map((one) => (
                <tr>
                  <th scope="row">{new Date(one.start_usec / 1000).toISOString().slice(0, 19).replace("T", " ")}</th>
                  <td>{one.kind}</td>
                  <td>{one.account}</td>
                  <td class="number">{one.end_usec === null ? "–" : micros(one.end_usec - one.start_usec)}</td>
                  <td class="number">{bytes(one.bytes)}</td>
                  <td><code>{one.gtid_position ?? "–"}</code></td>
                  <td class={one.error ? "bad" : ""}>{state(one)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scrolled>
      )}
    </>
  );
}

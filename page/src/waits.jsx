// Transactions, and who waits for whom as a graph: blockers on the left, those that wait on the right. Waits for rows have
// solid edges, those for metadata locks broken ones.
import { useState } from "preact/hooks";
import { micros } from "./data.js";
import { Kill } from "./kill.jsx";
import { Scrolled } from "./scrolled.jsx";

const WIDTH = 300;
const HEIGHT = 64;
const GAP = 70;

/** Returns the column of each transaction in the graph: one more than that of what it waits for. */
export function columns(waits) {
  const blockers = new Map(waits.map(({ waiting, blocking }) => [waiting, blocking]));
  const column = new Map();
  const of = (connection, path) => {
    if (path.has(connection)) return 0;
    if (!column.has(connection)) {
      const before = (blockers.get(connection) ?? []).map((one) => of(one, new Set([...path, connection])));
      column.set(connection, before.length ? 1 + Math.max(...before) : 0);
    }
    return column.get(connection);
  };
  for (const { waiting, blocking } of waits) [waiting, ...blocking].forEach((one) => of(one, new Set()));
  return column;
}

function Graph({ sessions, waits, onKill }) {
  const column = columns(waits);
  const rows = new Map();
  const places = new Map();
  for (const [connection, at] of column) {
    const row = rows.get(at) ?? 0;
    rows.set(at, row + 1);
    places.set(connection, { x: at * (WIDTH + GAP), y: row * (HEIGHT + 16) });
  }
  const width = (1 + Math.max(...column.values())) * (WIDTH + GAP) - GAP;
  const height = Math.max(...rows.values()) * (HEIGHT + 16);
  const known = new Map(sessions.map((one) => [one.connection, one]));
  const label = waits.map(({ waiting, blocking, object }) => `${waiting} waits for ${blocking.join(", ")} at ${object}`).join("; ");
  return (
    <div class="graph">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group" aria-label={label}>
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse">
            <path d="M0 0 8 4 0 8z" class="arrow" />
          </marker>
        </defs>
        {waits.flatMap(({ waiting, blocking, kind, object }) =>
          blocking.map((blocker) => {
            const [from, to] = [places.get(waiting), places.get(blocker)];
            const [x1, y1, x2, y2] = [from.x, from.y + HEIGHT / 2, to.x + WIDTH, to.y + HEIGHT / 2];
            const line = `M${x1} ${y1}C${x1 - GAP / 2} ${y1} ${x2 + GAP / 2} ${y2} ${x2 + 2} ${y2}`;
            return <path class={`edge ${kind}`} d={line} marker-end="url(#arrow)"><title>{object}</title></path>;
          }),
        )}
        {[...places].map(([connection, { x, y }]) => (
          <foreignObject x={x} y={y} width={WIDTH} height={HEIGHT}>
            <div class="node">
              <button class="kill" aria-label={`kill connection ${connection}`} onClick={() => onKill(connection)}>kill</button>
              <b>{connection}</b> {known.get(connection)?.user}
              <code>{known.get(connection)?.statement ?? "(idle)"}</code>
            </div>
          </foreignObject>
        ))}
      </svg>
    </div>
  );
}

export function Transactions({ data }) {
  const { transactions, waits, sessions } = data;
  // The transaction as it was when the button was pressed: it may be gone before the answer.
  const [chosen, setChosen] = useState(null);
  const onKill = (connection) => setChosen(sessions.find((one) => one.connection === connection) ?? { connection });
  return (
    <>
      {chosen && <Kill transaction={chosen} onEnd={() => setChosen(null)} />}
      {!transactions.length && <p class="empty">No transaction is open.</p>}
      {waits.length > 0 ? <Graph sessions={sessions} waits={waits} onKill={onKill} /> : <p class="empty">Nobody waits for a lock.</p>}
      {transactions.length > 0 && <List transactions={transactions} />}
    </>
  );
}

function List({ transactions }) {
  return (
    <Scrolled label="open transactions">
      <table>
        <thead>
          <tr>
            <th scope="col">connection</th>
            <th scope="col">user</th>
            <th scope="col" class="number">age</th>
            <th scope="col" class="number">locks</th>
            <th scope="col" class="number">rows</th>
            <th scope="col">statement</th>
          </tr>
        </thead>
        <tbody>
          {transactions.map((one) => (
            <tr>
              <th scope="row">{one.connection}</th>
              <td>{one.user}@{one.host}</td>
              <td class="number">{micros(one.age_usec)}</td>
              <td class="number">{one.locks}</td>
              <td class="number">{one.rows_changed}</td>
              <td><code>{one.statement ?? "–"}</code></td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolled>
  );
}

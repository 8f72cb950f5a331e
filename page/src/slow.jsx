// The latest slow statements, each with its plan.
import { count, micros } from "./data.js";
import { Scrolled } from "./scrolled.jsx";

function Plan({ columns, lines }) {
  return (
    <Scrolled label="plan">
      <table>
        <thead>
          <tr>{columns.map((name) => <th scope="col">{name}</th>)}</tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr>{line.map((cell) => <td>{cell ?? "–"}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </Scrolled>
  );
}

export function SlowStatements({ data }) {
  if (!data.statements.length) {
    return <p class="empty">No statement has taken longer than long_query_time ({micros(data.long_query_usec)}).</p>;
  }
  return (
    <ul class="slow" aria-label="slow statements">
      {data.statements.map((one) => (
        <li key={`${one.start_usec} ${one.text}`}>
          <code>{one.text}</code>
          <p>
            {micros(one.duration_usec)} at <time>{new Date(one.start_usec / 1000).toISOString().slice(0, 19).replace("T", " ")}</time>
            {one.database && ` in ${one.database}`} · {count(one.rows_examined)} rows read, {count(one.rows_sent)} sent,{" "}
            {count(one.rows_affected)} changed
            {one.error && <span class="bad"> · error {one.error}</span>}
          </p>
          {one.plan.length > 0 ? (
            <details>
              <summary>plan</summary>
              <Plan columns={data.plan_columns} lines={one.plan} />
            </details>
          ) : (
            <p class="empty">It has no plan.</p>
          )}
        </li>
      ))}
    </ul>
  );
}

// The page of a server: what it is, what it does, what is slow, who waits.
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { INTERVAL_MS, POINTS_MAX, bytes, count, duration, get, micros, point, token } from "./data.js";
import { Copies } from "./copies.jsx";
import { Plot } from "./plot.jsx";
import { Scrolled } from "./scrolled.jsx";
import { SlowStatements } from "./slow.jsx";
import { Transactions } from "./waits.jsx";
import "./page.css";

/** Characters of a digest from which on it is folded. */
const FOLDED_FROM = 160;

/** Asks for a path again and again while the page is visible. */
function useData(path, onData) {
  const [state, setState] = useState({ data: null, error: null });
  useEffect(() => {
    let timer = null;
    let ended = false;
    const ask = async () => {
      if (!document.hidden) {
        try {
          const data = await get(path);
          if (ended) return;
          onData?.(data);
          setState({ data, error: null });
        } catch (error) {
          if (ended) return;
          setState((before) => ({ ...before, error }));
        }
      }
      timer = setTimeout(ask, INTERVAL_MS);
    };
    ask();
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, []);
  return state;
}

function Section({ title, children, note }) {
  const id = title.toLowerCase().replaceAll(" ", "-");
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>
        {title} {note && <small>{note}</small>}
      </h2>
      {children}
    </section>
  );
}

/** Shows data, or that it is loading, or why it is not there. */
function Loaded({ state, children }) {
  if (state.data) return children(state.data);
  if (state.error) return <p class="error">{state.error.message}</p>;
  return <p class="empty" aria-busy="true">Loading …</p>;
}

function Token() {
  const field = useRef(null);
  const enter = (event) => {
    event.preventDefault();
    token.set(field.current.value.trim());
    location.reload();
  };
  return (
    <form class="token" onSubmit={enter}>
      <h1>Paceline</h1>
      <label>
        Token of this server (<code>--http-token-file</code>)
        <input ref={field} type="password" autocomplete="off" required autofocus />
      </label>
      <button>Show</button>
    </form>
  );
}

function roleOf(overview) {
  if (overview.connections.length) return "replica";
  return overview.read_only ? "read-only" : "primary";
}

/** Returns a lag in seconds as text; null is unknown. */
function behind(seconds) {
  return seconds === null ? "unknown" : `${seconds} s`;
}

/** A server that reads the log of this one. What it has applied is not known here, only what it was sent. */
function Reader({ reader }) {
  return (
    <li class="server">
      <b>{reader.host}{reader.port ? `:${reader.port}` : ""}</b> {reader.kind}
      <dl>
        <dt>server id</dt>
        <dd>{reader.server_id}</dd>
        <dt>to send</dt>
        <dd>{bytes(reader.lag_bytes)}, {behind(reader.lag_seconds)}</dd>
        <dt>sent up to</dt>
        <dd><code>{reader.gtid_position || "–"}</code></dd>
      </dl>
    </li>
  );
}

function Topology({ overview }) {
  const replicas = overview.readers.filter((one) => one.kind === "replica");
  const self = `${overview.hostname}:${overview.port}`;
  return (
    <div class="topology">
      {overview.connections.length > 0 && (
        <ul aria-label="primaries">
          {overview.connections.map((one) => (
            <li class={one.applier && one.receiver === "Yes" ? "server" : "server bad"}>
              <b>{one.host}:{one.port}</b> primary{one.name && ` “${one.name}”`}
              <dl>
                <dt>behind</dt>
                <dd>{behind(one.seconds_behind)}</dd>
                <dt>to apply</dt>
                <dd>{bytes(one.lag_bytes)}, {count(one.lag_transactions)} transactions</dd>
                <dt>held back by</dt>
                <dd>{one.held_back_by}</dd>
                <dt>received</dt>
                <dd><code>{one.gtid_position || "–"}</code></dd>
              </dl>
              {one.error && <p class="error">{one.error}</p>}
            </li>
          ))}
        </ul>
      )}
      <ul aria-label="this server">
        <li class="server self">
          <b>{self}</b> {roleOf(overview)}
          <dl>
            <dt>server id</dt>
            <dd>{overview.server_id}</dd>
            <dt>position</dt>
            <dd><code>{overview.gtid_position || "–"}</code></dd>
            <dt>semi-sync</dt>
            <dd>{overview.semi_sync.on ? `on, ${overview.semi_sync.clients} acknowledge` : "off"}</dd>
          </dl>
        </li>
      </ul>
      <ul aria-label="replicas">
        {replicas.map((one) => <Reader reader={one} />)}
        {!replicas.length && <li class="empty">No replica is connected.</li>}
      </ul>
    </div>
  );
}

/** The text of a digest. A long one is folded: it would hide the others. */
function Digest({ text }) {
  const [open, setOpen] = useState(false);
  if (!text) return "(all beyond performance_schema_digests_size)";
  if (text.length <= FOLDED_FROM) return <code>{text}</code>;
  return (
    <details onToggle={(event) => setOpen(event.target.open)}>
      <summary><code>{open ? text : `${text.slice(0, FOLDED_FROM)} …`}</code></summary>
    </details>
  );
}

function Statements({ data }) {
  const [by, setBy] = useState("total_usec");
  const names = { total_usec: "time", executions: "executions", p99_usec: "p99", errors: "errors" };
  if (!data.statements.length) return <p class="empty">No statement has been counted. Is performance_schema OFF?</p>;
  const sorted = [...data.statements].sort((one, other) => other[by] - one[by]).slice(0, 20);
  return (
    <>
      <div class="choice" role="group" aria-label="order">
        {Object.entries(names).map(([key, name]) => (
          <button aria-pressed={by === key} onClick={() => setBy(key)}>{name}</button>
        ))}
      </div>
      <Scrolled label="statements by digest">
        <table>
          <thead>
            <tr>
              <th scope="col">statement</th>
              <th scope="col">database</th>
              {["executions", "errors", "time", "p50", "p95", "p99"].map((name) => <th scope="col" class="number">{name}</th>)}
            </tr>
          </thead>
          <tbody>
            {sorted.map((one) => (
              <tr key={`${one.database} ${one.text}`}>
                <td><Digest text={one.text} /></td>
                <td>{one.database ?? "–"}</td>
                <td class="number">{count(one.executions)}</td>
                <td class={one.errors ? "number bad" : "number"}>{count(one.errors)}</td>
                <td class="number">{micros(one.total_usec)}</td>
                <td class="number">{micros(one.p50_usec)}</td>
                <td class="number">{micros(one.p95_usec)}</td>
                <td class="number">{micros(one.p99_usec)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolled>
    </>
  );
}

function Files({ overview }) {
  const total = overview.files.reduce((sum, file) => sum + file.bytes, 0);
  return (
    <div class="table">
      <table>
        <thead>
          <tr>
            <th scope="col">file</th>
            <th scope="col" class="number">size</th>
          </tr>
        </thead>
        <tbody>
          {overview.files.slice(-10).reverse().map((file) => (
            <tr>
              <th scope="row">{file.name}</th>
              <td class="number">{bytes(file.bytes)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{overview.files.length} files</th>
            <td class="number">{bytes(total)}</td>
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

function Page() {
  const before = useRef(null);
  const [points, setPoints] = useState([]);
  const overview = useData("/api/overview", (now) => {
    if (before.current && now.uptime_seconds >= before.current.uptime_seconds) {
      const next = point(before.current, now);
      setPoints((all) => [...all, next].slice(-POINTS_MAX));
    }
    before.current = now;
  });
  const statements = useData("/api/statements");
  const slow = useData("/api/slow-statements");
  const transactions = useData("/api/transactions");
  if (overview.error?.status === 401) return <Token />;
  return (
    <>
      <header>
        <h1>Paceline</h1>
        {overview.data && (
          <p>
            <span class={`role ${roleOf(overview.data)}`}>{roleOf(overview.data)}</span> {overview.data.hostname}:{overview.data.port}{" "}
            · {overview.data.version} · up {duration(overview.data.uptime_seconds)}
          </p>
        )}
        {overview.error && (
          <p class="error" role="alert">{overview.error.message}{overview.data && " What is below is its last answer."}</p>
        )}
      </header>
      <main>
        <Loaded state={overview}>
          {(data) => (
            <>
              <Section title="Now">
                <ul class="tiles">
                  {[
                    ["sessions", count(data.gauges.sessions)],
                    ["running", count(data.gauges.running)],
                    ["open transactions", count(data.gauges.open_transactions)],
                    ["lock waits", count(data.gauges.lock_waits)],
                    ["deadlocks", count(data.counters.deadlocks)],
                    ["slow statements", count(data.counters.slow_queries)],
                    ["memory", bytes(data.gauges.memory_bytes)],
                    ["table files", bytes(data.gauges.table_file_bytes)],
                  ].map(([name, value]) => (
                    <li>
                      <b>{value}</b> {name}
                    </li>
                  ))}
                </ul>
                <div class="plots">
                  <Plot title="commits per second" points={points} series={[{ of: "commits" }]} format={count} />
                  <Plot title="statements per second" points={points} series={[{ of: "questions" }]} format={count} />
                  <Plot title="statement latency" points={points} series={[{ of: "statement50", name: "p50" }, { of: "statement99", name: "p99" }]} format={micros} />
                  <Plot title="transactions per sync" points={points} series={[{ of: "group" }]} format={count} />
                  <Plot title="sync of the log" points={points} series={[{ of: "sync50", name: "p50" }, { of: "sync99", name: "p99" }]} format={micros} />
                  <Plot title="commit latency" points={points} series={[{ of: "commit50", name: "p50" }, { of: "commit99", name: "p99" }]} format={micros} />
                </div>
              </Section>
              <Section title="Topology">
                <Topology overview={data} />
              </Section>
            </>
          )}
        </Loaded>
        <Section title="Statements" note="by digest, since the start">
          <Loaded state={statements}>{(data) => <Statements data={data} />}</Loaded>
        </Section>
        <Section title="Slow statements" note="the latest, with their plans; times in UTC">
          <Loaded state={slow}>{(data) => <SlowStatements data={data} />}</Loaded>
        </Section>
        <Section title="Transactions">
          <Loaded state={transactions}>{(data) => <Transactions data={data} />}</Loaded>
        </Section>
        {overview.data?.latest_deadlock && (
          <Section title="Latest deadlock">
            <pre tabindex="0">{overview.data.latest_deadlock}</pre>
          </Section>
        )}
        <Section title="Binary log">
          <Loaded state={overview}>{(data) => <Files overview={data} />}</Loaded>
        </Section>
        <Section title="Backups and archives" note="since the start">
          <Loaded state={overview}>{(data) => <Copies overview={data} />}</Loaded>
        </Section>
      </main>
    </>
  );
}

render(<Page />, document.getElementById("page"));

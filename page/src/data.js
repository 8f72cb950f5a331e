// Data of the server: requests, and what follows from two answers.

/** Time between two requests, in milliseconds. */
export const INTERVAL_MS = 2000;
/** Number of points that a plot keeps: 6 minutes. */
export const POINTS_MAX = 180;

const TOKEN = "paceline-token";

export const token = {
  get: () => sessionStorage.getItem(TOKEN),
  set: (value) => sessionStorage.setItem(TOKEN, value),
};

/** A request that the server refused, or that did not reach it. */
export class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

async function ask(path, options, headers = {}) {
  if (token.get()) headers.Authorization = `Bearer ${token.get()}`;
  let answer;
  try {
    answer = await fetch(path, { ...options, headers, cache: "no-store" });
  } catch {
    throw new Refused(0, "The server does not answer.");
  }
  if (!answer.ok) throw new Refused(answer.status, reason(await answer.text()));
  return answer.json();
}

/** Returns the text of a refusal: MariaDB's error, if it is one. */
function reason(text) {
  try {
    const { number, sqlstate, text: said } = JSON.parse(text).error;
    return `${number} (${sqlstate}): ${said}`;
  } catch {
    return text.trim();
  }
}

export const get = (path) => ask(path, {});

export const post = (path, body) => ask(path, { method: "POST", body: JSON.stringify(body) }, { "Content-Type": "application/json" });

/** Returns an upper bound that `percent` of the values between two histograms do not exceed; null without values. */
export function percentile(before, now, percent) {
  const counts = now.buckets.map((count, bucket) => count - (before.buckets[bucket] ?? 0));
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total <= 0) return null;
  let seen = 0;
  for (const [bucket, count] of counts.entries()) {
    seen += count;
    if (seen >= (total * percent) / 100) return 2 ** bucket - 1;
  }
  return null;
}

/** Returns the point of the plots between two overviews. */
export function point(before, now) {
  const seconds = (now.time_ms - before.time_ms) / 1000;
  const rate = (name) => Math.max(0, now.counters[name] - before.counters[name]) / seconds;
  const commits = now.counters.commits - before.counters.commits;
  const groups = now.counters.groups - before.counters.groups;
  const of = (name, percent) => percentile(before.histograms[name], now.histograms[name], percent);
  return {
    time: now.time_ms / 1000,
    commits: rate("commits"),
    questions: rate("questions"),
    group: groups > 0 ? commits / groups : null,
    sync50: of("sync_usec", 50),
    sync99: of("sync_usec", 99),
    commit50: of("commit_usec", 50),
    commit99: of("commit_usec", 99),
    statement50: of("statement_usec", 50),
    statement99: of("statement_usec", 99),
  };
}

export function bytes(number) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (number >= 1024 && unit < units.length - 1) {
    number /= 1024;
    unit += 1;
  }
  return `${number.toFixed(unit && number < 100 ? 1 : 0)} ${units[unit]}`;
}

export function micros(number) {
  if (number === null || number === undefined) return "–";
  if (number < 1000) return `${Math.round(number)} µs`;
  if (number < 1_000_000) return `${(number / 1000).toFixed(number < 10_000 ? 1 : 0)} ms`;
  return `${(number / 1_000_000).toFixed(1)} s`;
}

export function count(number) {
  return new Intl.NumberFormat("en", { maximumFractionDigits: number < 10 ? 1 : 0 }).format(number);
}

export function duration(seconds) {
  const parts = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const first = parts.findIndex(([size]) => seconds >= size);
  if (first < 0) return "0 s";
  const [size, name] = parts[first];
  const rest = parts[first + 1];
  const left = rest ? Math.floor((seconds % size) / rest[0]) : 0;
  return `${Math.floor(seconds / size)} ${name}${left ? ` ${left} ${rest[1]}` : ""}`;
}

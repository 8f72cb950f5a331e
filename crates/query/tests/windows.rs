//! Sliding frames against frames that are computed again for every row: random tables, random windows, all aggregates.

mod harness;

use std::fmt::Write as _;

use harness::Server;

/// Xorshift generator: the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    fn number(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }

    fn maybe(&mut self, low: i64, high: i64) -> Option<i64> {
        (self.below(6) > 0).then(|| self.number(low, high))
    }
}

#[derive(Clone, Copy, Debug)]
struct Row {
    id: i64,
    group: Option<i64>,
    key: Option<i64>,
    value: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    Unbounded,
    Current,
    Preceding(i64),
    Following(i64),
}

#[derive(Clone, Copy, Debug)]
struct Window {
    partitioned: bool,
    descending: bool,
    /// Whether the frame is RANGE over `key`. Otherwise it is ROWS over `id`.
    range: bool,
    start: Bound,
    end: Bound,
}

impl Window {
    fn random(random: &mut Random) -> Self {
        loop {
            let mut bound = || match random.below(6) {
                0 => Bound::Unbounded,
                1 => Bound::Current,
                2 | 3 => Bound::Preceding(random.number(0, 6)),
                _ => Bound::Following(random.number(0, 6)),
            };
            let (start, end) = (bound(), bound());
            if matches!(
                (start, end),
                (Bound::Current, Bound::Preceding(_)) | (Bound::Following(_), Bound::Current)
            ) {
                continue;
            }
            return Window {
                partitioned: random.below(2) == 0,
                descending: random.below(3) == 0,
                range: random.below(2) == 0,
                start,
                end,
            };
        }
    }

    fn sql(&self) -> String {
        let bound = |bound: Bound, unbounded: &str| match bound {
            Bound::Unbounded => format!("UNBOUNDED {unbounded}"),
            Bound::Current => "CURRENT ROW".to_owned(),
            Bound::Preceding(n) => format!("{n} PRECEDING"),
            Bound::Following(n) => format!("{n} FOLLOWING"),
        };
        format!(
            "({} ORDER BY {} {} {} BETWEEN {} AND {})",
            if self.partitioned { "PARTITION BY g" } else { "" },
            if self.range { "k" } else { "id" },
            if self.descending { "DESC" } else { "" },
            if self.range { "RANGE" } else { "ROWS" },
            bound(self.start, "PRECEDING"),
            bound(self.end, "FOLLOWING"),
        )
    }

    /// Returns the rows of a row's frame, in the window's order.
    fn frame(&self, rows: &[Row], row: &Row) -> Vec<Row> {
        let mut partition: Vec<Row> = rows
            .iter()
            .copied()
            .filter(|other| !self.partitioned || other.group == row.group)
            .collect();
        partition.sort_by_key(|row| (if self.range { row.key } else { Some(row.id) }, row.id));
        if self.descending {
            // The sort is stable: rows with equal keys stay in the order of their numbers.
            partition.sort_by_key(|row| std::cmp::Reverse(if self.range { row.key } else { Some(row.id) }));
        }
        let here = partition
            .iter()
            .position(|other| other.id == row.id)
            .expect("it is there") as i64;
        let sign = if self.descending { -1 } else { 1 };
        let inside = |place: i64, other: &Row, bound: Bound, first: bool| {
            let reaches = |distance: i64| match self.range {
                // Distances are in the direction of the order. A NULL is near other NULLs only, at any distance.
                true => match (other.key, row.key) {
                    (Some(other), Some(here)) => sign * (other - here) - distance,
                    (None, None) => 0,
                    (None, Some(_)) => -sign,
                    (Some(_), None) => sign,
                },
                false => place - here - distance,
            };
            let beyond = match bound {
                Bound::Unbounded => return true,
                Bound::Current => reaches(0),
                Bound::Preceding(n) => reaches(-n),
                Bound::Following(n) => reaches(n),
            };
            if first { beyond >= 0 } else { beyond <= 0 }
        };
        (0i64..)
            .zip(&partition)
            .filter(|(place, other)| {
                inside(*place, other, self.start, true) && inside(*place, other, self.end, false)
            })
            .map(|(_, row)| *row)
            .collect()
    }
}

fn text(value: Option<i64>) -> String {
    value.map_or("NULL".to_owned(), |value| value.to_string())
}

/// Returns the results of [`FUNCTIONS`] for a frame.
fn expected(frame: &[Row]) -> Vec<String> {
    let values: Vec<i64> = frame.iter().filter_map(|row| row.value).collect();
    let bits = |start: u64, fold: fn(u64, u64) -> u64| {
        values.iter().fold(start, |all, value| fold(all, *value as u64))
    };
    vec![
        frame.len().to_string(),
        values.len().to_string(),
        text((!values.is_empty()).then(|| values.iter().sum())),
        text(values.iter().min().copied()),
        text(values.iter().max().copied()),
        bits(u64::MAX, |all, value| all & value).to_string(),
        bits(0, |all, value| all | value).to_string(),
        bits(0, |all, value| all ^ value).to_string(),
        text(frame.first().map(|row| row.id)),
        text(frame.last().map(|row| row.id)),
        text(frame.get(2).map(|row| row.id)),
        text((!values.is_empty()).then(|| values.iter().sum::<i64>() * 2)),
    ]
}

const FUNCTIONS: &[&str] = &[
    "COUNT(*)",
    "COUNT(v)",
    "SUM(v)",
    "MIN(v)",
    "MAX(v)",
    "BIT_AND(v)",
    "BIT_OR(v)",
    "BIT_XOR(v)",
    "FIRST_VALUE(id)",
    "LAST_VALUE(id)",
    "NTH_VALUE(id, 3)",
    "SUM(v * 2.0)",
];

#[test]
fn sliding_frames_agree_with_frames_computed_for_each_row() {
    let mut random = Random(0x5eed_1234_5678_9abc);
    let mut server = Server::new();
    for statement in [
        "CREATE DATABASE test",
        "CREATE TABLE test.t (id INT PRIMARY KEY, g INT, k INT, v INT)",
    ] {
        server.run(statement).result.expect("made");
    }
    server.use_database("test");
    for _ in 0..12 {
        server.run("DELETE FROM t").result.expect("emptied");
        let rows: Vec<Row> = (0..random.number(0, 40))
            .map(|id| Row {
                id,
                group: random.maybe(1, 4),
                key: random.maybe(-5, 12),
                value: random.maybe(-100, 100),
            })
            .collect();
        for row in &rows {
            let (group, key, value) = (text(row.group), text(row.key), text(row.value));
            let insert = format!("INSERT INTO t VALUES ({}, {group}, {key}, {value})", row.id);
            server.run(&insert).result.expect("inserted");
        }
        for _ in 0..40 {
            check(&mut server, &rows, &Window::random(&mut random));
        }
    }
}

fn check(server: &mut Server, rows: &[Row], window: &Window) {
    let mut statement = "SELECT id".to_owned();
    for function in FUNCTIONS {
        let _ = write!(statement, ", {function} OVER w");
    }
    let _ = write!(statement, " FROM t WINDOW w AS {} ORDER BY id", window.sql());
    let answer = server.run(&statement);
    answer
        .result
        .unwrap_or_else(|error| panic!("{statement}: {error:?}"));
    assert_eq!(answer.rows.len(), rows.len(), "{statement}");
    for (row, given) in rows.iter().zip(&answer.rows) {
        let frame = window.frame(rows, row);
        let mut wanted = vec![row.id.to_string()];
        wanted.extend(expected(&frame));
        // A decimal shows its scale.
        let last = wanted.last_mut().expect("there are columns");
        if last != "NULL" {
            last.push_str(".0");
        }
        assert_eq!(given, &wanted.join("\t"), "row {row:?} of {rows:?}\n{statement}");
    }
}

#[test]
fn windows_with_a_common_key_prefix_share_one_sort() {
    let mut server = Server::new();
    for statement in [
        "CREATE DATABASE test",
        "CREATE TABLE test.t (id INT PRIMARY KEY, g INT, k INT)",
        "INSERT INTO test.t VALUES (1, 2, 9), (2, 1, 8), (3, 2, 7), (4, 1, 6), (5, 2, 5)",
    ] {
        server.run(statement).result.expect("made");
    }
    server.use_database("test");
    // Without ORDER BY the rows have the order of the only sort.
    let shared = server.run(
        "SELECT id, COUNT(*) OVER (), SUM(id) OVER (PARTITION BY g), ROW_NUMBER() OVER (PARTITION BY g ORDER BY k) FROM t",
    );
    assert_eq!(
        shared.rows,
        [
            "4\t5\t6\t1",
            "2\t5\t6\t2",
            "5\t5\t9\t1",
            "3\t5\t9\t2",
            "1\t5\t9\t3"
        ]
    );
    let another = server.run(
        "SELECT id, ROW_NUMBER() OVER (PARTITION BY g ORDER BY k), RANK() OVER (ORDER BY k DESC) FROM t",
    );
    assert_eq!(
        another.rows,
        ["1\t3\t1", "2\t2\t2", "3\t2\t3", "4\t1\t4", "5\t1\t5"]
    );
}

#[test]
fn time_does_not_grow_with_the_square_of_a_partition() {
    let mut server = Server::new();
    for statement in [
        "CREATE DATABASE test",
        "CREATE TABLE test.t (id INT PRIMARY KEY, v INT)",
        "INSERT INTO test.t WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT i, i FROM n",
    ] {
        server.run(statement).result.expect("made");
    }
    server.use_database("test");
    let pairs = "(SELECT x.id * 1000 + y.id AS i, y.v AS v FROM t x JOIN t y WHERE x.id <= 120) p";
    let answer = server.run(&format!(
        "SELECT MAX(a), SUM(b), MIN(c), MAX(d), COUNT(*) FROM (SELECT SUM(v) OVER (ORDER BY i) a,
           SUM(v) OVER (ORDER BY i ROWS 50000 PRECEDING) b, MIN(v) OVER (ORDER BY i ROWS 50000 PRECEDING) c,
           MAX(v) OVER (ORDER BY i ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) d FROM {pairs}) q"
    ));
    answer.result.expect("an answer");
    let n = 120 * 900u64;
    let values: Vec<u64> = (0..n).map(|place| place % 900 + 1).collect();
    let mut sliding = 0;
    let mut total = 0;
    for place in 0..values.len() {
        sliding += values[place];
        if place > 50_000 {
            sliding -= values[place - 50_001];
        }
        total += sliding;
    }
    let all: u64 = values.iter().sum();
    assert_eq!(answer.rows, [format!("{all}\t{total}\t1\t900\t{n}")]);
    // Functions that only look back are computed in pieces. Their state continues from one piece to the next.
    let answer = server.run(&format!(
        "SELECT SUM(a), MAX(b), MIN(b), SUM(c), SUM(d), MAX(e) FROM (SELECT SUM(1) OVER (ORDER BY i) a, MAX(v) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) b,
           ROW_NUMBER() OVER (ORDER BY i) c, RANK() OVER (ORDER BY i) d, COUNT(*) OVER (PARTITION BY i) e FROM {pairs}) q"
    ));
    answer.result.expect("an answer");
    let triangle = n * (n + 1) / 2;
    assert_eq!(
        answer.rows,
        [format!("{triangle}\t900\t1\t{triangle}\t{triangle}\t1")]
    );
    let answer = server.run(&format!(
        "SELECT v, MAX(a), MIN(a), MAX(b), MAX(c) FROM (SELECT v, COUNT(*) OVER (ORDER BY v) a, DENSE_RANK() OVER (ORDER BY v) b, ROW_NUMBER() OVER (PARTITION BY v ORDER BY i) c
           FROM {pairs}) q GROUP BY v HAVING v IN (1, 900) ORDER BY v"
    ));
    answer.result.expect("an answer");
    assert_eq!(
        answer.rows,
        ["1\t120\t120\t1\t120", "900\t108000\t108000\t900\t120"]
    );
}

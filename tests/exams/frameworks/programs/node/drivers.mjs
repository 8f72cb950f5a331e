// mysql2 and mariadb: text and prepared statements, types, errors, streams, pools, transactions, several results.
import mysql2 from "mysql2/promise";
import mysql2Callbacks from "mysql2";
import mariadb from "mariadb";
import { address, every, row, test } from "./exam.mjs";

const ERRORS = ["insert into p values (1, 'b')", "insert into p values (2, null)", "insert into p values (2, 'toolong')", "insert into c values (2, 2)", "delete from p", "select * from nowhere",
  "select nope from p", "selec 1", "signal sqlstate '45000' set message_text = 'own'", "call nothing()", "create table p (id int)", "update p set id = 'x'", "insert into p (id) values (3)"];

async function inDatabase(options, body) {
  const admin = await mysql2.createConnection({ ...address, multipleStatements: true });
  await admin.query("drop database if exists node; create database node character set utf8mb4");
  await admin.end();
  await body(options);
}

for (const prepared of [false, true]) {
  const how = prepared ? "prepared" : "text";
  for (const options of [{}, { dateStrings: true, supportBigNumbers: true, bigNumberStrings: true }, { compress: true, decimalNumbers: true, rowsAsArray: true }]) {
    const where = `mysql2 ${how} ${JSON.stringify(options)}`;
    await test(`${where} types`, ({ see }) => inDatabase(options, async () => {
      const connection = await mysql2.createConnection({ ...address, database: "node", ...options });
      await connection.query(every);
      await connection.query(row);
      const run = prepared ? connection.execute.bind(connection) : connection.query.bind(connection);
      const [rows, fields] = await run("select * from every order by id");
      see(rows);
      see(fields.map((field) => [field.name, field.columnType ?? field.type, field.columnLength, field.flags, field.decimals, field.characterSet]));
      see((await run("select count(*), sum(i), avg(i), max(d), 1+1, 1.5*2, 'x', null, cast(1 as unsigned), date(dt), group_concat(ti), json_extract(j, '$.a'), 1e0, true from every"))[0]);
      const [result] = await run("insert into every (vc, i, da, dt, bl, j, bi, bo) values (?, ?, ?, ?, ?, ?, ?, ?)",
        ["it's \\ \0 😀", 5, new Date(Date.UTC(2026, 0, 2)), new Date(Date.UTC(2026, 0, 2, 3, 4, 5, 678)), Buffer.from([0, 255, 39]), JSON.stringify({ b: 1 }), "9007199254740993", true]);
      see(result);
      see((await run("select vc, i, da, dt, bl, j, bi, bo, ? as p, ? as q from every where id = ?", ["text", 1.5, result.insertId]))[0]);
      if (!prepared) {
        see((await run("insert into every (i, vc) values ?", [[[1, "a"], [2, "b"]]]))[0]);
        see((await run("select id from every where vc in (?)", [["a", "b"]]))[0]);
      }
      see((await run("update every set i = 5"))[0]);
      see((await run("insert into every (id, i) values (1, 7) on duplicate key update i = 7"))[0]);
      see((await run("delete from every where id > 100"))[0]);
      await connection.end();
    }));
  }
  await test(`mysql2 ${how} errors`, ({ see, refused }) => inDatabase({}, async () => {
    const connection = await mysql2.createConnection({ ...address, database: "node" });
    await connection.query("create table p (id int primary key, v varchar(3) not null)");
    await connection.query("create table c (id int primary key, p int, constraint fk foreign key (p) references p (id))");
    await connection.query("insert into p values (1, 'a')");
    await connection.query("insert into c values (1, 1)");
    for (const statement of ERRORS) {
      await refused(() => (prepared ? connection.execute(statement) : connection.query(statement)));
    }
    see((await connection.query("select * from p"))[0]);
    await connection.end();
  }));
}

await test("mysql2 several results", ({ see, refused }) => inDatabase({}, async () => {
  const connection = await mysql2.createConnection({ ...address, database: "node", multipleStatements: true });
  see((await connection.query("create table m (a int); insert into m values (1), (2); select * from m; update m set a = a + 1; select sum(a) from m"))[0]);
  await connection.query("create procedure two(in a int, out b int) begin set b = a * 2; select a; select b; end");
  see((await connection.query("call two(3, @b); select @b"))[0]);
  see((await connection.execute("call two(?, @b)", [4]))[0]);
  await refused(() => connection.query("select 1; select * from nowhere; select 2"));
  await connection.end();
}));

await test("mysql2 streams and pools", ({ see, refused }) => inDatabase({}, async () => {
  const pool = mysql2Callbacks.createPool({ ...address, database: "node", connectionLimit: 4 });
  const promises = pool.promise();
  await promises.query("create table b (id int primary key, v varchar(50))");
  await promises.query("insert into b select seq, repeat('v', seq % 50) from seq_1_to_5000");
  let count = 0;
  for await (const each of pool.query("select * from b order by id").stream({ highWaterMark: 5 })) {
    count += each.v.length;
  }
  see(count);
  see(await Promise.all([...Array(12).keys()].map(async (n) => (await promises.execute("select count(*) as n from b where id > ?", [n * 400]))[0][0].n)));
  const connection = await promises.getConnection();
  await connection.beginTransaction();
  await connection.execute("update b set v = ? where id = 1", ["changed"]);
  see((await promises.query("select v from b where id = 1"))[0]);
  await connection.rollback();
  await connection.changeUser({ database: "mysql" });
  see((await connection.query("select database() as d"))[0]);
  await connection.reset();
  see((await connection.query("select database() as d, @@autocommit as a"))[0]);
  await connection.ping();
  connection.release();
  await refused(() => promises.query({ sql: "select sleep(5)", timeout: 200 }));
  await promises.end();
}));

await test("mysql2 locks", ({ see, refused }) => inDatabase({}, async () => {
  const [one, two] = await Promise.all([0, 1].map(() => mysql2.createConnection({ ...address, database: "node" })));
  await one.query("create table k (id int primary key, v int)");
  await one.query("insert into k values (1, 1), (2, 2)");
  await two.query("set innodb_lock_wait_timeout = 1");
  await one.beginTransaction();
  await one.query("update k set v = 10 where id = 1");
  await refused(() => two.query("update k set v = 20 where id = 1"));
  await refused(() => two.query("select * from k where id = 1 for update nowait"));
  see((await two.query("select * from k for update skip locked"))[0]);
  await one.commit();
  await one.end();
  await two.end();
}));

await test("mariadb types", ({ see }) => inDatabase({}, async () => {
  const connection = await mariadb.createConnection({ ...address, database: "node" });
  await connection.query(every);
  await connection.query(row);
  for (const run of [connection.query.bind(connection), connection.execute.bind(connection)]) {
    const rows = await run("select * from every order by id");
    see(rows);
    see(rows.meta.map((field) => [field.name(), field.type, field.columnLength, field.flags, field.scale, field.collation?.name]));
    const result = await run("insert into every (vc, i, da, dt, bl, j, bi) values (?, ?, ?, ?, ?, ?, ?)",
      ["it's", 5, new Date(Date.UTC(2026, 0, 2)), new Date(Date.UTC(2026, 0, 2, 3, 4, 5, 678)), Buffer.from([0, 255]), JSON.stringify({ b: 1 }), 9007199254740993n]);
    see(result);
    see(await run("select vc, i, da, dt, bl, j, bi, ? as p from every where id = ?", ["text", result.insertId]));
  }
  for (const bulk of [true, false]) {
    see(await connection.batch({ sql: "insert into every (i, vc, d) values (?, ?, ?)", bulk }, [[1, "a", "1.5"], [2, null, null], [3, "ccc", "-2"]]));
  }
  see(await connection.query("select i, vc, d from every where vc in ('a', 'ccc') order by id"));
  see(await connection.query("insert into every (i) values (7), (8) returning id, i"));
  await connection.end();
}));

await test("mariadb errors and pools", ({ see, refused }) => inDatabase({}, async () => {
  const pool = mariadb.createPool({ ...address, database: "node", connectionLimit: 3, multipleStatements: true });
  await pool.query("create table p (id int primary key, v varchar(3) not null); create table c (id int primary key, p int, constraint fk foreign key (p) references p (id))");
  await pool.query("insert into p values (1, 'a'); insert into c values (1, 1)");
  for (const statement of ERRORS) {
    await refused(() => pool.query(statement));
    await refused(() => pool.execute(statement));
  }
  const connection = await pool.getConnection();
  await connection.beginTransaction();
  await connection.query("insert into p values (5, 'x')");
  await connection.rollback();
  await connection.reset();
  let sum = 0n;
  for await (const each of connection.queryStream("select seq from seq_1_to_3000")) {
    sum += BigInt(each.seq);
  }
  see(sum);
  await refused(() => connection.query({ sql: "select count(*) from seq_1_to_1000000 a, seq_1_to_1000000 b where a.seq + b.seq = 0", timeout: 300 }));
  await connection.release();
  await pool.end();
}));
process.exit(0);

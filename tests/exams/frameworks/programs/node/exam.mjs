// Runs the tests of a program, and writes for each a line to the file $EXAM_OUTCOMES: its outcome, and what it saw.
import { appendFileSync } from "node:fs";

export const port = Number(process.env.EXAM_PORT);
export const address = { host: "127.0.0.1", port, user: "root", password: "" };

function shown(value) {
  return JSON.stringify(value, (key, each) => {
    if (typeof each === "bigint") return `${each}n`;
    if (each && each.type === "Buffer") return `bytes ${Buffer.from(each.data).toString("hex")}`;
    if (key === "threadId" || key === "connectionId" || key === "stack") return undefined;
    return each;
  });
}

export async function test(name, body) {
  const seen = [];
  const see = (...values) => seen.push(values.map(shown).join(" | "));
  // Adds the error that an action must give.
  const refused = async (action) => {
    try {
      await action();
      see("no error");
    } catch (error) {
      const cause = error.parent ?? error.driverError ?? error;
      see(error.name, cause.errno, cause.code, cause.sqlState, String(cause.sqlMessage ?? cause.message).replace(/\(conn:.*?, no: /, "("));
    }
  };
  let outcome = "passed";
  try {
    await body({ see, refused });
  } catch (error) {
    outcome = "failed";
    seen.push(String(error.stack));
  }
  appendFileSync(process.env.EXAM_OUTCOMES, JSON.stringify({ test: name, outcome, message: seen.join("\n") }) + "\n");
}

export const every = `create table every (id int auto_increment primary key, ti tinyint, tu tinyint unsigned, bo tinyint(1), si smallint, mi mediumint unsigned, i int, iu int unsigned,
  bi bigint, bu bigint unsigned, d decimal(20,6), f float, db double, bits bit(10), b1 bit(1), y year, da date, dt datetime(6), ts timestamp(3) null, t time(2), c char(5), vc varchar(100),
  vb varbinary(20), bb binary(4), tx text, lt longtext, bl blob, e enum('a','b'), s set('x','y','z'), j json, u uuid, ip inet6)`;
export const row = `insert into every values (null,-128,255,1,-32768,16777215,-2147483648,4294967295,-9223372036854775808,18446744073709551615,-1234567890.123456,1.5,-2.25e300,b'1100110011',b'1',
  2026,'2024-02-29','2026-11-20 01:02:03.456789','2026-01-02 03:04:05.678','-10:11:12.5','ab','größe 😀',x'00ff10',x'01',repeat('t',300),'long',x'deadbeef','b','x,z','{"a": [1, 2]}',
  '123e4567-e89b-12d3-a456-426655440000','2001:db8::1'),
  (null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null)`;

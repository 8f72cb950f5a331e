// ZongJi reads the log: every type, changes of all kinds, definitions that change.
import ZongJi from "@vlasky/zongji";
import mysql2 from "mysql2/promise";
import { address, every, row, test } from "./exam.mjs";

const admin = await mysql2.createConnection({ ...address, multipleStatements: true });
await admin.query("drop database if exists jungle; create database jungle character set utf8mb4; use jungle");
await admin.query(every.replace(", u uuid, ip inet6", ""));
const PATIENCE_MS = 30000;

await test("changes", async ({ see }) => {
  const zongji = new ZongJi(address);
  const found = [];
  const done = new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("no more events")), PATIENCE_MS);
    zongji.on("error", reject);
    zongji.on("binlog", (event) => {
      const name = event.getEventName();
      if (name === "query" || name === "xid") {
        found.push([name, event.query]);
      } else if (name !== "tablemap") {
        found.push([name, event.tableMap?.[event.tableId]?.tableName, event.rows]);
        if (JSON.stringify(event.rows).includes("the end")) {
          clearTimeout(timer);
          resolve();
        }
      }
    });
  });
  const ready = new Promise((resolve) => zongji.on("ready", resolve));
  zongji.start({ serverId: 5601, startAtEnd: true, includeEvents: ["tablemap", "writerows", "updaterows", "deleterows", "query", "xid"], includeSchema: { jungle: true } });
  await ready;
  await admin.query(row.replace(",\n  '123e4567-e89b-12d3-a456-426655440000','2001:db8::1'", "").replace(/,null,null\)$/, ")"));
  await admin.query("update every set vc = 'changed', i = 7 where id = 1; delete from every where id = 2; insert into every (i) values (3), (4); update every set i = i + 1");
  await admin.query("begin; insert into every (i) values (5); update every set vc = null where i = 5; commit; begin; insert into every (i) values (6); rollback");
  await admin.query("alter table every add column added varchar(20) default 'x' after id, drop column bits; insert into every (added) values ('the end')");
  await done;
  await new Promise((resolve) => { zongji.on("stopped", resolve); zongji.stop(); });
  found.forEach((each) => see(...each));
});
process.exit(0);

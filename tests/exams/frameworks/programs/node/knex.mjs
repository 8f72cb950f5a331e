// Knex: a schema with every kind of column, queries, transactions, migrations.
import knexLibrary from "knex";
import mysql2 from "mysql2/promise";
import { address, test } from "./exam.mjs";

const admin = await mysql2.createConnection({ ...address, multipleStatements: true });
await admin.query("drop database if exists knexed; create database knexed character set utf8mb4");
await admin.end();
const migrations = {
  getMigrations: async () => ["1_first", "2_second"], getMigrationName: (name) => name,
  getMigration: async (name) => ({
    up: (db) => (name === "1_first" ? db.schema.createTable("migrated", (table) => table.increments()) : db.schema.alterTable("migrated", (table) => table.string("v", 20).index())),
    down: (db) => (name === "1_first" ? db.schema.dropTable("migrated") : db.schema.alterTable("migrated", (table) => table.dropColumn("v"))),
  }),
};
const db = knexLibrary({ client: "mysql2", connection: { ...address, database: "knexed", timezone: "Z" }, pool: { min: 0, max: 4 }, migrations: { migrationSource: migrations } });

await test("schema", async ({ see }) => {
  await db.schema.createTable("people", (table) => {
    table.bigIncrements("id");
    table.string("name", 60).notNullable().unique().comment("full name");
    table.uuid("uuid");
    table.date("born");
    table.datetime("seen", { precision: 6 });
    table.timestamps(true, true);
    table.boolean("active").defaultTo(true);
    table.decimal("balance", 12, 2).unsigned();
    table.enu("level", ["low", "high"]);
    table.json("data");
    table.binary("picture", 100);
    table.text("notes", "longtext");
    table.float("ratio", 8, 3);
    table.specificType("bits", "bit(4)");
    table.index(["born", "level"], "by_born");
    table.check("?? >= ?", ["balance", 0]);
  });
  await db.schema.createTable("pets", (table) => {
    table.increments();
    table.bigInteger("owner").unsigned().references("id").inTable("people").onDelete("CASCADE").onUpdate("RESTRICT");
    table.string("name", 30);
    table.integer("age").unsigned();
    table.engine("InnoDB");
    table.charset("utf8mb4");
    table.collate("utf8mb4_unicode_ci");
  });
  await db.schema.alterTable("pets", (table) => {
    table.string("colour", 10).defaultTo("grey").after("name");
    table.string("name", 50).notNullable().alter();
    table.renameColumn("age", "years");
    table.unique(["owner", "name"]);
    table.setNullable("name");
  });
  await db.schema.createViewOrReplace("seniors", (view) => { view.columns(["name"]); view.as(db("pets").select("name").where("years", ">", 7)); });
  see(await db.raw("show create table people").then((found) => found[0]), await db.raw("show create table pets").then((found) => found[0]));
  see(await db("people").columnInfo(), await db.schema.hasTable("people"), await db.schema.hasColumn("pets", "years"), await db.schema.hasTable("nothing"));
});
await test("queries", async ({ see, refused }) => {
  see(await db("people").insert([..."abcdef"].map((name, n) => ({ name, born: `200${n}-01-02`, seen: "2026-01-02 03:04:05.123456", balance: n * 1.5, level: n % 2 ? "low" : "high", data: JSON.stringify({ n }),
    created_at: "2026-01-01", updated_at: "2026-01-01", picture: Buffer.from([n]), ratio: n / 7 }))));
  see(await db("pets").insert([{ owner: 1, name: "Rex", years: 8 }, { owner: 1, name: "Tom", years: 3 }, { owner: 2, name: "Ann", years: 9 }]));
  see(await db("people").select().orderBy("id"));
  see(await db("people as p").leftJoin("pets as t", "t.owner", "p.id").select("p.name", "t.name as pet").whereIn("p.level", ["low", "high"]).andWhereBetween("p.balance", [0, 3]).orderBy([{ column: "p.id" }, { column: "t.name", order: "desc" }]));
  see(await db("people").count({ n: "*" }).sum("balance as s").avg("balance as a").min("born as m").groupBy("level").having("n", ">", 1).orderBy("level"));
  see(await db.with("old", db("pets").where("years", ">", 5)).select("*").from("old").orderBy("id"));
  see(await db.withRecursive("n", ["x"], db.raw("select 1 union all select x + 1 from n where x < 5")).select("*").from("n"));
  see(await db("people").select("name").rank("r", "level").rowNumber("n", (query) => query.orderBy("balance").partitionBy("level")).orderBy("name"));
  see(await db("people").jsonExtract("data", "$.n", "n").orderBy("id"), await db("people").whereJsonPath("data", "$.n", ">", 3).pluck("name"), await db("people").whereJsonObject("data", { n: 2 }).pluck("name"));
  see(await db("people").insert({ id: 1, name: "a", ratio: 5 }).onConflict("id").merge(["ratio"]), await db("people").insert({ id: 1, name: "a" }).onConflict().ignore());
  see(await db("people").where({ id: 2 }).update({ name: "bb", ratio: db.raw("ratio * 2") }), await db("people").where("id", 3).increment("balance", 5), await db("pets").where({ name: "Tom" }).del());
  see(await db("people").select("id").whereExists(db("pets").whereRaw("pets.owner = people.id")).union([db("people").select("id").where("id", 6)]).orderBy("id"), await db("seniors").orderBy("name"));
  see(await db("people").first("name").where("name", "like", "b%"), await db("people").distinct("level").orderBy("level"), await db("people").limit(2).offset(3).orderBy("id").pluck("id"));
  await refused(() => db("people").insert({ name: "bb" }));
  await refused(() => db("pets").insert({ owner: 99, name: "x" }));
  await refused(() => db("people").insert({ name: "neg", balance: -1 }));
  let count = 0;
  for await (const each of db("people").select().stream()) count += each.id;
  see(count);
});
await test("transactions", async ({ see, refused }) => {
  await refused(() => db.transaction(async (trx) => {
    await trx("people").insert({ name: "undone" });
    throw new Error("undo");
  }));
  await db.transaction(async (trx) => {
    await trx.transaction(async (inner) => {
      await inner("people").insert({ name: "inner" });
      throw new Error("undo the inner one");
    }).catch(() => {});
    see(await trx("people").where("name", "inner"), await trx("people").where("id", 1).forUpdate().pluck("id"), await trx("people").where("id", 2).forShare().pluck("id"),
      await trx("people").where("id", 1).forUpdate().skipLocked().pluck("id"), await trx("people").where("id", 1).forUpdate().noWait().pluck("id"));
  }, { isolationLevel: "read committed" });
  see(await db("people").where("name", "undone"));
});
await test("migrations", async ({ see }) => {
  see(await db.migrate.latest(), await db.migrate.currentVersion(), await db.migrate.rollback(undefined, true), await db.migrate.latest(), (await db.migrate.list()).map((each) => each.length));
  see(await db.raw("show create table migrated").then((found) => found[0]), await db.raw("show create table knex_migrations").then((found) => found[0]));
});
await db.destroy();
process.exit(0);

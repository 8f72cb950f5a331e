// TypeORM with mysql2 and mariadb: entities by schema, synchronization, queries, transactions, migrations.
import "reflect-metadata";
import { Brackets, DataSource, EntitySchema, In, LessThan, Like, Table } from "typeorm";
import mysql2 from "mysql2/promise";
import { address, test } from "./exam.mjs";

// The definition that TypeORM writes of a generated column for MySQL is refused by MariaDB.
const generated = { mariadb: { initials: { type: "varchar", length: 5, asExpression: "left(name, 1)", generatedType: "STORED", nullable: true } }, mysql: {} };
const person = (type) => new EntitySchema({ name: "Person", columns: {
  id: { type: "bigint", unsigned: true, primary: true, generated: true }, name: { type: "varchar", length: 60, unique: true, comment: "full name" }, key: { type: "uuid", generated: "uuid" },
  born: { type: "date", nullable: true }, seen: { type: "datetime", precision: 6, nullable: true }, balance: { type: "decimal", precision: 12, scale: 2, default: 0 }, active: { type: "boolean", default: true },
  level: { type: "enum", enum: ["low", "high"], default: "low" }, tags: { type: "simple-array", nullable: true }, data: { type: "json", nullable: true }, picture: { type: "blob", nullable: true },
  created: { type: "timestamp", createDate: true, precision: 6 }, updated: { type: "timestamp", updateDate: true, precision: 6 }, deleted: { type: "datetime", deleteDate: true }, version: { type: "int", version: true },
  ...generated[type], bits: { type: "bit", width: 4, nullable: true }, set: { type: "set", enum: ["a", "b"], nullable: true },
}, relations: { pets: { type: "one-to-many", target: "Pet", inverseSide: "owner", cascade: true } }, indices: [{ columns: ["born", "level"], name: "by_born" }], checks: [{ expression: "balance >= 0" }] });
const Pet = new EntitySchema({ name: "Pet", columns: { id: { type: "int", primary: true, generated: "increment" }, name: { type: "varchar", length: 30 }, years: { type: "int", unsigned: true, nullable: true } },
  relations: { owner: { type: "many-to-one", target: "Person", inverseSide: "pets", onDelete: "CASCADE", nullable: true }, friends: { type: "many-to-many", target: "Pet", joinTable: { name: "friends" } } } });

class First1700000000001 {
  async up(runner) {
    await runner.createTable(new Table({ name: "migrated", columns: [{ name: "id", type: "int", isPrimary: true, isGenerated: true, generationStrategy: "increment" }, { name: "v", type: "varchar", length: "20", default: "'x'" }],
      indices: [{ name: "by_v", columnNames: ["v"] }] }));
  }
  async down(runner) {
    await runner.dropTable("migrated");
  }
}

for (const connectorPackage of ["mysql2"]) {
  for (const type of ["mysql", "mariadb"]) {
    const admin = await mysql2.createConnection({ ...address, multipleStatements: true });
    await admin.query("drop database if exists typed; create database typed character set utf8mb4");
    await admin.end();
    const source = new DataSource({ type, connectorPackage, ...address, username: "root", database: "typed", entities: [person(type), Pet], migrations: [First1700000000001], timezone: "Z", synchronize: false });
    await source.initialize();
    await test(`${type} schema`, async ({ see }) => {
      await source.synchronize();
      see((await source.driver.createSchemaBuilder().log()).upQueries.map((each) => each.query));
      await source.synchronize();
      for (const table of ["person", "pet", "friends"]) see(await source.query(`show create table ${table}`));
      see((await source.createQueryRunner().getTables(["person", "pet"])).map((table) => [table.name, table.columns.map((column) => [column.name, column.type, column.length, column.default, column.isNullable]), table.indices.map((index) => index.name), table.foreignKeys.length]));
    });
    await test(`${type} rows`, async ({ see, refused }) => {
      const people = source.getRepository("Person");
      const pets = source.getRepository("Pet");
      const plain = (rows) => rows.map((each) => ({ ...each, key: 0, created: 0, updated: 0, deleted: each.deleted && 1 }));
      for (let n = 0; n < 6; n++) {
        await people.save({ name: `person ü${n}`, born: `200${n}-02-03`, seen: new Date(Date.UTC(2026, 0, n + 1)), balance: `${n}.25`, level: n % 2 ? "low" : "high", tags: ["a", `t${n}`], data: { n, list: [1] },
          picture: Buffer.from([n, 255]), set: n % 2 ? ["a", "b"] : null, pets: Array.from({ length: n }, (_, i) => ({ name: `pet ${n}.${i}`, years: i })) });
      }
      see(plain(await people.find({ order: { id: "ASC" } })));
      see(plain(await people.find({ relations: { pets: true }, where: { name: Like("%ü%"), level: "low", pets: { years: LessThan(2) } }, order: { id: "DESC", pets: { id: "ASC" } }, take: 2 })));
      see(await people.findAndCount({ select: { id: true }, where: { id: In([1, 2, 3]) }, skip: 1, take: 1, order: { id: "ASC" } }));
      see(await people.createQueryBuilder("p").leftJoin("p.pets", "t").select("p.name", "name").addSelect("count(t.id)", "n").where(new Brackets((query) => query.where("p.balance > :b", { b: 1 }).orWhere("p.id = 1")))
        .groupBy("p.id").having("n > 1").orderBy("n", "DESC").getRawMany());
      see(await people.sum("balance"), await people.average("balance"), await people.maximum("id"), await people.countBy({ level: "high" }), await people.exists({ where: { id: 1 } }));
      see((await people.upsert([{ name: "person ü1", balance: "9" }, { name: "new", balance: "1" }], ["name"])).generatedMaps.length, (await people.update({ id: 2 }, { active: false })).affected,
        (await people.increment({ id: 3 }, "balance", 5)).affected, (await people.softDelete({ id: 4 })).affected, await people.count(), (await people.restore({ id: 4 })).affected, (await people.delete({ id: 6 })).affected, await pets.count());
      await refused(() => people.insert({ name: "person ü1" }));
      await refused(() => pets.insert({ name: "x", owner: { id: 999 } }));
      await refused(() => people.insert({ name: "negative", balance: "-1" }));
      const some = await pets.find({ take: 3, order: { id: "ASC" } });
      await pets.save({ ...some[0], friends: [some[1], some[2]] });
      see(await pets.find({ relations: { friends: true }, where: { id: some[0].id }, order: { friends: { id: "ASC" } } }));
    });
    await test(`${type} transactions`, async ({ see, refused }) => {
      await refused(() => source.transaction(async (manager) => {
        await manager.insert("Person", { name: "undone" });
        throw new Error("undo");
      }));
      for (const level of ["READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"]) {
        await source.transaction(level, async (manager) => {
          for (const mode of [...(type === "mysql" ? [] : ["pessimistic_read"]), "pessimistic_write", "pessimistic_partial_write", "pessimistic_write_or_fail"]) {
            see((await manager.findOne("Person", { where: { id: 1 }, lock: { mode } }))?.id);
          }
          await manager.transaction(async (inner) => inner.update("Person", { id: 1 }, { name: `changed ${level}` }));
        });
      }
      see(await source.getRepository("Person").countBy({ name: "undone" }));
      let count = 0;
      for await (const each of await source.getRepository("Person").createQueryBuilder("p").stream()) count += each.p_version;
      see(count > 0);
    });
    await test(`${type} migrations`, async ({ see }) => {
      see((await source.runMigrations()).map((each) => each.name), await source.showMigrations(), await source.query("show create table migrated"), await source.query("show create table migrations"));
      await source.undoLastMigration();
      await source.dropDatabase();
      see(await source.query("show tables"));
    });
    await source.destroy();
  }
}
process.exit(0);

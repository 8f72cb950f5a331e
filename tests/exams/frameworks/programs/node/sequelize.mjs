// Sequelize with mysql2 and with mariadb: models of every kind, associations, queries, transactions, migrations of a schema.
import { DataTypes, Op, QueryTypes, Sequelize, Transaction } from "sequelize";
import mysql2 from "mysql2/promise";
import { address, port, test } from "./exam.mjs";

for (const dialect of ["mysql", "mariadb"]) {
  const admin = await mysql2.createConnection({ ...address, multipleStatements: true });
  await admin.query("drop database if exists seq; create database seq character set utf8mb4");
  await admin.end();
  const statements = [];
  const db = new Sequelize("seq", "root", "", { dialect, host: "127.0.0.1", port, logging: (text) => statements.push(text), timezone: "+00:00" });
  const User = db.define("User", {
    id: { type: DataTypes.BIGINT.UNSIGNED, autoIncrement: true, primaryKey: true }, name: { type: DataTypes.STRING(80), allowNull: false, unique: true }, uuid: { type: DataTypes.UUID, defaultValue: null },
    born: DataTypes.DATEONLY, seen: DataTypes.DATE(6), active: { type: DataTypes.BOOLEAN, defaultValue: true }, level: DataTypes.ENUM("low", "high"), balance: DataTypes.DECIMAL(12, 2),
    ratio: DataTypes.DOUBLE, picture: DataTypes.BLOB, settings: DataTypes.JSON, notes: DataTypes.TEXT("medium"), time: DataTypes.TIME, small: DataTypes.SMALLINT.UNSIGNED.ZEROFILL,
  }, { paranoid: true, version: true, indexes: [{ fields: ["born", { name: "balance", order: "DESC" }] }] });
  const Post = db.define("Post", { title: DataTypes.STRING, words: DataTypes.INTEGER }, { timestamps: false });
  const Tag = db.define("Tag", { word: { type: DataTypes.STRING(20), primaryKey: true } }, { timestamps: false });
  User.hasMany(Post, { onDelete: "CASCADE" });
  Post.belongsTo(User);
  Post.belongsToMany(Tag, { through: "PostTags" });
  Tag.belongsToMany(Post, { through: "PostTags" });

  await test(`${dialect} sync`, async ({ see }) => {
    await db.sync({ force: true });
    await db.sync({ alter: true });
    for (const table of ["Users", "Posts", "Tags", "PostTags"]) {
      see(await db.query(`show create table ${table}`, { type: QueryTypes.SELECT }));
      see(await db.getQueryInterface().describeTable(table));
      see((await db.getQueryInterface().showIndex(table)).map((index) => [index.name, index.unique, index.fields]));
    }
    see(await db.getQueryInterface().getForeignKeyReferencesForTable("Posts"));
    see((await db.getQueryInterface().showAllTables()).length);
  });
  await test(`${dialect} rows`, async ({ see, refused }) => {
    for (let n = 0; n < 6; n++) {
      const user = await User.create({ name: `user ü${n}`, born: `200${n}-02-03`, seen: new Date(Date.UTC(2026, 0, n + 1, 1, 2, 3, 456)), level: n % 2 ? "low" : "high", balance: n * 1.25, ratio: n / 3,
        picture: Buffer.from([n, 255]), settings: { n, list: [1, "a"] }, notes: "x".repeat(n * 100), time: "01:02:03", small: n, uuid: `123e4567-e89b-12d3-a456-42665544000${n}` });
      for (let i = 0; i < n; i++) {
        const post = await user.createPost({ title: `post ${n}.${i}`, words: i * 10 });
        const [tag] = await Tag.findOrCreate({ where: { word: i % 2 ? "odd" : "even" } });
        await post.addTag(tag);
      }
    }
    await refused(() => User.create({ name: "user ü1" }));
    await refused(() => Post.create({ title: "x", UserId: 999 }));
    await refused(() => User.create({ name: null }, { validate: false }));
    see(await User.bulkCreate([{ name: "bulk 1" }, { name: "user ü1", ratio: 9 }], { updateOnDuplicate: ["ratio"], ignoreDuplicates: false }).then((rows) => rows.map((each) => each.name)));
    see(await User.upsert({ name: "user ü2", ratio: 8 }).then((found) => found[1]));
    const plain = (rows) => rows.map((each) => ({ ...each.get({ plain: true }), createdAt: 0, updatedAt: 0 }));
    see(plain(await User.findAll({ order: ["id"] })));
    see(plain(await User.findAll({ include: [{ model: Post, required: true, where: { words: { [Op.gte]: 10 } } }], order: [["id", "DESC"], [Post, "title", "ASC"]], limit: 3 })));
    see((await Post.findAll({ include: Tag, order: ["id", [Tag, "word"]] })).map((each) => [each.title, each.Tags.map((tag) => tag.word)]));
    see(await User.findAndCountAll({ attributes: ["id"], where: { name: { [Op.like]: "user%" }, level: "low" }, offset: 1, limit: 1, order: ["id"] }).then((found) => [found.count, found.rows.length]));
    see(await User.count({ where: { "settings.n": 3 } }));
    see(plain(await User.findAll({ attributes: ["name", [db.json("settings.list[1]"), "second"]], where: db.where(db.json("settings.n"), 2) })));
    see(await Post.sum("words"), await Post.max("words"), await Post.count({ group: ["UserId"] }));
    see(await Post.findAll({ attributes: ["UserId", [db.fn("COUNT", db.col("*")), "n"]], group: "UserId", having: db.literal("n > 2"), raw: true, order: ["UserId"] }));
    see(await User.update({ ratio: db.literal("ratio + 1") }, { where: { id: { [Op.in]: [1, 2] } } }), await User.increment("ratio", { by: 2, where: { id: 3 } }).then(() => 1));
    see(await User.destroy({ where: { id: 2 } }), await User.count(), await User.restore({ where: { id: 2 } }), await User.destroy({ where: { id: 6 }, force: true }), await Post.count());
  });
  await test(`${dialect} transactions`, async ({ see, refused }) => {
    await refused(() => db.transaction(async (transaction) => {
      await User.create({ name: "undone" }, { transaction });
      throw new Error("undo");
    }));
    see(await User.count({ where: { name: "undone" } }));
    for (const isolationLevel of Object.values(Transaction.ISOLATION_LEVELS)) {
      await db.transaction({ isolationLevel }, async (transaction) => {
        const user = await User.findOne({ transaction, lock: transaction.LOCK.UPDATE, order: ["id"] });
        await user.update({ ratio: 1 }, { transaction });
        await db.transaction({ transaction }, async (inner) => Post.create({ title: "inner", UserId: user.id }, { transaction: inner }));
        see((await User.findAll({ transaction, lock: true, skipLocked: true, where: { id: user.id } })).length);
      });
    }
    see(await Post.count({ where: { title: "inner" } }));
  });
  await test(`${dialect} schema changes`, async ({ see }) => {
    const schema = db.getQueryInterface();
    await schema.addColumn("Posts", "added", { type: DataTypes.STRING(10), defaultValue: "x", after: "title" });
    await schema.changeColumn("Posts", "added", { type: DataTypes.TEXT });
    await schema.renameColumn("Posts", "added", "renamed");
    await schema.addIndex("Posts", ["words", "title"], { name: "by_words", unique: false });
    await schema.addConstraint("Posts", { fields: ["words"], type: "check", where: { words: { [Op.lt]: 1000 } }, name: "few" }).catch((error) => see(error.message));
    await schema.addConstraint("Posts", { fields: ["title", "words"], type: "unique", name: "one" }).catch((error) => see(error.message));
    see(await db.query("show create table Posts", { type: QueryTypes.SELECT }));
    await schema.removeIndex("Posts", "by_words");
    await schema.removeColumn("Posts", "renamed").catch((error) => see(error.message));
    await schema.renameTable("Tags", "Labels");
    see(await schema.tableExists("Labels"), (await schema.describeTable("Posts")));
    await db.drop();
    await schema.dropAllTables();
    see((await schema.showAllTables()).length);
  });
  await db.close();
}
process.exit(0);

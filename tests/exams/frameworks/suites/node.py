"""Programs with Node's drivers and libraries, which npm fetches."""

from frameworks.suite import ProgramSuite


class NodeSuite(ProgramSuite):
    program = "node"
    # The program's file, without its ending.
    script: str

    def install(self):
        self.copied("package.json")
        self.fetching("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")

    def build(self):
        if (self.source / "package.json").read_bytes() != (self.folder / "package.json").read_bytes():
            self.install()
        self.copied(*(path.name for path in self.source.glob("*.mjs")))

    def command(self, server):
        return ["node", "--unhandled-rejections=strict", f"{self.script}.mjs"]


class NodeDrivers(NodeSuite):
    name, script = "node_drivers", "drivers"


class Sequelize(NodeSuite):
    name = script = "sequelize"


class TypeOrm(NodeSuite):
    name = script = "typeorm"


class Knex(NodeSuite):
    name = script = "knex"


class ZongJi(NodeSuite):
    name = script = "zongji"
    server_options = ["--server-id=1", "--binlog-row-metadata=FULL"]

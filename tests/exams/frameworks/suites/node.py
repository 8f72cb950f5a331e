"""Programs with Node's drivers and libraries, which npm fetches."""

from frameworks.suite import PackagedProgramSuite


class NodeSuite(PackagedProgramSuite):
    program, manifest = "node", "package.json"
    # The program's file, without its ending.
    script: str

    def fetch_packages(self):
        self.fetching("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")

    def compile(self):
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

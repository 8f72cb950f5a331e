"""Change data capture: programs that read a server's log as replicas do."""

import os

from frameworks.suite import PackagedProgramSuite
from frameworks.suites.java import JavaSuite

# Row events with everything that these programs can use.
OF_THE_LOG = ["--server-id=1", "--binlog-row-metadata=FULL"]


class Debezium(JavaSuite):
    name, program, main, exam = "debezium", "debezium", "exam.DebeziumExam", "all"
    server_options = OF_THE_LOG


class Canal(PackagedProgramSuite):
    name, program, manifest = "go_canal", "go", "go.mod"
    server_options = OF_THE_LOG

    def compile(self):
        self.copied("main.go")
        self.fetching("go", "build", "-mod=mod", "-o", "exam", ".", env={**os.environ, "GOFLAGS": "-buildvcs=false -p=1"})

    def command(self, server):
        return [self.folder / "exam"]

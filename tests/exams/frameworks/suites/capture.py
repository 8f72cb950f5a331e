"""Change data capture: programs that read a server's log as replicas do."""

from frameworks.suites.java import JavaSuite

# Row events with everything that these programs can use.
OF_THE_LOG = ["--server-id=1", "--binlog-row-metadata=FULL"]


class Debezium(JavaSuite):
    name, program, main, exam = "debezium", "debezium", "exam.DebeziumExam", "all"
    server_options = OF_THE_LOG

"""Programs with Java's drivers and frameworks, which Maven fetches into its own cache."""

import shutil

from frameworks.suite import ProgramSuite


class JavaSuite(ProgramSuite):
    program = "java"
    # What Exam.main runs.
    exam: str
    # Main class.
    main = "exam.Exam"

    def install(self):
        self.copied("pom.xml")
        self.fetching("mvn", "-q", "-B", "dependency:build-classpath", "-Dmdep.outputFile=classpath")

    def build(self):
        if (self.source / "pom.xml").read_bytes() != (self.folder / "pom.xml").read_bytes():
            self.install()
        classes = self.folder / "classes"
        shutil.rmtree(classes, ignore_errors=True)
        if (self.source / "src/main/resources").exists():
            shutil.copytree(self.source / "src/main/resources", classes)
        self.fetching("javac", "-encoding", "UTF-8", "-d", classes, "-cp", self.libraries, *(self.source / "src/main/java").rglob("*.java"))

    @property
    def libraries(self) -> str:
        return (self.folder / "classpath").read_text(encoding="utf-8").strip()

    def command(self, server):
        return ["java", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8", "-Duser.timezone=UTC", "-Duser.language=en", "-cp", f"{self.folder / 'classes'}:{self.libraries}",
                self.main, self.exam]


class MariaDbConnector(JavaSuite):
    name, exam = "java_mariadb", "mariadb"


class MariaDbMetadata(JavaSuite):
    name, exam = "java_mariadb_metadata", "metadata-mariadb"


class MySqlConnector(JavaSuite):
    name, exam = "java_mysql", "mysql"


class MySqlMetadata(JavaSuite):
    name, exam = "java_mysql_metadata", "metadata-mysql"


class Hibernate(JavaSuite):
    name = exam = "hibernate"


class Flyway(JavaSuite):
    name = exam = "flyway"


class Liquibase(JavaSuite):
    name = exam = "liquibase"

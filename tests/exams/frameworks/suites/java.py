"""Programs with Java's drivers and frameworks, which Maven fetches into its own cache."""

import shutil

from frameworks.suite import PROGRAMS, PackagedProgramSuite

# Each of these programs writes its outcomes with it.
OUTCOMES = PROGRAMS / "java/src/main/java/exam/Outcomes.java"


class JavaSuite(PackagedProgramSuite):
    program, manifest = "java", "pom.xml"
    # Exams that Exam.main runs.
    exam: str
    # Main class.
    main = "exam.Exam"

    def fetch_packages(self):
        self.fetching("mvn", "-q", "-B", "dependency:build-classpath", "-Dmdep.outputFile=classpath")

    def compile(self):
        classes = self.folder / "classes"
        shutil.rmtree(classes, ignore_errors=True)
        if (self.source / "src/main/resources").exists():
            shutil.copytree(self.source / "src/main/resources", classes)
        sources = {*(self.source / "src/main/java").rglob("*.java"), OUTCOMES}
        self.fetching("javac", "-encoding", "UTF-8", "-d", classes, "-cp", self.libraries, *sources)

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

"""The suites, in the order in which they are run."""

from frameworks.suites.django import Django
from frameworks.suites.go import Dbr, Gorp, GoSqlDriver, Goqu, Sqlx, Xorm
from frameworks.suites.mysqlclient import MySqlClient
from frameworks.suites.perl import DbdMariaDb, DbdMySql
from frameworks.suites.php import Php
from frameworks.suites.sqlalchemy import SqlAlchemy

SUITES = {suite.name: suite for suite in (Django, SqlAlchemy, MySqlClient, DbdMariaDb, DbdMySql, Php, GoSqlDriver, Sqlx, Gorp, Goqu, Xorm, Dbr)}

"""The suites, in the order in which they are run."""

from frameworks.suites.capture import Canal, Debezium
from frameworks.suites.django import Django
from frameworks.suites.go import Dbr, Gorp, GoSqlDriver, Goqu, Sqlx, Xorm
from frameworks.suites.java import Flyway, Hibernate, Liquibase, MariaDbConnector, MariaDbMetadata, MySqlConnector, MySqlMetadata
from frameworks.suites.mysqlclient import MySqlClient
from frameworks.suites.node import Knex, NodeDrivers, Sequelize, TypeOrm, ZongJi
from frameworks.suites.perl import DbdMariaDb, DbdMySql
from frameworks.suites.php import Php
from frameworks.suites.rust import MySqlAsync, MySqlCrate
from frameworks.suites.sqlalchemy import SqlAlchemy
from frameworks.suites.tools import Tools

SUITES = {suite.name: suite for suite in (Django, SqlAlchemy, MySqlClient, DbdMariaDb, DbdMySql, Php, GoSqlDriver, Sqlx, Gorp, Goqu, Xorm, Dbr,
                                      MariaDbConnector, MariaDbMetadata, MySqlConnector, MySqlMetadata, Hibernate, Flyway, Liquibase, NodeDrivers, Sequelize, TypeOrm, Knex,
                                      Debezium, Canal, ZongJi, MySqlAsync, MySqlCrate, Tools)}

"""The suites, in the order in which they are run."""

from frameworks.suites.django import Django
from frameworks.suites.sqlalchemy import SqlAlchemy

SUITES = {suite.name: suite for suite in (Django, SqlAlchemy)}

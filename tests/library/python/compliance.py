"""The public compliance suite of DB-API 2.0 (dbapi-compliance of PyPI) with this module. Usage: compliance.py DIRECTORY"""

import sys
import unittest

import dbapi20
import paceline


class Compliance(dbapi20.DatabaseAPI20Test):
    driver = paceline
    connect_args = (sys.argv.pop(1), "test")

    def setUp(self):
        # Databases of a test before, whose connections are not collected yet, do not matter: they are ended here.
        with paceline.connect(self.connect_args[0]) as connection:
            connection.cursor().execute("CREATE OR REPLACE DATABASE test")
            # The suite calls a procedure `lower`, and takes its row.
            connection.cursor().execute("CREATE PROCEDURE test.lower(s TEXT) SELECT LOWER(s)")

    def tearDown(self):
        pass

    # The suite has no general test of these two: each driver brings its own.
    def test_nextset(self):
        connection = self._connect()
        cursor = connection.cursor()
        cursor.execute("CREATE PROCEDURE several() BEGIN SELECT 1; SELECT 2; END")
        cursor.callproc("several")
        self.assertEqual(cursor.fetchall(), ((1,),))
        self.assertTrue(cursor.nextset())
        self.assertEqual(cursor.fetchall(), ((2,),))
        # A CALL ends with a result without rows.
        self.assertTrue(cursor.nextset())
        self.assertIsNone(cursor.nextset())
        connection.close()

    def test_setoutputsize(self):
        connection = self._connect()
        connection.cursor().setoutputsize(1000)
        connection.close()


unittest.main()

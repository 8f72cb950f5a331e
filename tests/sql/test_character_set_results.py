"""Names of columns and messages of errors arrive in `character_set_results`, like values."""

import pymysql
import pytest

from support.servers import MariaDb, Paceline


@pytest.mark.parametrize("server_class", [Paceline, MariaDb])
def test_names_and_messages_are_in_the_character_set_of_the_results(server_class, tmp_path):
    server = server_class(tmp_path)
    try:
        server.start()
        with server.connect(charset="latin1") as connection, connection.cursor() as cursor:
            cursor.execute("select 'Ü', 1 as `Ä`")
            assert [column[0] for column in cursor.description] == ["Ü", "Ä"]
            assert cursor.fetchall() == (("Ü", 1),)
            with pytest.raises(pymysql.err.OperationalError) as raised:
                cursor.execute("set foreign_key_checks = 'TRÜE'")
            # PyMySQL reads messages as UTF-8.
            assert raised.value.args == (1231, "Variable 'foreign_key_checks' can't be set to the value of 'TR\ufffdE'")
            cursor.execute("set names latin1, character_set_client = utf8mb4")
            with pytest.raises(pymysql.err.OperationalError) as raised:
                cursor.execute("select `Таблица`".encode())
            assert raised.value.args[1] == r"Unknown column '\0422\0430\0431\043B\0438\0446\0430' in 'SELECT'"
    finally:
        server.close()

-- The table and the functions that the views use, and procedures. Statements are separated by empty lines.

CREATE DATABASE IF NOT EXISTS sys CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci

-- Values that somebody has changed stay.
CREATE TABLE IF NOT EXISTS sys.sys_config (
  variable VARCHAR(128) NOT NULL PRIMARY KEY,
  value VARCHAR(128),
  set_time TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  set_by VARCHAR(128)
) CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci

INSERT IGNORE INTO sys.sys_config (variable, value) VALUES ('statement_truncate_len', '64')

-- A session's @sys.NAME goes before the row of sys_config where a function says so; this reads only the row.
CREATE OR REPLACE FUNCTION sys.sys_get_config(in_variable_name VARCHAR(128), in_default_value VARCHAR(128))
RETURNS VARCHAR(128) DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
RETURN COALESCE((SELECT value FROM sys.sys_config WHERE variable = in_variable_name), in_default_value)

CREATE OR REPLACE FUNCTION sys.format_bytes(bytes TEXT)
RETURNS TEXT DETERMINISTIC NO SQL SQL SECURITY INVOKER
RETURN CASE
  WHEN bytes IS NULL THEN NULL
  WHEN bytes >= 1125899906842624 THEN CONCAT(CAST(bytes / 1125899906842624 AS DECIMAL(30,2)), ' PiB')
  WHEN bytes >= 1099511627776 THEN CONCAT(CAST(bytes / 1099511627776 AS DECIMAL(30,2)), ' TiB')
  WHEN bytes >= 1073741824 THEN CONCAT(CAST(bytes / 1073741824 AS DECIMAL(30,2)), ' GiB')
  WHEN bytes >= 1048576 THEN CONCAT(CAST(bytes / 1048576 AS DECIMAL(30,2)), ' MiB')
  WHEN bytes >= 1024 THEN CONCAT(CAST(bytes / 1024 AS DECIMAL(30,2)), ' KiB')
  ELSE CONCAT(ROUND(bytes, 0), ' bytes')
END

CREATE OR REPLACE FUNCTION sys.format_time(picoseconds TEXT)
RETURNS TEXT DETERMINISTIC NO SQL SQL SECURITY INVOKER
RETURN CASE
  WHEN picoseconds IS NULL THEN NULL
  WHEN picoseconds >= 604800e12 THEN CONCAT(CAST(picoseconds / 604800e12 AS DECIMAL(30,2)), ' w')
  WHEN picoseconds >= 86400e12 THEN CONCAT(CAST(picoseconds / 86400e12 AS DECIMAL(30,2)), ' d')
  WHEN picoseconds >= 3600e12 THEN CONCAT(CAST(picoseconds / 3600e12 AS DECIMAL(30,2)), ' h')
  WHEN picoseconds >= 60e12 THEN CONCAT(CAST(picoseconds / 60e12 AS DECIMAL(30,2)), ' m')
  WHEN picoseconds >= 1e12 THEN CONCAT(CAST(picoseconds / 1e12 AS DECIMAL(30,2)), ' s')
  WHEN picoseconds >= 1e9 THEN CONCAT(CAST(picoseconds / 1e9 AS DECIMAL(30,2)), ' ms')
  WHEN picoseconds >= 1e6 THEN CONCAT(CAST(picoseconds / 1e6 AS DECIMAL(30,2)), ' us')
  WHEN picoseconds >= 1e3 THEN CONCAT(CAST(picoseconds / 1e3 AS DECIMAL(30,2)), ' ns')
  ELSE CONCAT(picoseconds, ' ps')
END

-- @sys.statement_truncate_len is the length; the first call takes it from sys_config.
CREATE OR REPLACE FUNCTION sys.format_statement(statement LONGTEXT)
RETURNS LONGTEXT DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
BEGIN
  IF @sys.statement_truncate_len IS NULL THEN
    SET @sys.statement_truncate_len = sys.sys_get_config('statement_truncate_len', 64);
  END IF;
  IF CHAR_LENGTH(statement) > @sys.statement_truncate_len THEN
    SET @sys.statement_half_len = ROUND((@sys.statement_truncate_len - 4) / 2);
    SET statement = CONCAT(LEFT(statement, @sys.statement_half_len), ' ... ', RIGHT(statement, @sys.statement_half_len));
  END IF;
  RETURN REPLACE(statement, '\n', ' ');
END

CREATE OR REPLACE FUNCTION sys.format_path(in_path VARCHAR(512))
RETURNS VARCHAR(512) DETERMINISTIC NO SQL SQL SECURITY INVOKER
RETURN CASE
  WHEN LOCATE(@@datadir, in_path) = 1 THEN CONCAT('@@datadir/', SUBSTR(in_path, CHAR_LENGTH(@@datadir) + 1))
  WHEN LOCATE(CONCAT(@@tmpdir, '/'), in_path) = 1 THEN CONCAT('@@tmpdir', SUBSTR(in_path, CHAR_LENGTH(@@tmpdir) + 1))
  ELSE in_path
END

CREATE OR REPLACE FUNCTION sys.extract_schema_from_file_name(path VARCHAR(512))
RETURNS VARCHAR(64) DETERMINISTIC NO SQL SQL SECURITY INVOKER
RETURN LEFT(SUBSTRING_INDEX(SUBSTRING_INDEX(REPLACE(path, '\\', '/'), '/', -2), '/', 1), 64)

CREATE OR REPLACE FUNCTION sys.extract_table_from_file_name(path VARCHAR(512))
RETURNS VARCHAR(64) DETERMINISTIC NO SQL SQL SECURITY INVOKER
RETURN LEFT(SUBSTRING_INDEX(SUBSTRING_INDEX(REPLACE(path, '\\', '/'), '/', -1), '.', 1), 64)

CREATE OR REPLACE FUNCTION sys.quote_identifier(in_identifier TEXT)
RETURNS TEXT DETERMINISTIC NO SQL SQL SECURITY INVOKER
RETURN CONCAT('`', REPLACE(in_identifier, '`', '``'), '`')

CREATE OR REPLACE FUNCTION sys.list_add(in_list TEXT, in_add_value TEXT)
RETURNS TEXT DETERMINISTIC CONTAINS SQL SQL SECURITY INVOKER
BEGIN
  IF in_add_value IS NULL THEN
    SIGNAL SQLSTATE '02200' SET MYSQL_ERRNO = 1138,
      MESSAGE_TEXT = 'Function sys.list_add: in_add_value input variable should not be NULL';
  END IF;
  RETURN CONCAT_WS(',', NULLIF(in_list, ''), in_add_value);
END

-- Commas are doubled, so that each element has its own two, and elements in a row are all found.
CREATE OR REPLACE FUNCTION sys.list_drop(in_list TEXT, in_drop_value TEXT)
RETURNS TEXT DETERMINISTIC CONTAINS SQL SQL SECURITY INVOKER
BEGIN
  IF in_drop_value IS NULL THEN
    SIGNAL SQLSTATE '02200' SET MYSQL_ERRNO = 1138,
      MESSAGE_TEXT = 'Function sys.list_drop: in_drop_value input variable should not be NULL';
  END IF;
  IF in_drop_value = '' THEN
    RETURN in_list;
  END IF;
  SET in_list = CONCAT(',', REGEXP_REPLACE(in_list, ' *, *', ',,'), ',');
  RETURN TRIM(BOTH ',' FROM REPLACE(REPLACE(in_list, CONCAT(',', in_drop_value, ','), ''), ',,', ','));
END

CREATE OR REPLACE FUNCTION sys.version_major()
RETURNS TINYINT UNSIGNED NO SQL SQL SECURITY INVOKER
RETURN SUBSTRING_INDEX(VERSION(), '.', 1)

CREATE OR REPLACE FUNCTION sys.version_minor()
RETURNS TINYINT UNSIGNED NO SQL SQL SECURITY INVOKER
RETURN SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1)

CREATE OR REPLACE FUNCTION sys.version_patch()
RETURNS TINYINT UNSIGNED NO SQL SQL SECURITY INVOKER
RETURN SUBSTRING_INDEX(SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', 3), '.', -1)

CREATE OR REPLACE FUNCTION sys.ps_thread_id(in_connection_id BIGINT UNSIGNED)
RETURNS BIGINT UNSIGNED READS SQL DATA SQL SECURITY INVOKER
RETURN (SELECT thread_id FROM performance_schema.threads WHERE processlist_id = COALESCE(in_connection_id, CONNECTION_ID()))

CREATE OR REPLACE FUNCTION sys.ps_thread_account(in_thread_id BIGINT UNSIGNED)
RETURNS TEXT READS SQL DATA SQL SECURITY INVOKER
RETURN (SELECT CONCAT(processlist_user, '@', processlist_host) FROM performance_schema.threads WHERE thread_id = in_thread_id)

CREATE OR REPLACE FUNCTION sys.ps_is_thread_instrumented(in_connection_id BIGINT UNSIGNED)
RETURNS ENUM('YES', 'NO', 'UNKNOWN') READS SQL DATA SQL SECURITY INVOKER
RETURN IF(in_connection_id IS NULL, NULL, COALESCE(
  (SELECT instrumented FROM performance_schema.threads WHERE processlist_id = in_connection_id), 'UNKNOWN'))

-- information_schema does not have temporary tables, but a second one of the same name cannot be created.
CREATE OR REPLACE PROCEDURE sys.table_exists(
  IN in_db VARCHAR(64), IN in_table VARCHAR(64),
  OUT out_exists ENUM('', 'BASE TABLE', 'VIEW', 'TEMPORARY', 'SEQUENCE', 'SYSTEM VIEW'))
CONTAINS SQL SQL SECURITY INVOKER
BEGIN
  DECLARE quoted TEXT DEFAULT CONCAT(sys.quote_identifier(in_db), '.', sys.quote_identifier(in_table));
  SET out_exists = COALESCE(
    (SELECT table_type FROM information_schema.tables WHERE table_schema = in_db AND table_name = in_table), '');
  IF quoted IS NOT NULL THEN
    BEGIN
      DECLARE EXIT HANDLER FOR 1050 SET out_exists = 'TEMPORARY';
      DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN END;
      EXECUTE IMMEDIATE CONCAT('CREATE TEMPORARY TABLE ', quoted, ' (a INT)');
      EXECUTE IMMEDIATE CONCAT('DROP TEMPORARY TABLE ', quoted);
    END;
  END IF;
END

CREATE OR REPLACE PROCEDURE sys.execute_prepared_stmt(IN in_query LONGTEXT)
READS SQL DATA SQL SECURITY INVOKER
BEGIN
  IF COALESCE(in_query, '') = '' THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'The @sys.execute_prepared_stmt.sql must contain a query';
  END IF;
  EXECUTE IMMEDIATE in_query;
END

CREATE OR REPLACE PROCEDURE sys.create_synonym_db(IN in_db_name VARCHAR(64), IN in_synonym VARCHAR(64))
MODIFIES SQL DATA SQL SECURITY INVOKER
BEGIN
  DECLARE source TEXT DEFAULT sys.quote_identifier(in_db_name);
  DECLARE synonym TEXT DEFAULT sys.quote_identifier(in_synonym);
  DECLARE views INT DEFAULT 0;
  DECLARE problem TEXT;
  IF NOT EXISTS (SELECT 1 FROM information_schema.schemata WHERE schema_name = in_db_name) THEN
    SET problem = CONCAT('Unknown database ', in_db_name);
    SIGNAL SQLSTATE 'HY000' SET MESSAGE_TEXT = problem;
  END IF;
  IF EXISTS (SELECT 1 FROM information_schema.schemata WHERE schema_name = in_synonym) THEN
    SET problem = CONCAT('Can\'t create database ', in_synonym, '; database exists');
    SIGNAL SQLSTATE 'HY000' SET MESSAGE_TEXT = problem;
  END IF;
  EXECUTE IMMEDIATE CONCAT('CREATE DATABASE ', synonym);
  FOR t IN (SELECT sys.quote_identifier(table_name) AS name FROM information_schema.tables WHERE table_schema = in_db_name) DO
    EXECUTE IMMEDIATE CONCAT('CREATE SQL SECURITY INVOKER VIEW ', synonym, '.', t.name, ' AS SELECT * FROM ', source, '.', t.name);
    SET views = views + 1;
  END FOR;
  SELECT CONCAT('Created ', views, ' view', IF(views = 1, '', 's'), ' in the ', synonym, ' database') AS summary;
END

-- Counters of memory are what is used now, so they are not truncated.
CREATE OR REPLACE PROCEDURE sys.ps_truncate_all_tables(IN in_verbose BOOLEAN)
DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
BEGIN
  DECLARE tables INT DEFAULT 0;
  FOR t IN (SELECT CONCAT('TRUNCATE TABLE performance_schema.', table_name) AS statement FROM information_schema.tables
      WHERE table_schema = 'performance_schema' AND (table_name LIKE '%summary%' OR table_name LIKE '%history%')
        AND table_name NOT LIKE 'memory%') DO
    IF in_verbose THEN
      SELECT CONCAT('Running: ', t.statement) AS status;
    END IF;
    EXECUTE IMMEDIATE t.statement;
    SET tables = tables + 1;
  END FOR;
  SELECT CONCAT('Truncated ', tables, ' tables') AS summary;
END

-- A consumer works only if those above it do.
CREATE OR REPLACE FUNCTION sys.ps_is_consumer_enabled(in_consumer VARCHAR(64))
RETURNS ENUM('YES', 'NO') DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
RETURN (SELECT IF(c.enabled = 'NO' OR EXISTS (SELECT 1 FROM performance_schema.setup_consumers a WHERE a.enabled = 'NO' AND
      (a.name = 'global_instrumentation' OR c.name LIKE 'events%' AND a.name = 'thread_instrumentation'
        OR c.name LIKE '%history%' AND a.name = CONCAT(SUBSTRING_INDEX(c.name, '_history', 1), '_current'))), 'NO', 'YES')
  FROM performance_schema.setup_consumers c WHERE c.name = in_consumer)

CREATE OR REPLACE PROCEDURE sys.ps_setup_enable_consumer(IN consumer VARCHAR(128))
MODIFIES SQL DATA SQL SECURITY INVOKER
BEGIN
  DECLARE changed INT;
  UPDATE performance_schema.setup_consumers SET enabled = 'YES' WHERE name LIKE CONCAT('%', consumer, '%');
  SET changed = ROW_COUNT();
  SELECT CONCAT('Enabled ', changed, ' consumer', IF(changed = 1, '', 's')) AS summary;
END

CREATE OR REPLACE PROCEDURE sys.ps_setup_disable_consumer(IN consumer VARCHAR(128))
MODIFIES SQL DATA SQL SECURITY INVOKER
BEGIN
  DECLARE changed INT;
  UPDATE performance_schema.setup_consumers SET enabled = 'NO' WHERE name LIKE CONCAT('%', consumer, '%');
  SET changed = ROW_COUNT();
  SELECT CONCAT('Disabled ', changed, ' consumer', IF(changed = 1, '', 's')) AS summary;
END

CREATE OR REPLACE PROCEDURE sys.ps_setup_show_enabled_consumers()
DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
SELECT name AS enabled_consumers FROM performance_schema.setup_consumers WHERE enabled = 'YES' ORDER BY name

CREATE OR REPLACE PROCEDURE sys.ps_setup_show_disabled_consumers()
DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
SELECT name AS disabled_consumers FROM performance_schema.setup_consumers WHERE enabled = 'NO' ORDER BY name

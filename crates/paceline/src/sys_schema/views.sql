-- The views. Statements are separated by empty lines. Of a view that calls a function format_…, a second one is made
-- without these calls, named x$…; of one with {by}, one is made for users and one for hosts ({of} is the other word).
-- Sorting is by numbers, never by their texts.

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.version AS
SELECT '1.5.1' AS sys_version, VERSION() AS mysql_version

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.ps_check_lost_instrumentation AS
SELECT variable_name, variable_value FROM performance_schema.global_status
WHERE IF(variable_name LIKE 'perf%lost', variable_value > 0, FALSE)

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.metrics AS
SELECT LOWER(variable_name) AS Variable_name, variable_value AS Variable_value, 'Global Status' AS Type, 'YES' AS Enabled
FROM performance_schema.global_status
UNION ALL
SELECT name, count, CONCAT('InnoDB Metrics - ', subsystem), IF(enabled, 'YES', 'NO') FROM information_schema.innodb_metrics
WHERE CONCAT('innodb_', name) NOT IN (SELECT variable_name FROM performance_schema.global_status)
UNION ALL
SELECT 'NOW()', NOW(3), 'System Time', 'YES'
UNION ALL
SELECT 'UNIX_TIMESTAMP()', UNIX_TIMESTAMP(NOW(3)), 'System Time', 'YES'
ORDER BY Type, Variable_name

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.statement_analysis AS
SELECT sys.format_statement(digest_text) AS query, schema_name AS db,
  IF(sum_no_index_used + sum_no_good_index_used > 0, '*', '') AS full_scan,
  count_star AS exec_count, sum_errors AS err_count, sum_warnings AS warn_count,
  sys.format_time(sum_timer_wait) AS total_latency, sys.format_time(max_timer_wait) AS max_latency,
  sys.format_time(avg_timer_wait) AS avg_latency, sys.format_time(sum_lock_time) AS lock_latency,
  sum_rows_sent AS rows_sent, ROUND(IFNULL(sum_rows_sent / NULLIF(count_star, 0), 0)) AS rows_sent_avg,
  sum_rows_examined AS rows_examined, ROUND(IFNULL(sum_rows_examined / NULLIF(count_star, 0), 0)) AS rows_examined_avg,
  sum_rows_affected AS rows_affected, ROUND(IFNULL(sum_rows_affected / NULLIF(count_star, 0), 0)) AS rows_affected_avg,
  sum_created_tmp_tables AS tmp_tables, sum_created_tmp_disk_tables AS tmp_disk_tables,
  sum_sort_rows AS rows_sorted, sum_sort_merge_passes AS sort_merge_passes, digest, first_seen, last_seen
FROM performance_schema.events_statements_summary_by_digest
ORDER BY sum_timer_wait DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.statements_with_errors_or_warnings AS
SELECT sys.format_statement(digest_text) AS query, schema_name AS db, count_star AS exec_count,
  sum_errors AS errors, IFNULL(sum_errors / NULLIF(count_star, 0), 0) * 100 AS error_pct,
  sum_warnings AS warnings, IFNULL(sum_warnings / NULLIF(count_star, 0), 0) * 100 AS warning_pct,
  first_seen, last_seen, digest
FROM performance_schema.events_statements_summary_by_digest
WHERE sum_errors > 0 OR sum_warnings > 0
ORDER BY sum_errors DESC, sum_warnings DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.statements_with_full_table_scans AS
SELECT sys.format_statement(digest_text) AS query, schema_name AS db, count_star AS exec_count,
  sys.format_time(sum_timer_wait) AS total_latency,
  sum_no_index_used AS no_index_used_count, sum_no_good_index_used AS no_good_index_used_count,
  ROUND(IFNULL(sum_no_index_used / NULLIF(count_star, 0), 0) * 100) AS no_index_used_pct,
  sum_rows_sent AS rows_sent, sum_rows_examined AS rows_examined,
  ROUND(sum_rows_sent / count_star) AS rows_sent_avg, ROUND(sum_rows_examined / count_star) AS rows_examined_avg,
  first_seen, last_seen, digest
FROM performance_schema.events_statements_summary_by_digest
WHERE sum_no_index_used + sum_no_good_index_used > 0 AND digest_text NOT LIKE 'SHOW%'
ORDER BY sum_no_index_used / count_star DESC, sum_timer_wait DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.statements_with_sorting AS
SELECT sys.format_statement(digest_text) AS query, schema_name AS db, count_star AS exec_count,
  sys.format_time(sum_timer_wait) AS total_latency, sum_sort_merge_passes AS sort_merge_passes,
  ROUND(IFNULL(sum_sort_merge_passes / NULLIF(count_star, 0), 0)) AS avg_sort_merges,
  sum_sort_scan AS sorts_using_scans, sum_sort_range AS sort_using_range, sum_sort_rows AS rows_sorted,
  ROUND(IFNULL(sum_sort_rows / NULLIF(count_star, 0), 0)) AS avg_rows_sorted, first_seen, last_seen, digest
FROM performance_schema.events_statements_summary_by_digest
WHERE sum_sort_rows > 0
ORDER BY sum_timer_wait DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.statements_with_temp_tables AS
SELECT sys.format_statement(digest_text) AS query, schema_name AS db, count_star AS exec_count,
  sys.format_time(sum_timer_wait) AS total_latency,
  sum_created_tmp_tables AS memory_tmp_tables, sum_created_tmp_disk_tables AS disk_tmp_tables,
  ROUND(IFNULL(sum_created_tmp_tables / NULLIF(count_star, 0), 0)) AS avg_tmp_tables_per_query,
  ROUND(IFNULL(sum_created_tmp_disk_tables / NULLIF(sum_created_tmp_tables, 0), 0) * 100) AS tmp_tables_to_disk_pct,
  first_seen, last_seen, digest
FROM performance_schema.events_statements_summary_by_digest
WHERE sum_created_tmp_tables > 0
ORDER BY sum_created_tmp_disk_tables DESC, sum_created_tmp_tables DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.x$ps_digest_avg_latency_distribution AS
SELECT COUNT(*) AS cnt, ROUND(avg_timer_wait / 1000000) AS avg_us
FROM performance_schema.events_statements_summary_by_digest
GROUP BY avg_us

-- The least average latency that more than 95 % of the digests do not exceed.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.x$ps_digest_95th_percentile_by_avg_us AS
SELECT avg_us, percentile
FROM (SELECT avg_us, IFNULL(SUM(cnt) OVER (ORDER BY avg_us) / SUM(cnt) OVER (), 0) AS percentile
  FROM sys.x$ps_digest_avg_latency_distribution) d
WHERE percentile > 0.95
ORDER BY percentile LIMIT 1

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.statements_with_runtimes_in_95th_percentile AS
SELECT sys.format_statement(digest_text) AS query, schema_name AS db,
  IF(sum_no_index_used + sum_no_good_index_used > 0, '*', '') AS full_scan,
  count_star AS exec_count, sum_errors AS err_count, sum_warnings AS warn_count,
  sys.format_time(sum_timer_wait) AS total_latency, sys.format_time(max_timer_wait) AS max_latency,
  sys.format_time(avg_timer_wait) AS avg_latency,
  sum_rows_sent AS rows_sent, ROUND(IFNULL(sum_rows_sent / NULLIF(count_star, 0), 0)) AS rows_sent_avg,
  sum_rows_examined AS rows_examined, ROUND(IFNULL(sum_rows_examined / NULLIF(count_star, 0), 0)) AS rows_examined_avg,
  first_seen, last_seen, digest
FROM performance_schema.events_statements_summary_by_digest
  JOIN sys.x$ps_digest_95th_percentile_by_avg_us p ON ROUND(avg_timer_wait / 1000000) >= p.avg_us
ORDER BY avg_timer_wait DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.{by}_summary_by_statement_latency AS
SELECT COALESCE({by}, 'background') AS {by}, SUM(count_star) AS total, sys.format_time(SUM(sum_timer_wait)) AS total_latency,
  sys.format_time(MAX(max_timer_wait)) AS max_latency, sys.format_time(SUM(sum_lock_time)) AS lock_latency,
  SUM(sum_rows_sent) AS rows_sent, SUM(sum_rows_examined) AS rows_examined, SUM(sum_rows_affected) AS rows_affected,
  SUM(sum_no_index_used) + SUM(sum_no_good_index_used) AS full_scans
FROM performance_schema.events_statements_summary_by_{by}_by_event_name
GROUP BY 1
ORDER BY SUM(sum_timer_wait) DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.{by}_summary_by_statement_type AS
SELECT COALESCE({by}, 'background') AS {by}, SUBSTRING_INDEX(event_name, '/', -1) AS statement, count_star AS total,
  sys.format_time(sum_timer_wait) AS total_latency, sys.format_time(max_timer_wait) AS max_latency,
  sys.format_time(sum_lock_time) AS lock_latency, sum_rows_sent AS rows_sent, sum_rows_examined AS rows_examined,
  sum_rows_affected AS rows_affected, sum_no_index_used + sum_no_good_index_used AS full_scans
FROM performance_schema.events_statements_summary_by_{by}_by_event_name
WHERE sum_timer_wait > 0
ORDER BY COALESCE({by}, 'background'), sum_timer_wait DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.{by}_summary_by_stages AS
SELECT COALESCE({by}, 'background') AS {by}, event_name, count_star AS total,
  sys.format_time(sum_timer_wait) AS total_latency, sys.format_time(avg_timer_wait) AS avg_latency
FROM performance_schema.events_stages_summary_by_{by}_by_event_name
WHERE sum_timer_wait > 0
ORDER BY COALESCE({by}, 'background'), sum_timer_wait DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.{by}_summary_by_file_io AS
SELECT COALESCE({by}, 'background') AS {by}, SUM(count_star) AS ios, sys.format_time(SUM(sum_timer_wait)) AS io_latency
FROM performance_schema.events_waits_summary_by_{by}_by_event_name
WHERE event_name LIKE 'wait/io/file/%'
GROUP BY 1
ORDER BY SUM(sum_timer_wait) DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.host_summary_by_file_io_type AS
SELECT COALESCE(host, 'background') AS host, event_name, count_star AS total,
  sys.format_time(sum_timer_wait) AS total_latency, sys.format_time(max_timer_wait) AS max_latency
FROM performance_schema.events_waits_summary_by_host_by_event_name
WHERE event_name LIKE 'wait/io/file/%' AND count_star > 0
ORDER BY COALESCE(host, 'background'), sum_timer_wait DESC

-- That of users has another name for the total.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.user_summary_by_file_io_type AS
SELECT COALESCE(user, 'background') AS user, event_name, count_star AS total,
  sys.format_time(sum_timer_wait) AS latency, sys.format_time(max_timer_wait) AS max_latency
FROM performance_schema.events_waits_summary_by_user_by_event_name
WHERE event_name LIKE 'wait/io/file/%' AND count_star > 0
ORDER BY COALESCE(user, 'background'), sum_timer_wait DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.waits_by_{by}_by_latency AS
SELECT COALESCE({by}, 'background') AS {by}, event_name AS event, count_star AS total,
  sys.format_time(sum_timer_wait) AS total_latency, sys.format_time(avg_timer_wait) AS avg_latency,
  sys.format_time(max_timer_wait) AS max_latency
FROM performance_schema.events_waits_summary_by_{by}_by_event_name
WHERE event_name != 'idle' AND sum_timer_wait > 0
ORDER BY COALESCE({by}, 'background'), sum_timer_wait DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.waits_global_by_latency AS
SELECT event_name AS events, count_star AS total, sys.format_time(sum_timer_wait) AS total_latency,
  sys.format_time(avg_timer_wait) AS avg_latency, sys.format_time(max_timer_wait) AS max_latency
FROM performance_schema.events_waits_summary_global_by_event_name
WHERE event_name != 'idle' AND sum_timer_wait > 0
ORDER BY sum_timer_wait DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.wait_classes_global_by_latency AS
SELECT SUBSTRING_INDEX(event_name, '/', 3) AS event_class, SUM(count_star) AS total,
  sys.format_time(SUM(sum_timer_wait)) AS total_latency, sys.format_time(MIN(min_timer_wait)) AS min_latency,
  sys.format_time(IFNULL(SUM(sum_timer_wait) / NULLIF(SUM(count_star), 0), 0)) AS avg_latency,
  sys.format_time(MAX(max_timer_wait)) AS max_latency
FROM performance_schema.events_waits_summary_global_by_event_name
WHERE event_name != 'idle' AND sum_timer_wait > 0
GROUP BY event_class
ORDER BY SUM(sum_timer_wait) DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.wait_classes_global_by_avg_latency AS
SELECT SUBSTRING_INDEX(event_name, '/', 3) AS event_class, SUM(count_star) AS total,
  sys.format_time(SUM(sum_timer_wait)) AS total_latency, sys.format_time(MIN(min_timer_wait)) AS min_latency,
  sys.format_time(IFNULL(SUM(sum_timer_wait) / NULLIF(SUM(count_star), 0), 0)) AS avg_latency,
  sys.format_time(MAX(max_timer_wait)) AS max_latency
FROM performance_schema.events_waits_summary_global_by_event_name
WHERE event_name != 'idle' AND sum_timer_wait > 0
GROUP BY event_class
ORDER BY IFNULL(SUM(sum_timer_wait) / NULLIF(SUM(count_star), 0), 0) DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.memory_by_{by}_by_current_bytes AS
SELECT COALESCE({by}, 'background') AS {by}, SUM(current_count_used) AS current_count_used,
  sys.format_bytes(SUM(current_number_of_bytes_used)) AS current_allocated,
  sys.format_bytes(IFNULL(SUM(current_number_of_bytes_used) / NULLIF(SUM(current_count_used), 0), 0)) AS current_avg_alloc,
  sys.format_bytes(MAX(current_number_of_bytes_used)) AS current_max_alloc,
  sys.format_bytes(SUM(sum_number_of_bytes_alloc)) AS total_allocated
FROM performance_schema.memory_summary_by_{by}_by_event_name
GROUP BY 1
ORDER BY SUM(current_number_of_bytes_used) DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.memory_by_thread_by_current_bytes AS
SELECT m.thread_id, MAX(IF(t.processlist_id IS NULL, REPLACE(t.name, 'thread/', ''),
    CONCAT(t.processlist_user, '@', t.processlist_host))) AS user,
  SUM(m.current_count_used) AS current_count_used,
  sys.format_bytes(SUM(m.current_number_of_bytes_used)) AS current_allocated,
  sys.format_bytes(IFNULL(SUM(m.current_number_of_bytes_used) / NULLIF(SUM(m.current_count_used), 0), 0)) AS current_avg_alloc,
  sys.format_bytes(MAX(m.current_number_of_bytes_used)) AS current_max_alloc,
  sys.format_bytes(SUM(m.sum_number_of_bytes_alloc)) AS total_allocated
FROM performance_schema.memory_summary_by_thread_by_event_name m
  JOIN performance_schema.threads t ON t.thread_id = m.thread_id
GROUP BY m.thread_id
ORDER BY SUM(m.current_number_of_bytes_used) DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.memory_global_by_current_bytes AS
SELECT event_name, current_count_used AS current_count, sys.format_bytes(current_number_of_bytes_used) AS current_alloc,
  sys.format_bytes(IFNULL(current_number_of_bytes_used / NULLIF(current_count_used, 0), 0)) AS current_avg_alloc,
  high_count_used AS high_count, sys.format_bytes(high_number_of_bytes_used) AS high_alloc,
  sys.format_bytes(IFNULL(high_number_of_bytes_used / NULLIF(high_count_used, 0), 0)) AS high_avg_alloc
FROM performance_schema.memory_summary_global_by_event_name
WHERE current_number_of_bytes_used > 0
ORDER BY current_number_of_bytes_used DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.memory_global_total AS
SELECT sys.format_bytes(SUM(current_number_of_bytes_used)) AS total_allocated
FROM performance_schema.memory_summary_global_by_event_name

-- Accounts are added up first, because the other tables have one row for all accounts of a user or host.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.{by}_summary AS
SELECT a.name AS {by}, s.total AS statements, sys.format_time(s.total_latency) AS statement_latency,
  sys.format_time(IFNULL(s.total_latency / NULLIF(s.total, 0), 0)) AS statement_avg_latency, s.full_scans AS table_scans,
  f.ios AS file_ios, sys.format_time(f.io_latency) AS file_io_latency,
  a.current_connections, a.total_connections, a.others AS unique_{of}s,
  sys.format_bytes(m.current_allocated) AS current_memory, sys.format_bytes(m.total_allocated) AS total_memory_allocated
FROM (SELECT COALESCE({by}, 'background') AS name, SUM(current_connections) AS current_connections,
    SUM(total_connections) AS total_connections, COUNT(DISTINCT {of}) AS others
    FROM performance_schema.accounts GROUP BY 1) a
  LEFT JOIN sys.x${by}_summary_by_statement_latency s ON s.{by} = a.name
  LEFT JOIN sys.x${by}_summary_by_file_io f ON f.{by} = a.name
  LEFT JOIN sys.x$memory_by_{by}_by_current_bytes m ON m.{by} = a.name
ORDER BY s.total_latency DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.io_global_by_file_by_bytes AS
SELECT sys.format_path(file_name) AS file, count_read, sys.format_bytes(sum_number_of_bytes_read) AS total_read,
  sys.format_bytes(IFNULL(sum_number_of_bytes_read / NULLIF(count_read, 0), 0)) AS avg_read,
  count_write, sys.format_bytes(sum_number_of_bytes_write) AS total_written,
  sys.format_bytes(IFNULL(sum_number_of_bytes_write / NULLIF(count_write, 0), 0)) AS avg_write,
  sys.format_bytes(sum_number_of_bytes_read + sum_number_of_bytes_write) AS total,
  IFNULL(ROUND(100 * sum_number_of_bytes_write / NULLIF(sum_number_of_bytes_read + sum_number_of_bytes_write, 0), 2), 0.00)
    AS write_pct
FROM performance_schema.file_summary_by_instance
ORDER BY sum_number_of_bytes_read + sum_number_of_bytes_write DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.io_global_by_file_by_latency AS
SELECT sys.format_path(file_name) AS file, count_star AS total, sys.format_time(sum_timer_wait) AS total_latency,
  count_read, sys.format_time(sum_timer_read) AS read_latency, count_write, sys.format_time(sum_timer_write) AS write_latency,
  count_misc, sys.format_time(sum_timer_misc) AS misc_latency
FROM performance_schema.file_summary_by_instance
ORDER BY sum_timer_wait DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.io_global_by_wait_by_bytes AS
SELECT SUBSTRING_INDEX(event_name, '/', -2) AS event_name, count_star AS total,
  sys.format_time(sum_timer_wait) AS total_latency, sys.format_time(min_timer_wait) AS min_latency,
  sys.format_time(avg_timer_wait) AS avg_latency, sys.format_time(max_timer_wait) AS max_latency,
  count_read, sys.format_bytes(sum_number_of_bytes_read) AS total_read,
  sys.format_bytes(IFNULL(sum_number_of_bytes_read / NULLIF(count_read, 0), 0)) AS avg_read,
  count_write, sys.format_bytes(sum_number_of_bytes_write) AS total_written,
  sys.format_bytes(IFNULL(sum_number_of_bytes_write / NULLIF(count_write, 0), 0)) AS avg_written,
  sys.format_bytes(sum_number_of_bytes_write + sum_number_of_bytes_read) AS total_requested
FROM performance_schema.file_summary_by_event_name
WHERE event_name LIKE 'wait/io/file/%' AND count_star > 0
ORDER BY sum_number_of_bytes_write + sum_number_of_bytes_read DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.io_global_by_wait_by_latency AS
SELECT SUBSTRING_INDEX(event_name, '/', -2) AS event_name, count_star AS total,
  sys.format_time(sum_timer_wait) AS total_latency, sys.format_time(avg_timer_wait) AS avg_latency,
  sys.format_time(max_timer_wait) AS max_latency, sys.format_time(sum_timer_read) AS read_latency,
  sys.format_time(sum_timer_write) AS write_latency, sys.format_time(sum_timer_misc) AS misc_latency,
  count_read, sys.format_bytes(sum_number_of_bytes_read) AS total_read,
  sys.format_bytes(IFNULL(sum_number_of_bytes_read / NULLIF(count_read, 0), 0)) AS avg_read,
  count_write, sys.format_bytes(sum_number_of_bytes_write) AS total_written,
  sys.format_bytes(IFNULL(sum_number_of_bytes_write / NULLIF(count_write, 0), 0)) AS avg_written
FROM performance_schema.file_summary_by_event_name
WHERE event_name LIKE 'wait/io/file/%' AND count_star > 0
ORDER BY sum_timer_wait DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.io_by_thread_by_latency AS
SELECT MAX(IF(t.processlist_id IS NULL, SUBSTRING_INDEX(t.name, '/', -1),
    CONCAT(t.processlist_user, '@', t.processlist_host))) AS user,
  SUM(w.count_star) AS total, sys.format_time(SUM(w.sum_timer_wait)) AS total_latency,
  sys.format_time(MIN(w.min_timer_wait)) AS min_latency,
  sys.format_time(SUM(w.sum_timer_wait) / SUM(w.count_star)) AS avg_latency,
  sys.format_time(MAX(w.max_timer_wait)) AS max_latency, w.thread_id, MAX(t.processlist_id) AS processlist_id
FROM performance_schema.events_waits_summary_by_thread_by_event_name w
  LEFT JOIN performance_schema.threads t ON t.thread_id = w.thread_id
WHERE w.event_name LIKE 'wait/io/file/%' AND w.sum_timer_wait > 0
GROUP BY w.thread_id
ORDER BY SUM(w.sum_timer_wait) DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.latest_file_io AS
SELECT IF(t.processlist_id IS NULL, CONCAT(SUBSTRING_INDEX(t.name, '/', -1), ':', w.thread_id),
    CONCAT(t.processlist_user, '@', t.processlist_host, ':', t.processlist_id)) AS thread,
  sys.format_path(w.object_name) AS file, sys.format_time(w.timer_wait) AS latency, w.operation,
  sys.format_bytes(w.number_of_bytes) AS requested
FROM performance_schema.events_waits_history_long w JOIN performance_schema.threads t ON t.thread_id = w.thread_id
WHERE w.object_name IS NOT NULL AND w.event_name LIKE 'wait/io/file/%'
ORDER BY w.timer_start

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.innodb_buffer_stats_by_table AS
SELECT IF(LOCATE('.', table_name) = 0, 'InnoDB System', REPLACE(SUBSTRING_INDEX(table_name, '.', 1), '`', '')) AS object_schema,
  REPLACE(SUBSTRING_INDEX(table_name, '.', -1), '`', '') AS object_name,
  sys.format_bytes(SUM(IF(compressed_size = 0, 16384, compressed_size))) AS allocated,
  sys.format_bytes(SUM(data_size)) AS data, COUNT(page_number) AS pages, COUNT(IF(is_hashed > 0, 1, NULL)) AS pages_hashed,
  COUNT(IF(is_old = 'YES', 1, NULL)) AS pages_old,
  IFNULL(ROUND(SUM(number_records) / COUNT(DISTINCT index_name)), 0) AS rows_cached
FROM information_schema.innodb_buffer_page
WHERE table_name IS NOT NULL
GROUP BY 1, 2
ORDER BY SUM(IF(compressed_size = 0, 16384, compressed_size)) DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.innodb_buffer_stats_by_schema AS
SELECT IF(LOCATE('.', table_name) = 0, 'InnoDB System', REPLACE(SUBSTRING_INDEX(table_name, '.', 1), '`', '')) AS object_schema,
  sys.format_bytes(SUM(IF(compressed_size = 0, 16384, compressed_size))) AS allocated,
  sys.format_bytes(SUM(data_size)) AS data, COUNT(page_number) AS pages, COUNT(IF(is_hashed > 0, 1, NULL)) AS pages_hashed,
  COUNT(IF(is_old = 'YES', 1, NULL)) AS pages_old,
  IFNULL(ROUND(SUM(number_records) / COUNT(DISTINCT table_name, index_name)), 0) AS rows_cached
FROM information_schema.innodb_buffer_page
WHERE table_name IS NOT NULL
GROUP BY 1
ORDER BY SUM(IF(compressed_size = 0, 16384, compressed_size)) DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.innodb_lock_waits AS
SELECT r.trx_wait_started AS wait_started, TIMEDIFF(NOW(), r.trx_wait_started) AS wait_age,
  TIMESTAMPDIFF(SECOND, r.trx_wait_started, NOW()) AS wait_age_secs,
  rl.lock_table AS locked_table, rl.lock_index AS locked_index, rl.lock_type AS locked_type,
  r.trx_id AS waiting_trx_id, r.trx_started AS waiting_trx_started, TIMEDIFF(NOW(), r.trx_started) AS waiting_trx_age,
  r.trx_rows_locked AS waiting_trx_rows_locked, r.trx_rows_modified AS waiting_trx_rows_modified,
  r.trx_mysql_thread_id AS waiting_pid, sys.format_statement(r.trx_query) AS waiting_query,
  rl.lock_id AS waiting_lock_id, rl.lock_mode AS waiting_lock_mode,
  b.trx_id AS blocking_trx_id, b.trx_mysql_thread_id AS blocking_pid, sys.format_statement(b.trx_query) AS blocking_query,
  bl.lock_id AS blocking_lock_id, bl.lock_mode AS blocking_lock_mode,
  b.trx_started AS blocking_trx_started, TIMEDIFF(NOW(), b.trx_started) AS blocking_trx_age,
  b.trx_rows_locked AS blocking_trx_rows_locked, b.trx_rows_modified AS blocking_trx_rows_modified,
  CONCAT('KILL QUERY ', b.trx_mysql_thread_id) AS sql_kill_blocking_query,
  CONCAT('KILL ', b.trx_mysql_thread_id) AS sql_kill_blocking_connection
FROM information_schema.innodb_lock_waits w
  JOIN information_schema.innodb_trx r ON r.trx_id = w.requesting_trx_id
  JOIN information_schema.innodb_trx b ON b.trx_id = w.blocking_trx_id
  JOIN information_schema.innodb_locks rl ON rl.lock_id = w.requested_lock_id
  JOIN information_schema.innodb_locks bl ON bl.lock_id = w.blocking_lock_id
ORDER BY r.trx_wait_started

-- A session that waits for a stronger lock is not blocked by the one that it holds.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.schema_table_lock_waits AS
SELECT w.object_schema, w.object_name, w.owner_thread_id AS waiting_thread_id, wt.processlist_id AS waiting_pid,
  sys.ps_thread_account(w.owner_thread_id) AS waiting_account, w.lock_type AS waiting_lock_type,
  w.lock_duration AS waiting_lock_duration, sys.format_statement(wt.processlist_info) AS waiting_query,
  wt.processlist_time AS waiting_query_secs, ws.rows_affected AS waiting_query_rows_affected,
  ws.rows_examined AS waiting_query_rows_examined,
  b.owner_thread_id AS blocking_thread_id, bt.processlist_id AS blocking_pid,
  sys.ps_thread_account(b.owner_thread_id) AS blocking_account, b.lock_type AS blocking_lock_type,
  b.lock_duration AS blocking_lock_duration, CONCAT('KILL QUERY ', bt.processlist_id) AS sql_kill_blocking_query,
  CONCAT('KILL ', bt.processlist_id) AS sql_kill_blocking_connection
FROM performance_schema.metadata_locks w
  JOIN performance_schema.metadata_locks b ON b.object_type = w.object_type AND b.object_schema = w.object_schema
    AND b.object_name = w.object_name AND b.lock_status = 'GRANTED' AND b.owner_thread_id != w.owner_thread_id
  JOIN performance_schema.threads wt ON wt.thread_id = w.owner_thread_id
  JOIN performance_schema.threads bt ON bt.thread_id = b.owner_thread_id
  LEFT JOIN performance_schema.events_statements_current ws ON ws.thread_id = w.owner_thread_id
WHERE w.object_type = 'TABLE' AND w.lock_status = 'PENDING'

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.schema_object_overview AS
SELECT routine_schema AS db, routine_type AS object_type, COUNT(*) AS count FROM information_schema.routines GROUP BY 1, 2
UNION ALL
SELECT table_schema, table_type, COUNT(*) FROM information_schema.tables GROUP BY 1, 2
UNION ALL
SELECT table_schema, CONCAT('INDEX (', index_type, ')'), COUNT(*) FROM information_schema.statistics
WHERE seq_in_index = 1 GROUP BY 1, 2
UNION ALL
SELECT trigger_schema, 'TRIGGER', COUNT(*) FROM information_schema.triggers GROUP BY 1
UNION ALL
SELECT event_schema, 'EVENT', COUNT(*) FROM information_schema.events GROUP BY 1
ORDER BY db, object_type

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.schema_auto_increment_columns AS
SELECT table_schema, table_name, column_name, data_type, column_type, is_signed, is_unsigned,
  18446744073709551615 >> (64 + is_signed - bits) AS max_value, auto_increment,
  auto_increment / (18446744073709551615 >> (64 + is_signed - bits)) AS auto_increment_ratio
FROM (SELECT c.table_schema, c.table_name, c.column_name, c.data_type, c.column_type, t.auto_increment,
    LOCATE('unsigned', c.column_type) = 0 AS is_signed, LOCATE('unsigned', c.column_type) > 0 AS is_unsigned,
    8 * NULLIF(FIELD(c.data_type, 'tinyint', 'smallint', 'mediumint', 'int', '', '', '', 'bigint'), 0) AS bits
  FROM information_schema.columns c
    JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
  WHERE c.table_schema NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')
    AND t.table_type = 'BASE TABLE' AND c.extra LIKE '%auto_increment%') a
ORDER BY auto_increment_ratio DESC, max_value

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.x$schema_flattened_keys AS
SELECT table_schema, table_name, index_name, MAX(non_unique) AS non_unique, MAX(sub_part IS NOT NULL) AS subpart_exists,
  GROUP_CONCAT(column_name ORDER BY seq_in_index SEPARATOR ',') AS index_columns
FROM information_schema.statistics
WHERE index_type = 'BTREE' AND table_schema NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')
GROUP BY table_schema, table_name, index_name

-- An index is redundant beside
--   1. another one of the same columns, unless only the redundant one is unique; of two that are alike, the primary key
--      stays, else the one whose name comes first;
--   2. a longer one that begins with its columns, unless it is unique;
--   3. a shorter unique one whose columns it begins with.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.schema_redundant_indexes AS
SELECT r.table_schema, r.table_name, r.index_name AS redundant_index_name, r.index_columns AS redundant_index_columns,
  r.non_unique AS redundant_index_non_unique, d.index_name AS dominant_index_name, d.index_columns AS dominant_index_columns,
  d.non_unique AS dominant_index_non_unique, IF(r.subpart_exists OR d.subpart_exists, 1, 0) AS subpart_exists,
  CONCAT('ALTER TABLE `', r.table_schema, '`.`', r.table_name, '` DROP INDEX `', r.index_name, '`') AS sql_drop_index
FROM sys.x$schema_flattened_keys r JOIN sys.x$schema_flattened_keys d
  ON d.table_schema = r.table_schema AND d.table_name = r.table_name AND d.index_name != r.index_name
WHERE d.index_columns = r.index_columns AND (r.non_unique > d.non_unique OR r.non_unique = d.non_unique AND
    IF(r.index_name = 'PRIMARY', '', r.index_name) > IF(d.index_name = 'PRIMARY', '', d.index_name))
  OR LOCATE(CONCAT(r.index_columns, ','), d.index_columns) = 1 AND r.non_unique
  OR LOCATE(CONCAT(d.index_columns, ','), r.index_columns) = 1 AND NOT d.non_unique

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.schema_unused_indexes AS
SELECT object_schema, object_name, index_name
FROM performance_schema.table_io_waits_summary_by_index_usage
WHERE index_name IS NOT NULL AND index_name != 'PRIMARY' AND count_star = 0 AND object_schema != 'mysql'
ORDER BY object_schema, object_name

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.schema_index_statistics AS
SELECT object_schema AS table_schema, object_name AS table_name, index_name,
  count_fetch AS rows_selected, sys.format_time(sum_timer_fetch) AS select_latency,
  count_insert AS rows_inserted, sys.format_time(sum_timer_insert) AS insert_latency,
  count_update AS rows_updated, sys.format_time(sum_timer_update) AS update_latency,
  count_delete AS rows_deleted, sys.format_time(sum_timer_delete) AS delete_latency
FROM performance_schema.table_io_waits_summary_by_index_usage
WHERE index_name IS NOT NULL
ORDER BY sum_timer_wait DESC, count_star DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.schema_tables_with_full_table_scans AS
SELECT object_schema, object_name, count_read AS rows_full_scanned, sys.format_time(sum_timer_wait) AS latency
FROM performance_schema.table_io_waits_summary_by_index_usage
WHERE index_name IS NULL AND count_read > 0
ORDER BY count_read DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.x$ps_schema_table_statistics_io AS
SELECT sys.extract_schema_from_file_name(file_name) AS table_schema, sys.extract_table_from_file_name(file_name) AS table_name,
  SUM(count_read) AS count_read, SUM(sum_number_of_bytes_read) AS sum_number_of_bytes_read,
  SUM(sum_timer_read) AS sum_timer_read, SUM(count_write) AS count_write,
  SUM(sum_number_of_bytes_write) AS sum_number_of_bytes_write, SUM(sum_timer_write) AS sum_timer_write,
  SUM(count_misc) AS count_misc, SUM(sum_timer_misc) AS sum_timer_misc
FROM performance_schema.file_summary_by_instance
GROUP BY 1, 2

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.schema_table_statistics AS
SELECT t.object_schema AS table_schema, t.object_name AS table_name, sys.format_time(t.sum_timer_wait) AS total_latency,
  t.count_fetch AS rows_fetched, sys.format_time(t.sum_timer_fetch) AS fetch_latency,
  t.count_insert AS rows_inserted, sys.format_time(t.sum_timer_insert) AS insert_latency,
  t.count_update AS rows_updated, sys.format_time(t.sum_timer_update) AS update_latency,
  t.count_delete AS rows_deleted, sys.format_time(t.sum_timer_delete) AS delete_latency,
  f.count_read AS io_read_requests, sys.format_bytes(f.sum_number_of_bytes_read) AS io_read,
  sys.format_time(f.sum_timer_read) AS io_read_latency,
  f.count_write AS io_write_requests, sys.format_bytes(f.sum_number_of_bytes_write) AS io_write,
  sys.format_time(f.sum_timer_write) AS io_write_latency,
  f.count_misc AS io_misc_requests, sys.format_time(f.sum_timer_misc) AS io_misc_latency
FROM performance_schema.table_io_waits_summary_by_table t LEFT JOIN sys.x$ps_schema_table_statistics_io f
  ON f.table_schema = t.object_schema AND f.table_name = t.object_name
ORDER BY t.sum_timer_wait DESC, t.count_star DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.schema_table_statistics_with_buffer AS
SELECT t.object_schema AS table_schema, t.object_name AS table_name,
  t.count_fetch AS rows_fetched, sys.format_time(t.sum_timer_fetch) AS fetch_latency,
  t.count_insert AS rows_inserted, sys.format_time(t.sum_timer_insert) AS insert_latency,
  t.count_update AS rows_updated, sys.format_time(t.sum_timer_update) AS update_latency,
  t.count_delete AS rows_deleted, sys.format_time(t.sum_timer_delete) AS delete_latency,
  f.count_read AS io_read_requests, sys.format_bytes(f.sum_number_of_bytes_read) AS io_read,
  sys.format_time(f.sum_timer_read) AS io_read_latency,
  f.count_write AS io_write_requests, sys.format_bytes(f.sum_number_of_bytes_write) AS io_write,
  sys.format_time(f.sum_timer_write) AS io_write_latency,
  f.count_misc AS io_misc_requests, sys.format_time(f.sum_timer_misc) AS io_misc_latency,
  sys.format_bytes(b.allocated) AS innodb_buffer_allocated, sys.format_bytes(b.data) AS innodb_buffer_data,
  sys.format_bytes(b.allocated - b.data) AS innodb_buffer_free, b.pages AS innodb_buffer_pages,
  b.pages_hashed AS innodb_buffer_pages_hashed, b.pages_old AS innodb_buffer_pages_old,
  b.rows_cached AS innodb_buffer_rows_cached
FROM performance_schema.table_io_waits_summary_by_table t LEFT JOIN sys.x$ps_schema_table_statistics_io f
    ON f.table_schema = t.object_schema AND f.table_name = t.object_name
  LEFT JOIN sys.x$innodb_buffer_stats_by_table b ON b.object_schema = t.object_schema AND b.object_name = t.object_name
ORDER BY t.sum_timer_wait DESC, t.count_star DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.processlist AS
SELECT t.thread_id AS thd_id, t.processlist_id AS conn_id,
  IF(t.processlist_id IS NULL, REPLACE(t.name, 'thread/', ''), CONCAT(t.processlist_user, '@', t.processlist_host)) AS user,
  t.processlist_db AS db, t.processlist_command AS command, t.processlist_state AS state, t.processlist_time AS time,
  sys.format_statement(t.processlist_info) AS current_statement,
  IF(s.end_event_id IS NULL, sys.format_time(s.timer_wait), NULL) AS statement_latency,
  IF(s.end_event_id IS NULL, ROUND(100 * g.work_completed / g.work_estimated, 2), NULL) AS progress,
  sys.format_time(s.lock_time) AS lock_latency, s.rows_examined, s.rows_sent, s.rows_affected,
  s.created_tmp_tables AS tmp_tables, s.created_tmp_disk_tables AS tmp_disk_tables,
  IF(s.no_index_used > 0 OR s.no_good_index_used > 0, 'YES', 'NO') AS full_scan,
  IF(s.end_event_id IS NOT NULL, sys.format_statement(s.sql_text), NULL) AS last_statement,
  IF(s.end_event_id IS NOT NULL, sys.format_time(s.timer_wait), NULL) AS last_statement_latency,
  sys.format_bytes(m.current_allocated) AS current_memory, w.event_name AS last_wait,
  IF(w.end_event_id IS NULL AND w.event_name IS NOT NULL, 'Still Waiting', sys.format_time(w.timer_wait)) AS last_wait_latency,
  w.source, sys.format_time(x.timer_wait) AS trx_latency, x.state AS trx_state, x.autocommit AS trx_autocommit,
  p.attr_value AS pid, n.attr_value AS program_name
FROM performance_schema.threads t
  LEFT JOIN performance_schema.events_statements_current s ON s.thread_id = t.thread_id
  LEFT JOIN performance_schema.events_stages_current g ON g.thread_id = t.thread_id
  LEFT JOIN performance_schema.events_waits_current w ON w.thread_id = t.thread_id
  LEFT JOIN performance_schema.events_transactions_current x ON x.thread_id = t.thread_id
  LEFT JOIN sys.x$memory_by_thread_by_current_bytes m ON m.thread_id = t.thread_id
  LEFT JOIN performance_schema.session_connect_attrs p ON p.processlist_id = t.processlist_id AND p.attr_name = '_pid'
  LEFT JOIN performance_schema.session_connect_attrs n
    ON n.processlist_id = t.processlist_id AND n.attr_name = 'program_name'
ORDER BY t.processlist_time DESC, IF(s.end_event_id IS NULL, s.timer_wait, NULL) DESC

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.session AS
SELECT * FROM sys.processlist WHERE conn_id IS NOT NULL AND command != 'Daemon'

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.x$session AS
SELECT * FROM sys.x$processlist WHERE conn_id IS NOT NULL AND command != 'Daemon'

CREATE OR REPLACE SQL SECURITY INVOKER VIEW sys.session_ssl_status AS
SELECT v.thread_id, v.variable_value AS ssl_version, c.variable_value AS ssl_cipher, r.variable_value AS ssl_sessions_reused
FROM performance_schema.status_by_thread v
  LEFT JOIN performance_schema.status_by_thread c ON c.thread_id = v.thread_id AND c.variable_name = 'Ssl_cipher'
  LEFT JOIN performance_schema.status_by_thread r ON r.thread_id = v.thread_id AND r.variable_name = 'Ssl_sessions_reused'
WHERE v.variable_name = 'Ssl_version'

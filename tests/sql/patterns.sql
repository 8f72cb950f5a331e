-- LIKE without an escape character, and POSIX classes beyond ASCII.
select 'a_c' like 'a\\_c' escape '', 'abc' like 'a\\_c' escape '', 'a\\c' like 'a\\\\c' escape '', 'a_c' like 'a|_c' escape '|', 'abc' like 'a|_c' escape '|', 'a_c' like 'a\\_c' escape null;
set sql_mode = 'no_backslash_escapes';
select 'a_c' like 'a\_c', 'abc' like 'a\_c', 'a\_c' like 'a\_c', 'a_c' like 'a\_c' escape '\', 'a_c' like 'a|_c' escape '|';
select 'a_c' like 'a\_c' escape '';
set sql_mode = default;
select 'ñandú' regexp '^[[:alpha:]]+$', 'ñandú' regexp '^[[:lower:]]+$', 'ÑANDÚ' regexp binary '^[[:alpha:]]+$', 'Ñ1' regexp '^[[:alnum:]]+$', 'ñ_1' regexp '^[[:word:]]+$', 'a1' regexp '^[[:alpha:]]+$';
select 'Ñ' collate utf8mb4_bin regexp '^[[:upper:]]$', 'ñ' collate utf8mb4_bin regexp '^[[:upper:]]$', 'ñ' collate utf8mb4_bin regexp '^[[:lower:]]$';
select '1' regexp '^[[:digit:]]$', 'ñ' regexp '[[:digit:]]', 'a b' regexp 'a[[:space:]]b', 'a\tb' regexp 'a[[:blank:]]b', '!' regexp '[[:punct:]]', 'ñ' regexp '[[:punct:]]', 'ñ' regexp '[^[:alpha:]]', 'ñ!' regexp '[[:^alpha:]]', 'ñ' regexp '^[x[:alpha:]_]$', 'fF0' regexp '^[[:xdigit:]]+$';
select '~' regexp '^[[:punct:]~]$', '!' regexp '^[[:punct:]~]$', 'a' regexp '^[[:punct:]~]$', '~' regexp '^[~[:punct:]]$', '!' regexp '^[^[:punct:]~]$', '-' regexp '^[[:word:]-]$';
select '&' regexp '^[a&&b]$', 'b' regexp '^[a&&b]$', '~' regexp '^[a~~b]$', 'b' regexp '^[a~~b]$', '[' regexp '^[[a]$', 'a' regexp '^[[a]$', ']' regexp '^[]a]$', ']' regexp '^[^]a]$', ',' regexp '^[+--]$', '.' regexp '^[+--]$', '.' regexp '^[--/]$', '1' regexp '^[[:digit:]&&[:alpha:]]$';
select regexp_replace('año 2024', '[[:alpha:]]+', 'x'), regexp_substr('12 años', '[[:alpha:]]+'), regexp_instr('12 ñ', '[[:alpha:]]'), 'foo bar' regexp '[[:<:]]bar[[:>:]]';

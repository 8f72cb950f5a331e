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
-- Features of PCRE2 beyond classes: back references, look-around, recursion, inline options.
select 'abab' regexp '^(ab)\\1$', 'abac' regexp '^(ab)\\1$', 'foobar' regexp 'foo(?=bar)', 'foobaz' regexp 'foo(?!bar)', 'xb' regexp '(?<!a)b', 'aaa' regexp '^(a)(?1){2}$', 'abc' regexp '(?|(a)|(b))\\1', 'ab' regexp '(?#comment)ab', 'ab' regexp '(?x)a b';
select 'aé' regexp '\\x{e9}', 'ab' regexp '^\\X\\X$', 'a\nb' regexp 'a\\Rb', 'ñ' regexp '\\w', 'ñ' regexp '\\bñ\\b', 'ñ' regexp binary '\\w', '٣' regexp '\\d', 'ß' regexp 'ẞ', 'ſ' regexp 's', 'Σ' regexp 'ς', 'ä' regexp 'a', 'A' regexp '[^a]';
select 'a\0b' regexp 'a.b', 'a\0b' regexp 'a\\x00b', 'a\0b' regexp 'a\0b', 'ab' regexp 'a\0', 'a\n' regexp 'a$', 'a\n' regexp 'a\\z', 'a\r\nb' regexp 'a$', 'a' regexp '';
select x'ff' regexp 'a', x'ff' regexp '.', x'61ff' regexp x'ff', hex(regexp_replace(x'61ff62', x'ff', '-')), hex(regexp_substr(x'61ff62', 'a.')), regexp_instr(x'c3b162', 'b'), 'ñ' regexp binary '^.$', 'ñ' regexp binary '^..$', 'Ñ' regexp binary 'ñ';
select regexp_replace('abc', '(a)(b)', '\\2\\1'), regexp_replace('abc', 'b', '\\9'), regexp_replace('abc', 'b', '$1'), regexp_replace('abc', 'b', 'x\\'), regexp_replace('abc', 'b', '\\x'), regexp_replace('aXbxc', 'x', '[\\0]'), regexp_replace('abc', '(x)?b', '<\\1>');
select regexp_replace('abc', '', '-'), regexp_replace('abc', 'x*', '-'), regexp_replace('aaa', 'a?', '-'), regexp_replace('', '^$', '-'), regexp_replace('12345678', '(?<=\\d)(?=(\\d{3})+$)', ','), regexp_replace('ñañ', 'a|$', '-'), regexp_replace('abab', 'a\\Kb', '-'), regexp_substr('ab', 'a\\Kb');
select regexp_instr('ñab', 'b'), regexp_instr('abc', '$'), regexp_instr('abc', ''), regexp_substr('abc', 'x'), regexp_substr('ñab', '.a'), regexp_instr('abc', '(?<=b)c');
select regexp_replace(null, 'a', 'b'), regexp_replace('a', null, 'b'), regexp_replace('a', 'a', null), 5 regexp 5, 10.5 regexp '\\.';
select 'abc' regexp '(';
select 'abc' regexp '[a';
select 'abc' regexp 'a**';
select 'abc' regexp '\\';
select 'abc' regexp concat('(', '');
-- A pattern that is not constant and cannot be compiled is not an error.
create table p (a varchar(100) not null, p varchar(100) not null);
insert into p values ('abc', 'b'), ('abc', '('), (concat(repeat('a', 60), 'b'), '^(a+)+$');
select left(a, 5), p, a regexp p, (a regexp p) is null from p;
select p, regexp_replace(a, p, 'x'), regexp_instr(a, p), regexp_substr(a, p) from p where p = '(';
-- A match that is given up.
select concat(repeat('a', 60), 'b') regexp '^(a+)+$';
select left(regexp_replace(concat(repeat('a', 60), 'b'), '^(a+)+$', 'x'), 5);
create table g (a int);
insert into g select concat(repeat('a', 60), 'b') regexp '^(a+)+$';
select repeat('a', 100000) regexp '^(a|b)*$', repeat('ab', 100000) regexp '^(?:a|b)+c';

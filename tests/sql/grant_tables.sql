-- Rows of mysql.global_priv, mysql.db and mysql.user that are changed as rows. Paceline needs no FLUSH PRIVILEGES.
create user anon@localhost, anon@'%', a@localhost identified by 'x', a@'%', b@'%', c@'%', d@'%' identified via unix_socket;
create role r;
grant select, insert, update on shop.* to a@'%';
grant all on `exam\_%`.* to anon@'%';
grant all on exam.* to anon@'%' with grant option;
grant reload on *.* to c@'%';

-- As mariadb-secure-installation does.
delete from mysql.db where db = 'exam' or db = 'exam\\_%';
delete from mysql.global_priv where user = 'anon';
flush privileges;
select user, host from mysql.user where user in ('anon', 'a', 'b') order by 1, 2;
select host, db, user from mysql.db where user = 'anon' order by 1, 2, 3;
update mysql.global_priv set priv = json_set(priv, '$.plugin', 'mysql_native_password', '$.authentication_string', password('secret')) where user = 'a';
flush privileges;
show create user a@'%';
show create user a@localhost;
update mysql.global_priv set priv = json_set(priv, '$.plugin', 'mysql_native_password', '$.authentication_string', 'invalid', '$.auth_or', json_array(json_object(), json_object('plugin', 'unix_socket'))) where user = 'b';
flush privileges;
show create user b@'%';
show grants for a@'%';

-- Privileges on databases.
update mysql.db set insert_priv = 'N', delete_priv = 'Y', grant_priv = 'Y' where user = 'a';
insert into mysql.db (host, db, user, select_priv) values ('%', 'other', 'b', 'Y');
flush privileges;
show grants for a@'%';
show grants for b@'%';
replace into mysql.db (host, db, user, drop_priv) values ('%', 'other', 'b', 'Y');
flush privileges;
show grants for b@'%';
insert into mysql.db (host, db, user) values ('%', 'other', 'b');
insert ignore into mysql.db (host, db, user) values ('%', 'other', 'b');
delete from mysql.db where user in ('a', 'b') order by user limit 1;
flush privileges;
show grants for a@'%';
show grants for b@'%';

-- Accounts.
update mysql.user set host = '127.0.0.1' where user = 'c';
update mysql.global_priv set host = '127.0.0.1' where user = 'c';
flush privileges;
show grants for c@'127.0.0.1';
show grants for c@'%';
update mysql.user set password = 'x' where user = 'c';
update mysql.user set super_priv = 'Y' where user = 'c';
insert into mysql.user (host, user) values ('%', 'e');
delete from mysql.user where user = 'c';
flush privileges;
show grants for c@'127.0.0.1';
insert into mysql.global_priv (host, user, priv) values ('%', 'e', '{"access": 1, "plugin": "unix_socket", "account_locked": true}');
flush privileges;
show create user e@'%';
show grants for e@'%';
update mysql.global_priv set priv = json_set(priv, '$.access', 3, '$.account_locked', false, '$.max_user_connections', 4) where user = 'e';
flush privileges;
show create user e@'%';
show grants for e@'%';
select row_count();
update mysql.global_priv set priv = json_set(priv, '$.access', 3) where user = 'nobody';
delete from mysql.global_priv where user = 'nobody';
delete from mysql.nosuch where user = 'nobody';
drop user a@localhost, a@'%', b@'%', d@'%', e@'%';
drop role r;
select user from mysql.global_priv where user in ('a', 'b', 'c', 'd', 'e', 'r', 'anon');

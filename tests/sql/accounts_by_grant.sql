-- Without NO_AUTO_CREATE_USER, GRANT creates the account.
grant select on t.* to granted@localhost;
set sql_mode = '';
grant select on t.* to granted@localhost;
show grants for granted@localhost;
drop user granted@localhost;

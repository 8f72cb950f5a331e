-- old_passwords decides which hash PASSWORD() returns.
select password('idkfa'), password(''), password(null);
set old_passwords = 1;
select password('idkfa'), old_password('idkfa'), password(''), password(null);
set old_passwords = 0;
select password('idkfa');

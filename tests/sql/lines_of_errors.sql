-- The line of an error in a program is that of the token after the statement or the condition.
create procedure p1()
begin
  insert into
    nosuch
  values
    (1); end;
create procedure p2()
begin
  declare a,
    b int
    default
     (select 1 from nosuch)
     ; end;
create procedure p3()
begin
  if
   (select 1 from nosuch)
  then
    select 1; elseif
    (select 2
      from nosuch)
  then
    select 2; end if; end;
create procedure p4()
begin
  while
   (select 1
    from nosuch)
  do
    select 1; end while; end;
create procedure p5()
begin
  repeat
    set @n = 1; until
   (select 1
    from nosuch)
  end repeat; end;
create procedure p6()
begin
  case
   (select 1
    from nosuch)
  when
    1
  then
    select 1; end case; end;
create procedure p7()
begin
  case
    1
  when
    2
  then
    select 1; end case; end;
create procedure p8()
begin
  declare c cursor
    for
    select 1
    from nosuch; open
    c
    ; end;
create procedure p9()
begin
  for i in
    1
    ..
    (select 1 from nosuch)
   do
     select 1; end for; end;
create procedure p10()
  insert into
    nosuch
  values
    (1);
create procedure p11()
begin
  declare continue handler for sqlexception
    resignal set
      message_text = 'other'
      ; signal
    sqlstate
    '45000'
    ; end;
call p1();
show warnings;
call p2();
show warnings;
call p3();
show warnings;
call p4();
show warnings;
call p5();
show warnings;
call p6();
show warnings;
call p7();
show warnings;
call p8();
show warnings;
call p9();
show warnings;
call p10();
show warnings;
call p11();
show warnings;

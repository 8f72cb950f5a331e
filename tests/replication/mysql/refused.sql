-- What cannot be replicated from MySQL: XA transactions.
create database refused;
use refused;
create table numbers (id int primary key);
xa start 'x1'; insert into numbers values (1); xa end 'x1'; xa prepare 'x1'; xa commit 'x1';
insert into numbers values (2);

-- What cannot be replicated from MySQL: parts of JSON documents, and XA transactions.
create database refused;
use refused;
create table documents (id int primary key, v json);
insert into documents values (1, '{"a": 1, "b": "some text that is longer than what is changed in it"}');
create table numbers (id int primary key);
set session binlog_row_value_options=partial_json; update documents set v=json_set(v, '$.a', 2) where id=1; set session binlog_row_value_options='';
xa start 'x1'; insert into numbers values (1); xa end 'x1'; xa prepare 'x1'; xa commit 'x1';
insert into numbers values (2);

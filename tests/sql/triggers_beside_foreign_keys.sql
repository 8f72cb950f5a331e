-- A trigger may write to a table that the statement uses only because of foreign keys.
create table item (id int primary key, stock int);
create table history (id int auto_increment primary key, item int, what text, constraint of_item foreign key (item) references item (id) on delete set null on update cascade);
create trigger item_changed after update on item for each row insert into history (item, what) values (new.id, concat(old.stock, ' to ', new.stock));
insert into item values (1, 1), (2, 2);
update item set stock = 5;
update item set id = id + 10, stock = 6;
select * from history;
create trigger item_goes before delete on item for each row update history set what = 'gone' where item = old.id;
delete from item where id = 11;
select * from history;
drop trigger item_changed;
create trigger history_added after insert on history for each row update item set stock = stock + 1 where id = new.item;
insert into history (item) values (12), (12);
select * from item;
select * from history;
-- A table that a statement around it names stays closed to it.
create trigger item_changed after update on item for each row insert into history (item, what) values (new.id, 'again');
insert into history (item) values (12);
update item set stock = 1 where id = 12;
select * from item;

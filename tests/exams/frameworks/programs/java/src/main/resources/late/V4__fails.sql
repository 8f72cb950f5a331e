CREATE TABLE made_before_the_error (a INT);
INSERT INTO nowhere VALUES (1);

# Written by generate.py.
CREATE TABLE a (id INT NOT NULL PRIMARY KEY, x INT, y INT, s VARCHAR(8), KEY x (x), KEY xy (x, y), KEY s (s));
CREATE TABLE b (id INT NOT NULL PRIMARY KEY, x INT, y INT NOT NULL, s VARCHAR(8) NOT NULL, UNIQUE KEY y (y), KEY sx (s, x));
CREATE TABLE c (id INT NOT NULL, x INT NOT NULL, y INT, s VARCHAR(8), PRIMARY KEY (id, x), KEY y (y));
CREATE TABLE d (id INT, x INT, y INT, s VARCHAR(8), KEY x (x));
INSERT INTO a VALUES (0, -1, 12, 'c'), (1, 3, NULL, NULL), (2, 10, -3, 'b'), (3, 4, 0, ''), (4, NULL, -3, 'ba'), (5, 10, 4, 'c'), (6, 8, 4, 'b'), (7, 10, 0, 'b'), (8, 7, 10, 'abc'), (9, 12, 9, ''), (10, 9, 2, 'B'), (11, NULL, 0, 'Ca'), (12, 8, -3, 'b'), (13, 9, 2, '');
INSERT INTO b VALUES (0, 4, 0, 'ba'), (1, 8, 3, 'c'), (2, -3, 6, 'ba'), (3, 1, 9, 'Ca'), (4, 3, 12, 'ba'), (5, 12, 15, 'B'), (6, 3, 18, 'Ca'), (7, 8, 21, 'ba'), (8, 7, 24, 'c'), (9, 4, 27, 'ab'), (10, 2, 30, 'a'), (11, 5, 33, ''), (12, -1, 36, 'a'), (13, 11, 2, ''), (14, 5, 5, 'abc'), (15, 2, 8, 'B'), (16, 2, 11, 'ab'), (17, 2, 14, 'b'), (18, 6, 17, 'c'), (19, 12, 20, 'c'), (20, NULL, 23, 'b'), (21, 10, 26, 'abc'), (22, 5, 29, 'Ca'), (23, 10, 32, '');
INSERT INTO c VALUES (0, 0, -2, 'ab'), (0, 7, 10, 'abc'), (1, 10, 11, ''), (1, 6, 7, 'ba'), (2, 0, 1, ''), (2, 4, NULL, NULL), (3, 4, 10, 'ab'), (3, 0, -2, 'abc'), (4, 9, -2, 'B'), (4, 1, 10, 'c'), (5, 1, 9, 'c'), (5, 0, 9, ''), (6, 2, 7, 'd d'), (6, 12, 10, 'a'), (7, 6, 8, 'Ca');
INSERT INTO d VALUES (NULL, 4, NULL, 'ab'), (7, 3, 5, 'B'), (12, NULL, 0, 'ba'), (1, NULL, 7, NULL), (NULL, 9, -1, 'B'), (5, 0, NULL, NULL), (NULL, -3, NULL, ''), (11, 10, 4, 'a'), (6, 9, 12, 'abc'), (NULL, -2, 6, 'B'), (-1, 7, 11, NULL), (5, 12, 3, 'abc'), (NULL, 5, -1, 'B'), (-2, 9, 7, 'd d'), (0, 6, -1, ''), (NULL, 9, -1, ''), (8, 6, 1, NULL), (NULL, 7, 2, 'ab'), (6, 7, 3, '');
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM b AS t0 LEFT JOIN b AS t1 ON t0.s = t1.s WHERE t1.id >= t1.id;
-- sort
SELECT HEX(t0.s), t0.x, COUNT(*), COUNT(DISTINCT t0.id), MIN(t0.id) FROM b AS t0 WHERE t0.s > 'd d' GROUP BY HEX(t0.s), t0.x;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM d AS t0 JOIN b AS t1 ON t0.y = t1.y LEFT JOIN d AS t2 ON t0.y = t2.y WHERE (t1.x <= 8 AND t2.s = 'Ca');
SELECT MAX(t1.id) FROM a AS t0 STRAIGHT_JOIN d AS t1 ON t0.s = t1.s WHERE (t1.s LIKE '_b%' AND (t0.x BETWEEN 4 AND 9 OR t1.y <> 0));
SELECT MIN(t1.id) FROM a AS t0 RIGHT JOIN b AS t1 ON t0.s = t1.s WHERE (t0.y IS NOT NULL OR t1.y = t1.y);
-- sort
SELECT t0.x, COUNT(*), COUNT(t0.y), COUNT(DISTINCT t0.y) FROM a AS t0 WHERE ((t0.x NOT BETWEEN 6 AND 10 AND t0.y <> 9) AND t0.s LIKE '%') GROUP BY t0.x;
SELECT t0.id, t0.x, t0.y, t0.s FROM c AS t0 WHERE ((t0.y NOT BETWEEN 4 AND 6 AND t0.x = t0.x) AND (t0.y < t0.y OR t0.y <=> NULL)) ORDER BY t0.id, t0.id, t0.x, t0.y, HEX(t0.s) DESC;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 WHERE t0.y <=> 11;
SELECT COUNT(*), MIN(t1.x), MAX(t0.y) FROM c AS t0 RIGHT JOIN c AS t1 ON t0.x = t1.x AND t1.y < t0.y WHERE t1.s NOT IN (SELECT q35.s FROM b AS q35 WHERE (q35.s IS NOT NULL AND q35.x >= q35.x));
INSERT IGNORE INTO b VALUES (19, 1, 6, 'abc');
-- sort
SELECT * FROM d;
-- sort
SELECT HEX(t0.s), HEX(t0.s), COUNT(*), SUM(t0.x), COUNT(DISTINCT t0.id) FROM a AS t0 WHERE ((t0.id >= t0.id OR t0.y IS NULL) AND t0.s BETWEEN 'ab' AND 'ba') GROUP BY HEX(t0.s), HEX(t0.s) HAVING COUNT(*) > 0;
-- sort
SELECT HEX(t0.s), COUNT(*), SUM(t0.id), MAX(t0.y) FROM d AS t0 WHERE t0.x = -3 GROUP BY HEX(t0.s);
DELETE FROM a WHERE a.x + 10 = a.y;
-- sort
SELECT * FROM b;
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y, t1.id, t1.x, t1.y, t2.id, t2.x, t2.y FROM b AS t0 LEFT JOIN d AS t1 ON t0.y = t1.y JOIN b AS t2 ON t0.id = t2.id WHERE (NOT (t2.s <=> 'a') AND (t1.id = 3 AND t2.s LIKE '%'));
-- sort
SELECT t0.y, COUNT(*), SUM(t0.y), COUNT(t0.id) FROM d AS t0 WHERE ((t0.s < t0.s OR t0.y IN (5)) OR t0.x = t0.x) GROUP BY t0.y;
-- sort
SELECT t1.x, t1.y, COUNT(*), SUM(t1.x), COUNT(t1.y) FROM a AS t0 STRAIGHT_JOIN c AS t1 ON t0.x = t1.x AND t0.y IN (-2) WHERE ((t1.y <=> 0 AND t1.y IS NOT NULL) OR NOT (t1.y = t0.y)) GROUP BY t1.x, t1.y;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM c AS t0 WHERE ((t0.s >= t0.s OR t0.x <=> -1) AND (t0.x > 12 OR NOT EXISTS (SELECT 1 FROM d AS q31 WHERE q31.y = t0.y AND q31.s <= '')));
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM c AS t0 RIGHT JOIN d AS t1 ON t0.s = t1.s AND t0.s IS NULL WHERE t0.s IN ('', 'a', 'a');
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM d AS t0 WHERE t0.id IN (-3, 2);
-- sort
SELECT t1.x, COUNT(*), MIN(t0.x), COUNT(DISTINCT t0.y) FROM c AS t0 STRAIGHT_JOIN c AS t1 ON t0.s = t1.s AND t0.s < t1.s WHERE t0.x + -3 = t1.y GROUP BY t1.x;
-- sort
SELECT t1.id, COUNT(*), COUNT(DISTINCT t1.x), MAX(t1.x) FROM a AS t0 STRAIGHT_JOIN d AS t1 ON t0.id = t1.id AND t0.s LIKE 'B%' JOIN d AS t2 ON t1.s = t2.s WHERE (NOT EXISTS (SELECT 1 FROM b AS q22 WHERE q22.s = t2.s AND q22.y <> 0) OR t1.y < t0.y) GROUP BY t1.id;
SELECT t0.id, t0.x, t0.y, t0.s FROM d AS t0 WHERE (t0.x NOT BETWEEN -2 AND 7 AND (t0.s LIKE 'a_' AND t0.x <=> -2)) ORDER BY t0.id DESC, t0.id DESC, t0.x, t0.y, HEX(t0.s) DESC;
-- sort
SELECT t1.x, t2.y, t0.y FROM b AS t0 STRAIGHT_JOIN c AS t1 ON t0.y = t1.y AND t1.y <= 1 LEFT JOIN a AS t2 ON t0.id = t2.id AND t1.x BETWEEN -3 AND 8 WHERE t1.s LIKE 'a%';
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM d AS t0 WHERE ((t0.s IN ('Ca', 'ab', '') AND t0.id >= -3) AND t0.y NOT BETWEEN 0 AND 9);
-- sort
SELECT t1.y, COUNT(*), COUNT(DISTINCT t0.y), MIN(t0.y) FROM b AS t0 JOIN b AS t1 ON t0.x = t1.x WHERE t0.y >= 9 GROUP BY t1.y HAVING COUNT(*) > 2;
-- sort
SELECT t0.id, t0.id, COUNT(*), COUNT(DISTINCT t0.y), MAX(t0.y) FROM d AS t0 WHERE t0.x + 9 > t0.y GROUP BY t0.id, t0.id;
-- sort
SELECT t0.s, t2.y, t2.x FROM c AS t0 STRAIGHT_JOIN d AS t1 ON t0.x = t1.x JOIN c AS t2 ON t0.id = t2.id WHERE t2.id BETWEEN 8 AND 9;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM c AS t0 WHERE (t0.s = t0.s OR (t0.x = t0.x AND t0.y < t0.y));
-- sort
SELECT HEX(t0.s), COUNT(*), MAX(t0.y), MIN(t0.y) FROM a AS t0 LEFT JOIN d AS t1 ON t0.x = t1.x AND t0.s LIKE '%' WHERE ((t0.x + 5 = t1.y OR t0.x + 10 = t0.y) AND t0.x >= t0.x) GROUP BY HEX(t0.s) HAVING COUNT(*) > 1;
UPDATE a SET y = y + 40 WHERE a.x <= 10;
-- sort
SELECT * FROM b;
-- sort
SELECT t1.x, COUNT(*), MAX(t2.y), MIN(t0.y) FROM c AS t0 RIGHT JOIN d AS t1 ON t0.s = t1.s LEFT JOIN b AS t2 ON t1.y = t2.y AND t0.y >= t0.y WHERE t1.x > 11 GROUP BY t1.x;
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y FROM b AS t0 WHERE t0.s LIKE '%b';
-- sort
SELECT HEX(t1.s), COUNT(*), SUM(t1.id), MIN(t0.id) FROM b AS t0 JOIN a AS t1 ON t0.s = t1.s AND t1.s = t0.s WHERE t1.s <= 'c' GROUP BY HEX(t1.s);
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM a AS t0;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM b AS t0 STRAIGHT_JOIN d AS t1 ON t0.x = t1.x RIGHT JOIN b AS t2 ON t1.s = t2.s AND t2.s LIKE 'ab%' WHERE t2.y BETWEEN 5 AND 12;
DELETE FROM a WHERE NOT EXISTS (SELECT 1 FROM a AS q10 WHERE q10.s = a.s AND q10.y IN (-2, 2, 1, 6));
-- sort
SELECT * FROM a;
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y, t1.id, t1.x, t1.y FROM d AS t0 LEFT JOIN a AS t1 ON t0.y = t1.y WHERE NOT ((t0.s BETWEEN 'B' AND 'd d' AND t0.y NOT IN (SELECT q54.y FROM c AS q54 WHERE (q54.id IS NULL AND q54.x + 8 > q54.y))));
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y, t1.id, t1.x, t1.y FROM a AS t0 LEFT JOIN b AS t1 ON t0.y = t1.y WHERE t1.y < t1.y;
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y FROM d AS t0 WHERE ((t0.x IN (5, 4, 3) AND t0.s < t0.s) AND (NOT EXISTS (SELECT 1 FROM b AS q5 WHERE q5.y = t0.y AND NOT (q5.x + 5 < q5.y)) OR t0.y NOT IN (4, -3, -3)));
DELETE FROM a WHERE a.x + 3 < a.y;
-- sort
SELECT * FROM c;
-- sort
SELECT t1.y, t2.x, t1.x FROM a AS t0 RIGHT JOIN b AS t1 ON t0.x = t1.x RIGHT JOIN d AS t2 ON t1.s = t2.s;
-- sort
SELECT HEX(t0.s), t1.x, COUNT(*), COUNT(t2.id), COUNT(DISTINCT t1.id) FROM d AS t0 STRAIGHT_JOIN b AS t1 ON t0.s = t1.s LEFT JOIN b AS t2 ON t1.y = t2.y AND t2.id < t1.id GROUP BY HEX(t0.s), t1.x;
-- sort
SELECT t0.id, COUNT(*), MIN(t0.y), MAX(t0.x) FROM a AS t0 WHERE t0.y IS NULL GROUP BY t0.id HAVING COUNT(*) > 2;
SELECT t0.id, t0.x, t0.y, t0.s FROM c AS t0 WHERE t0.x + 4 > t0.y ORDER BY t0.x DESC, t0.id DESC, t0.x, t0.y DESC, HEX(t0.s) DESC LIMIT 5 OFFSET 2;
-- sort
SELECT t0.y, COUNT(*), MIN(t0.y), COUNT(DISTINCT t0.x) FROM d AS t0 WHERE ((t0.y <= 12 AND t0.x BETWEEN -2 AND 4) AND (t0.x = -1 AND t0.id = t0.id)) GROUP BY t0.y HAVING COUNT(*) > 2;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM b AS t0 WHERE t0.x + -2 < t0.y;
-- sort
SELECT t0.x, t0.y, COUNT(*), SUM(t0.y), MIN(t0.x) FROM b AS t0 WHERE t0.id >= t0.id GROUP BY t0.x, t0.y;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM a AS t0 WHERE (t0.x >= t0.x AND (t0.y IN (9, 9, -1, 10) OR t0.s IN (SELECT q31.s FROM a AS q31 WHERE (q31.y < q31.y OR q31.y IN (8)))));
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM b AS t0 LEFT JOIN b AS t1 ON t0.x = t1.x AND t0.y IN (5, 12) JOIN c AS t2 ON t0.s = t2.s;
-- sort
SELECT t1.x, t0.y, t1.s FROM a AS t0 STRAIGHT_JOIN a AS t1 ON t0.x = t1.x;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM a AS t0 RIGHT JOIN c AS t1 ON t0.x = t1.x WHERE (t0.x + 3 = t0.y AND t0.y = 10);
-- sort
SELECT t0.x, t0.y, COUNT(*), MIN(t0.y), MAX(t0.id) FROM b AS t0 WHERE t0.x = t0.x GROUP BY t0.x, t0.y;
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 WHERE ((t0.id IN (-2) AND t0.s = 'd d') OR (t0.y BETWEEN -1 AND 10 AND t0.x + 4 < t0.y)) ORDER BY t0.x, t0.id DESC, t0.x, t0.y, HEX(t0.s) DESC LIMIT 4 OFFSET 2;
SELECT MAX(t1.id) FROM d AS t0 RIGHT JOIN c AS t1 ON t0.y = t1.y AND t1.id NOT IN (9, 11) LEFT JOIN b AS t2 ON t0.x = t2.x AND t0.id NOT BETWEEN 12 AND 12 WHERE (t1.s <=> 'c' AND t0.y < t1.y);
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 WHERE t0.id IS NULL;
SELECT MAX(t0.x) FROM b AS t0 LEFT JOIN b AS t1 ON t0.s = t1.s AND t1.x <=> 10 WHERE (t0.y = 7 AND t0.s IS NOT NULL);
UPDATE a SET y = y + 40 WHERE a.s NOT BETWEEN '' AND 'd d';
-- sort
SELECT * FROM d;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM c AS t0 WHERE t0.y NOT IN (SELECT q72.y FROM a AS q72 WHERE (q72.x < q72.x AND q72.id <> 10));
-- sort
SELECT t1.y, t0.y, t1.s FROM d AS t0 LEFT JOIN b AS t1 ON t0.x = t1.x WHERE (t0.s = 'c' OR t1.x + -3 < t1.y);
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y, t1.id, t1.x, t1.y FROM b AS t0 JOIN d AS t1 ON t0.s = t1.s WHERE (NOT (t1.y IS NOT NULL) OR t0.s <=> 'd d');
-- sort
SELECT t0.y, HEX(t0.s), COUNT(*), MAX(t0.x), MIN(t0.y) FROM c AS t0 WHERE t0.y IS NOT NULL GROUP BY t0.y, HEX(t0.s) HAVING COUNT(*) > 2;
SELECT t0.y, t0.id, t0.x FROM c AS t0 WHERE t0.y = t0.y ORDER BY t0.id, t0.id, t0.x, t0.y, HEX(t0.s);
-- sort
SELECT t0.x, t1.x, COUNT(*), SUM(t1.id), COUNT(DISTINCT t0.x) FROM b AS t0 JOIN d AS t1 ON t0.y = t1.y AND t0.x <> -2 GROUP BY t0.x, t1.x;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM b AS t0 STRAIGHT_JOIN b AS t1 ON t0.id = t1.id AND t0.x = t1.x JOIN c AS t2 ON t1.s = t2.s AND t2.y IN (10, 8, 3, 3) WHERE t1.s LIKE 'B%';
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM a AS t0 LEFT JOIN a AS t1 ON t0.y = t1.y WHERE ((t1.id <=> -2 OR t0.x BETWEEN -3 AND 1) AND t0.y BETWEEN -3 AND 12);
UPDATE a SET y = y + 40 WHERE a.s < a.s;
-- sort
SELECT * FROM b;
SELECT MIN(t1.x) FROM c AS t0 JOIN a AS t1 ON t0.y = t1.y AND t0.id BETWEEN -1 AND 4 RIGHT JOIN d AS t2 ON t1.id = t2.id AND t2.id IS NOT NULL;
-- sort
SELECT t1.id, t0.x, t0.id FROM d AS t0 LEFT JOIN a AS t1 ON t0.x = t1.x AND t1.x NOT BETWEEN 9 AND 10 WHERE t1.x = 0;
SELECT MAX(t0.y) FROM d AS t0;
-- sort
SELECT t0.x, t0.x, COUNT(*), MAX(t0.y), MIN(t0.y) FROM b AS t0 WHERE (t0.s <= 'Ca' AND (t0.s LIKE 'a%' AND t0.y = -2)) GROUP BY t0.x, t0.x HAVING COUNT(*) > 0;
-- sort
SELECT t0.y, COUNT(*), COUNT(t0.x), COUNT(DISTINCT t0.id) FROM a AS t0 GROUP BY t0.y;
REPLACE INTO d VALUES (26, 5, 60, 'B');
-- sort
SELECT HEX(t0.s), HEX(t0.s), COUNT(*), SUM(t0.y), COUNT(DISTINCT t0.id) FROM b AS t0 WHERE NOT (t0.s = t0.s) GROUP BY HEX(t0.s), HEX(t0.s);
-- sort
SELECT t0.x, COUNT(*), COUNT(DISTINCT t0.y), SUM(t0.y) FROM d AS t0 WHERE (NOT EXISTS (SELECT 1 FROM d AS q26 WHERE q26.s = t0.s AND (q26.s IS NOT NULL AND q26.x + 10 = q26.y)) OR t0.s <= 'ba') GROUP BY t0.x;
SELECT MIN(t0.y) FROM c AS t0 WHERE t0.s BETWEEN 'Ca' AND 'ab';
-- sort
SELECT t0.y, COUNT(*), SUM(t0.y), MIN(t0.y) FROM d AS t0 WHERE t0.id = -2 GROUP BY t0.y;
-- sort
SELECT t0.x, COUNT(*), SUM(t0.y), COUNT(DISTINCT t0.y) FROM c AS t0 GROUP BY t0.x;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM b AS t0 WHERE t0.x < -1;
DELETE FROM b WHERE b.id >= b.id;
-- sort
SELECT t0.id, COUNT(*), MAX(t0.y), COUNT(DISTINCT t0.x) FROM c AS t0 JOIN a AS t1 ON t0.id = t1.id WHERE (t1.x BETWEEN 0 AND 3 AND t1.x IN (SELECT q45.x FROM c AS q45 WHERE q45.id = 6)) GROUP BY t0.id;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM a AS t0 WHERE EXISTS (SELECT 1 FROM a AS q67 WHERE q67.x = t0.x AND (q67.x BETWEEN 1 AND 7 AND q67.id >= q67.id));
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM d AS t0 RIGHT JOIN c AS t1 ON t0.id = t1.id AND t1.s NOT IN (SELECT q73.s FROM a AS q73 WHERE (q73.x <> 9 AND q73.id = q73.id));
-- sort
SELECT HEX(t0.s), HEX(t0.s), COUNT(*), COUNT(DISTINCT t0.x), MAX(t0.x) FROM d AS t0 GROUP BY HEX(t0.s), HEX(t0.s) HAVING COUNT(*) > 2;
SELECT COUNT(*), MIN(t0.x), MAX(t1.y) FROM a AS t0 STRAIGHT_JOIN b AS t1 ON t0.y = t1.y WHERE t0.s LIKE '%';
-- sort
SELECT t0.y, t0.id, COUNT(*), COUNT(DISTINCT t0.x), MIN(t0.id) FROM c AS t0 WHERE t0.y < t0.y GROUP BY t0.y, t0.id;
SELECT t0.id, t0.x, t0.y, t0.s FROM d AS t0 WHERE ((t0.s IS NULL AND t0.id = 2) OR (t0.y BETWEEN 4 AND 7 AND t0.id BETWEEN 3 AND 9)) ORDER BY t0.x, t0.id, t0.x DESC, t0.y, HEX(t0.s) DESC;
-- sort
SELECT HEX(t1.s), COUNT(*), COUNT(t1.x), SUM(t1.x) FROM b AS t0 RIGHT JOIN a AS t1 ON t0.s = t1.s WHERE t0.id BETWEEN 2 AND 10 GROUP BY HEX(t1.s) HAVING COUNT(*) > 1;
SELECT MAX(t1.x) FROM b AS t0 JOIN c AS t1 ON t0.id = t1.id AND t1.y <> NULL JOIN b AS t2 ON t0.s = t2.s AND t2.s < t0.s WHERE t1.s LIKE 'ab%';
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM c AS t0 JOIN a AS t1 ON t0.s = t1.s;
-- sort
SELECT t0.x, t0.x, COUNT(*), COUNT(t0.x), MAX(t0.id) FROM c AS t0 GROUP BY t0.x, t0.x HAVING COUNT(*) > 2;
-- sort
SELECT t1.x, t0.x, t0.s FROM d AS t0 LEFT JOIN d AS t1 ON t0.id = t1.id AND NOT EXISTS (SELECT 1 FROM d AS q66 WHERE q66.x = t0.x AND (q66.s IS NOT NULL OR q66.id IN (-3)));
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM c AS t0 WHERE ((t0.s IS NOT NULL OR t0.id BETWEEN 1 AND 10) AND t0.s NOT BETWEEN 'a' AND 'd d');
-- sort
SELECT t0.y, HEX(t2.s), COUNT(*), COUNT(DISTINCT t2.x), MAX(t2.id) FROM c AS t0 STRAIGHT_JOIN b AS t1 ON t0.y = t1.y AND t0.id = t1.id LEFT JOIN b AS t2 ON t0.x = t2.x AND t0.id >= t2.id WHERE t1.x >= 4 GROUP BY t0.y, HEX(t2.s);
REPLACE INTO a VALUES (19, 1, 28, 'a');
-- sort
SELECT * FROM a;
-- sort
SELECT t0.x, COUNT(*), COUNT(t0.x), SUM(t0.x) FROM c AS t0 LEFT JOIN c AS t1 ON t0.s = t1.s AND t0.x NOT IN (0, 10, 1, 5) WHERE t1.x NOT IN (SELECT q72.x FROM b AS q72 WHERE (q72.s LIKE '_b%' AND q72.s <=> 'Ca')) GROUP BY t0.x;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM c AS t0 JOIN a AS t1 ON t0.id = t1.id AND t0.s <= 'B' WHERE t0.x <> -3;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM a AS t0 WHERE t0.y = 7;
-- sort
SELECT t0.x, COUNT(*), SUM(t0.x), MIN(t0.id) FROM d AS t0 WHERE EXISTS (SELECT 1 FROM d AS q29 WHERE q29.y = t0.y AND q29.s LIKE '%') GROUP BY t0.x;
-- sort
SELECT t1.x, t1.id, COUNT(*), MIN(t0.x), MAX(t1.y) FROM b AS t0 LEFT JOIN d AS t1 ON t0.y = t1.y AND t1.y = 7 GROUP BY t1.x, t1.id HAVING COUNT(*) > 0;
SELECT MIN(t2.y) FROM c AS t0 JOIN b AS t1 ON t0.y = t1.y RIGHT JOIN b AS t2 ON t0.id = t2.id AND t0.s <= 'd d' WHERE (t0.x >= 0 OR t1.x + 10 > t2.y);
-- sort
SELECT t0.id, COUNT(*), COUNT(t0.id), COUNT(DISTINCT t0.id) FROM d AS t0 GROUP BY t0.id HAVING COUNT(*) > 0;
-- sort
SELECT t0.y, HEX(t0.s), COUNT(*), SUM(t0.x), MIN(t0.y) FROM d AS t0 WHERE t0.y BETWEEN 3 AND 5 GROUP BY t0.y, HEX(t0.s) HAVING COUNT(*) > 2;
-- sort
SELECT t1.id, t1.x, t2.x FROM d AS t0 JOIN a AS t1 ON t0.s = t1.s JOIN b AS t2 ON t1.s = t2.s AND t2.id BETWEEN 5 AND 7 WHERE t2.s LIKE 'a_';
-- sort
SELECT t1.y, t1.s, t0.y FROM b AS t0 RIGHT JOIN b AS t1 ON t0.id = t1.id AND t0.y = 9 WHERE t1.y = 12;
-- sort
SELECT HEX(t0.s), t0.id, COUNT(*), SUM(t0.id), COUNT(DISTINCT t0.x) FROM c AS t0 WHERE t0.x = NULL GROUP BY HEX(t0.s), t0.id;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM d AS t0 STRAIGHT_JOIN b AS t1 ON t0.s = t1.s WHERE ((t1.s >= NULL AND t0.id IN (SELECT q50.id FROM d AS q50 WHERE q50.id IN (9, 12))) AND t0.x = t1.x);
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y FROM a AS t0;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM a AS t0;
-- sort
SELECT t1.x, t0.id, COUNT(*), COUNT(t0.x), COUNT(DISTINCT t1.x) FROM b AS t0 LEFT JOIN a AS t1 ON t0.x = t1.x WHERE t1.x + -1 < t1.y GROUP BY t1.x, t0.id HAVING COUNT(*) > 2;
SELECT t0.s, t0.y, t0.x FROM a AS t0 ORDER BY t0.y DESC, t0.id DESC, t0.x, t0.y, HEX(t0.s) LIMIT 6;
SELECT MIN(t1.x) FROM b AS t0 LEFT JOIN c AS t1 ON t0.id = t1.id WHERE ((t1.s NOT IN ('ab') AND t0.x + 12 < t1.y) AND (t0.x + -2 > t0.y AND t0.x + 11 > t0.y));
-- sort
SELECT t1.y, t0.y, t0.id FROM a AS t0 STRAIGHT_JOIN a AS t1 ON t0.s = t1.s AND t0.x + 2 = t0.y WHERE ((t0.s = t1.s AND t0.s LIKE 'B%') AND (t1.id >= t0.id AND t1.x + 11 > t0.y));
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM c AS t0 STRAIGHT_JOIN c AS t1 ON t0.id = t1.id WHERE t1.x >= t0.x;
INSERT IGNORE INTO a VALUES (38, 7, 20, '');
-- sort
SELECT * FROM c;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM b AS t0 JOIN a AS t1 ON t0.s = t1.s JOIN d AS t2 ON t0.s = t2.s WHERE t2.s = 'c';
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM a AS t0;
SELECT t0.id, t0.x, t0.y, t0.s FROM d AS t0 WHERE (NOT (t0.x = 5) AND t0.x <> 10) ORDER BY t0.y DESC, t0.id DESC, t0.x DESC, t0.y, HEX(t0.s) DESC LIMIT 1;
INSERT IGNORE INTO a VALUES (5, 9, 29, '');
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM d AS t0 WHERE (NOT (t0.y = t0.y) AND (t0.y <=> 7 OR t0.s BETWEEN 'B' AND 'ab'));
SELECT t0.y, t0.s, t0.id FROM d AS t0 WHERE t0.y IN (10, -1, 3) ORDER BY t0.x DESC, t0.id DESC, t0.x, t0.y, HEX(t0.s) DESC;
SELECT t0.id, t0.x, t0.y, t0.s FROM c AS t0 WHERE (t0.id >= t0.id AND (t0.s <> 'B' AND t0.s IS NULL)) ORDER BY t0.id, t0.id, t0.x, t0.y, HEX(t0.s) LIMIT 1;
-- sort
SELECT t0.y, COUNT(*), MAX(t0.x), SUM(t1.id) FROM d AS t0 JOIN b AS t1 ON t0.id = t1.id GROUP BY t0.y;
-- sort
SELECT HEX(t1.s), t1.x, COUNT(*), COUNT(t0.id), COUNT(DISTINCT t1.id) FROM a AS t0 STRAIGHT_JOIN a AS t1 ON t0.s = t1.s AND t1.y IN (6, 0, -3, 0) WHERE t0.id BETWEEN -1 AND 3 GROUP BY HEX(t1.s), t1.x;
-- sort
SELECT t0.y, t0.id, COUNT(*), MAX(t0.x), COUNT(t0.x) FROM c AS t0 WHERE t0.x NOT IN (4, 4, 12, -3) GROUP BY t0.y, t0.id;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM d AS t0 LEFT JOIN d AS t1 ON t0.x = t1.x AND t1.s LIKE 'a_' JOIN d AS t2 ON t1.id = t2.id WHERE t0.y < t0.y;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM d AS t0 LEFT JOIN c AS t1 ON t0.s = t1.s STRAIGHT_JOIN d AS t2 ON t0.y = t2.y AND t1.x = t1.x WHERE (t0.x <> 9 AND (t2.y IN (1, 0, 10) OR t2.y IN (0, 2)));
UPDATE c SET y = y + 40 WHERE c.y <= 6;
-- sort
SELECT t0.id, HEX(t0.s), COUNT(*), MIN(t0.id), COUNT(t0.y) FROM a AS t0 WHERE t0.y < t0.y GROUP BY t0.id, HEX(t0.s);
UPDATE b SET y = y + 40 WHERE (b.id NOT BETWEEN 5 AND 10 OR b.s IS NOT NULL);
UPDATE d SET s = 'B' WHERE d.y IS NOT NULL;
INSERT IGNORE INTO b VALUES (10, 2, 21, 'a');
-- sort
SELECT * FROM c;
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y FROM d AS t0 WHERE (t0.y >= t0.y OR t0.s LIKE '%b');
-- sort
SELECT t1.x, HEX(t0.s), COUNT(*), MIN(t0.id), COUNT(DISTINCT t0.y) FROM d AS t0 RIGHT JOIN d AS t1 ON t0.s = t1.s AND t0.x IN (11, 3) WHERE t1.id >= t0.id GROUP BY t1.x, HEX(t0.s);
-- sort
SELECT t0.id, t0.id, COUNT(*), MAX(t0.y), COUNT(t0.id) FROM c AS t0 WHERE NOT (t0.y = 8) GROUP BY t0.id, t0.id;
-- sort
SELECT t1.x, t0.x, COUNT(*), SUM(t0.y), MIN(t0.id) FROM a AS t0 STRAIGHT_JOIN c AS t1 ON t0.y = t1.y WHERE t1.id = 4 GROUP BY t1.x, t0.x HAVING COUNT(*) > 2;
-- sort
SELECT t0.y, t0.id, COUNT(*), SUM(t0.x), MAX(t0.y) FROM a AS t0 GROUP BY t0.y, t0.id;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM a AS t0 RIGHT JOIN c AS t1 ON t0.id = t1.id AND t1.x + 12 > t0.y;
-- sort
SELECT t0.s, t1.x, t1.s FROM b AS t0 JOIN b AS t1 ON t0.s = t1.s WHERE (NOT (t0.id BETWEEN 10 AND 11) OR (t1.s <= 'Ca' OR t1.id < t0.id));
-- sort
SELECT t0.y, COUNT(*), SUM(t0.y), MAX(t0.id) FROM c AS t0 GROUP BY t0.y;
-- sort
SELECT t0.x, t0.s, t0.y FROM d AS t0 LEFT JOIN d AS t1 ON t0.id = t1.id AND t0.x = 9 WHERE NOT (t1.s > 'B');
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM d AS t0 WHERE ((t0.s = 'abc' OR t0.id BETWEEN 1 AND 5) AND t0.y BETWEEN -3 AND 10);
-- sort
SELECT HEX(t0.s), t1.x, COUNT(*), COUNT(t1.y), COUNT(DISTINCT t1.y) FROM d AS t0 LEFT JOIN a AS t1 ON t0.id = t1.id WHERE t0.s IN (SELECT q38.s FROM a AS q38 WHERE NOT (q38.id IN (6, 10))) GROUP BY HEX(t0.s), t1.x;
SELECT COUNT(*), MIN(t0.x), MAX(t1.y) FROM b AS t0 STRAIGHT_JOIN a AS t1 ON t0.id = t1.id WHERE ((t0.id NOT IN (5, 8, 8) OR t1.s NOT BETWEEN 'B' AND 'B') OR (t1.x <= 12 AND t1.y IN (1, 12, 1, 4)));
-- sort
SELECT t1.s, t0.y, t0.id FROM d AS t0 LEFT JOIN c AS t1 ON t0.x = t1.x AND t1.y < t0.y WHERE (t0.x = t0.x AND (t1.s LIKE 'B%' OR t1.x = t0.x));
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM a AS t0;
SELECT COUNT(*), MIN(t1.x), MAX(t1.y) FROM c AS t0 LEFT JOIN d AS t1 ON t0.y = t1.y AND t0.x + 5 = t1.y;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM c AS t0 WHERE EXISTS (SELECT 1 FROM a AS q60 WHERE q60.s = t0.s AND (q60.s LIKE '%' AND q60.s < ''));
-- sort
SELECT t0.id, t0.y, t0.s FROM b AS t0 WHERE t0.s NOT IN ('c');
REPLACE INTO b VALUES (24, 1, 27, 'Ca');
-- sort
SELECT * FROM b;
REPLACE INTO a VALUES (6, 1, 41, 'B');
-- sort
SELECT * FROM c;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM a AS t0 STRAIGHT_JOIN d AS t1 ON t0.s = t1.s WHERE (EXISTS (SELECT 1 FROM c AS q36 WHERE q36.s = t1.s AND q36.x NOT BETWEEN -3 AND 10) AND (t0.s < 'Ca' AND t1.s = 'ab'));
-- sort
SELECT t0.y, t0.s, t0.id FROM a AS t0 WHERE t0.s BETWEEN 'Ca' AND 'ba';
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 WHERE t0.s = 'a';
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM d AS t0 JOIN a AS t1 ON t0.s = t1.s AND t0.y >= t1.y WHERE t1.s LIKE '_b%';
SELECT COUNT(*), MIN(t1.x), MAX(t0.y) FROM d AS t0 JOIN c AS t1 ON t0.id = t1.id AND t0.x IN (9, 6) WHERE t0.s IN (SELECT q78.s FROM c AS q78 WHERE q78.s LIKE '%');
SELECT t0.x, t0.id, t0.s FROM c AS t0 WHERE NOT (t0.id <=> 0) ORDER BY t0.y, t0.id DESC, t0.x DESC, t0.y DESC, HEX(t0.s);
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM a AS t0 JOIN b AS t1 ON t0.s = t1.s;
-- sort
SELECT t0.y, COUNT(*), COUNT(t0.x), COUNT(DISTINCT t0.id) FROM a AS t0 WHERE t0.y = NULL GROUP BY t0.y HAVING COUNT(*) > 2;
UPDATE c SET y = y + 40 WHERE c.id < NULL;
-- sort
SELECT * FROM c;
REPLACE INTO c VALUES (35, 4, 49, 'b');
-- sort
SELECT t0.y, t0.x, t0.id FROM d AS t0 WHERE NOT ((t0.s NOT IN ('b', 'b') OR t0.s > 'ba'));
UPDATE d SET s = 'a' WHERE d.s LIKE 'a%';
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y, t1.id, t1.x, t1.y FROM b AS t0 LEFT JOIN c AS t1 ON t0.x = t1.x WHERE t1.id = -1;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM d AS t0 STRAIGHT_JOIN b AS t1 ON t0.id = t1.id WHERE (t1.id >= 9 AND t0.y NOT IN (9, -2, 12, -1));
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM c AS t0 STRAIGHT_JOIN c AS t1 ON t0.y = t1.y AND t0.s LIKE '%b' WHERE t0.x + 10 = t1.y;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM b AS t0 LEFT JOIN c AS t1 ON t0.id = t1.id AND t0.y BETWEEN 9 AND 10 WHERE (t1.id NOT BETWEEN 4 AND 8 AND (t0.id = t0.id AND t0.y = t1.y));
SELECT t0.id, t0.s, t0.y FROM c AS t0 WHERE (NOT (t0.y = 6) OR (t0.x >= 6 OR t0.s NOT IN ('c', 'a'))) ORDER BY t0.y, t0.id, t0.x DESC, t0.y, HEX(t0.s);
UPDATE a SET y = y + 40 WHERE a.y IS NULL;
UPDATE c SET s = 'Ca' WHERE (c.s >= 'a' OR c.s IN ('a', 'ba', 'b', ''));
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM c AS t0 WHERE t0.x + -1 = t0.y;
-- sort
SELECT t0.id, t0.s, t0.y FROM b AS t0 WHERE (t0.id = 11 AND t0.y NOT BETWEEN 8 AND 11);
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM c AS t0 RIGHT JOIN d AS t1 ON t0.id = t1.id JOIN c AS t2 ON t0.x = t2.x WHERE ((t1.y NOT BETWEEN -3 AND 3 AND t0.x IN (5)) AND t0.s LIKE '%');
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM a AS t0 WHERE t0.id >= 2;
-- sort
SELECT t0.y, t0.y, COUNT(*), COUNT(t0.y), MAX(t0.y) FROM d AS t0 GROUP BY t0.y, t0.y;
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 WHERE (t0.y IN (3, 11, 7, -2) AND t0.x = 10) ORDER BY t0.y, t0.id DESC, t0.x DESC, t0.y DESC, HEX(t0.s) LIMIT 5;
-- sort
SELECT t0.x, t0.id, t0.y FROM c AS t0;
INSERT IGNORE INTO d VALUES (31, 10, 16, '');
-- sort
SELECT t0.x, COUNT(*), MAX(t1.id), SUM(t1.x) FROM d AS t0 JOIN b AS t1 ON t0.y = t1.y AND t1.y IS NOT NULL WHERE t1.y >= 7 GROUP BY t0.x;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM c AS t0 WHERE NOT (t0.x + 1 < t0.y);
-- sort
SELECT t1.id, t0.id, COUNT(*), COUNT(t0.y), SUM(t0.x) FROM a AS t0 JOIN b AS t1 ON t0.y = t1.y AND t1.s < 'B' WHERE t1.x BETWEEN -2 AND 10 GROUP BY t1.id, t0.id HAVING COUNT(*) > 1;
SELECT MIN(t0.y) FROM c AS t0;
SELECT MAX(t0.x) FROM d AS t0 WHERE t0.s LIKE '%b';
DELETE FROM d WHERE d.x + 1 = d.y;
UPDATE b SET y = y + 40 WHERE (b.s BETWEEN 'ab' AND 'c' OR b.x IS NOT NULL);
-- sort
SELECT * FROM d;
SELECT COUNT(*), MIN(t1.x), MAX(t1.y) FROM a AS t0 STRAIGHT_JOIN b AS t1 ON t0.s = t1.s JOIN a AS t2 ON t0.y = t2.y AND t0.s NOT IN (SELECT q5.s FROM a AS q5 WHERE NOT (q5.s = NULL)) WHERE EXISTS (SELECT 1 FROM c AS q64 WHERE q64.x = t1.x AND NOT (q64.s = 'Ca'));
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM d AS t0 WHERE t0.x >= 0;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM d AS t0 WHERE t0.id IS NOT NULL;
-- sort
SELECT t1.id, HEX(t1.s), COUNT(*), COUNT(t0.id), MAX(t1.id) FROM d AS t0 RIGHT JOIN c AS t1 ON t0.y = t1.y WHERE t1.y >= t0.y GROUP BY t1.id, HEX(t1.s) HAVING COUNT(*) > 2;
-- sort
SELECT t0.y, t1.x, COUNT(*), COUNT(t1.y), MIN(t0.x) FROM b AS t0 STRAIGHT_JOIN b AS t1 ON t0.s = t1.s WHERE (NOT (t0.x >= 10) AND t0.x = t0.x) GROUP BY t0.y, t1.x;
-- sort
SELECT t0.id, t1.y, t0.x FROM a AS t0 RIGHT JOIN d AS t1 ON t0.s = t1.s WHERE (t0.id IN (1, 7) AND t1.s IN ('B', 'B', 'a'));
UPDATE c SET s = '' WHERE c.y < c.y;
-- sort
SELECT * FROM b;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM b AS t0 JOIN d AS t1 ON t0.x = t1.x WHERE t0.x NOT IN (SELECT q94.x FROM d AS q94 WHERE (q94.id <= -2 AND q94.s LIKE 'B%'));
-- sort
SELECT HEX(t1.s), COUNT(*), COUNT(DISTINCT t1.x), MIN(t0.x) FROM b AS t0 LEFT JOIN a AS t1 ON t0.s = t1.s WHERE ((t0.y NOT BETWEEN -1 AND 12 OR t1.s LIKE 'B%') AND (t1.id <=> 1 AND t0.id <=> 12)) GROUP BY HEX(t1.s) HAVING COUNT(*) > 0;
SELECT COUNT(*), MIN(t1.x), MAX(t0.y) FROM a AS t0 JOIN d AS t1 ON t0.x = t1.x AND t0.s >= t0.s WHERE t0.y IN (SELECT q74.y FROM a AS q74 WHERE q74.y <=> 11);
SELECT t0.id, t0.x, t0.y, t0.s FROM a AS t0 WHERE t0.x IS NOT NULL ORDER BY t0.x, t0.id DESC, t0.x, t0.y DESC, HEX(t0.s);
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM a AS t0;
-- sort
SELECT t0.x, t0.id, t0.s FROM d AS t0 WHERE t0.s NOT BETWEEN 'ba' AND 'd d';
REPLACE INTO a VALUES (0, 5, 32, 'c');
-- sort
SELECT * FROM b;
-- sort
SELECT t0.id, t0.y, t0.x FROM d AS t0 WHERE t0.x NOT IN (5, 5, 2, 6);
SELECT t0.id, t0.x, t0.y, t0.s FROM a AS t0 WHERE t0.s LIKE 'ab%' ORDER BY t0.y, t0.id, t0.x DESC, t0.y DESC, HEX(t0.s) DESC;
SELECT COUNT(*), MIN(t2.x), MAX(t1.y) FROM d AS t0 LEFT JOIN b AS t1 ON t0.x = t1.x LEFT JOIN c AS t2 ON t0.id = t2.id WHERE t0.id IS NULL;
SELECT COUNT(*), MIN(t0.x), MAX(t1.y) FROM b AS t0 JOIN d AS t1 ON t0.y = t1.y AND t0.id BETWEEN -1 AND 12 JOIN b AS t2 ON t0.s = t2.s WHERE (t1.id = t2.id OR t2.x IN (-2));
-- sort
SELECT t0.x, COUNT(*), SUM(t0.id), MAX(t0.id) FROM a AS t0 WHERE (t0.y = 9 AND NOT (t0.y < t0.y)) GROUP BY t0.x HAVING COUNT(*) > 0;
SELECT COUNT(*), MIN(t1.x), MAX(t0.y) FROM d AS t0 LEFT JOIN a AS t1 ON t0.s = t1.s;
-- sort
SELECT t0.y, HEX(t0.s), COUNT(*), COUNT(DISTINCT t0.y), MAX(t0.y) FROM c AS t0 WHERE t0.x NOT BETWEEN 0 AND 2 GROUP BY t0.y, HEX(t0.s) HAVING COUNT(*) > 2;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM b AS t0 WHERE (t0.x > 4 AND t0.id NOT BETWEEN -2 AND 2);
SELECT MIN(t0.x) FROM c AS t0 WHERE ((t0.x + 0 < t0.y AND t0.y > -3) AND t0.id >= t0.id);
-- sort
SELECT t0.x, t0.id, t1.id FROM b AS t0 RIGHT JOIN d AS t1 ON t0.id = t1.id WHERE t0.id >= 4;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM b AS t0 STRAIGHT_JOIN a AS t1 ON t0.s = t1.s AND t1.y IS NULL;
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 WHERE t0.x = 4 ORDER BY t0.id DESC, t0.id, t0.x, t0.y, HEX(t0.s) DESC LIMIT 5;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM b AS t0 WHERE t0.x = t0.x;
-- sort
SELECT t0.x, t0.y, COUNT(*), COUNT(DISTINCT t0.x), MAX(t0.x) FROM a AS t0 WHERE ((t0.y >= t0.y AND t0.s = 'ba') AND (t0.s LIKE 'B%' AND t0.x IS NOT NULL)) GROUP BY t0.x, t0.y HAVING COUNT(*) > 1;
-- sort
SELECT t0.y, HEX(t1.s), COUNT(*), COUNT(t0.id), COUNT(DISTINCT t2.id) FROM a AS t0 LEFT JOIN c AS t1 ON t0.x = t1.x JOIN d AS t2 ON t0.x = t2.x WHERE NOT (t2.x < t2.x) GROUP BY t0.y, HEX(t1.s);
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM a AS t0 JOIN a AS t1 ON t0.s = t1.s AND t1.x + 0 > t0.y WHERE t0.y = 3;
SELECT COUNT(*), MIN(t1.x), MAX(t1.y) FROM a AS t0 STRAIGHT_JOIN b AS t1 ON t0.id = t1.id AND t1.x IS NULL WHERE (t0.id <=> 10 AND t0.y <=> 9);
-- sort
SELECT t0.id, COUNT(*), COUNT(t0.x), MAX(t0.id) FROM d AS t0 WHERE (t0.id >= t0.id AND t0.y >= t0.y) GROUP BY t0.id;
REPLACE INTO d VALUES (40, 11, 3, '');
SELECT COUNT(*), MIN(t2.x), MAX(t2.y) FROM c AS t0 JOIN a AS t1 ON t0.x = t1.x RIGHT JOIN a AS t2 ON t1.id = t2.id WHERE ((t1.id BETWEEN -2 AND 9 AND t1.s IN ('B', 'ab', 'ba', '')) OR (t2.y >= 3 AND t0.s = 'ab'));
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM a AS t0 JOIN b AS t1 ON t0.s = t1.s AND t1.s LIKE 'a_' JOIN b AS t2 ON t1.s = t2.s WHERE NOT (NOT (EXISTS (SELECT 1 FROM d AS q38 WHERE q38.s = t2.s AND NOT (q38.s IS NOT NULL))));
SELECT COUNT(*), MIN(t1.x), MAX(t0.y) FROM b AS t0 LEFT JOIN c AS t1 ON t0.id = t1.id WHERE t0.id NOT BETWEEN -2 AND 5;
SELECT MIN(t0.y) FROM a AS t0 LEFT JOIN b AS t1 ON t0.id = t1.id WHERE NOT (t1.x BETWEEN 6 AND 10);
-- sort
SELECT HEX(t0.s), COUNT(*), SUM(t0.y), COUNT(DISTINCT t0.y) FROM a AS t0 WHERE NOT (NOT (t0.y = 2)) GROUP BY HEX(t0.s);
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 WHERE t0.s LIKE '%';
INSERT IGNORE INTO d VALUES (27, 10, 9, 'B');
-- sort
SELECT * FROM b;
SELECT COUNT(*), MIN(t1.x), MAX(t0.y) FROM d AS t0 JOIN c AS t1 ON t0.y = t1.y WHERE t1.id NOT IN (5, -2, -2, 5);
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM c AS t0 JOIN a AS t1 ON t0.s = t1.s AND t1.s NOT BETWEEN 'Ca' AND 'c' WHERE (t0.x = 8 AND t1.id > (SELECT MIN(q41.id) FROM b AS q41 WHERE q41.x + 9 = q41.y));
REPLACE INTO b VALUES (12, 11, 40, 'abc');
-- sort
SELECT * FROM c;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM a AS t0 STRAIGHT_JOIN d AS t1 ON t0.x = t1.x JOIN a AS t2 ON t1.x = t2.x AND t2.x IN (2, 6, 6) WHERE (t0.x + 8 < t1.y OR NOT (t0.y BETWEEN -1 AND 10));
SELECT MAX(t0.y) FROM d AS t0 WHERE t0.x NOT IN (SELECT q85.x FROM b AS q85 WHERE q85.s BETWEEN 'B' AND 'd d');
UPDATE a SET x = x + 1 WHERE a.y IN (5, 0);
-- sort
SELECT HEX(t0.s), t1.id, COUNT(*), MIN(t0.id), COUNT(DISTINCT t1.y) FROM c AS t0 LEFT JOIN b AS t1 ON t0.id = t1.id AND t0.s NOT IN ('a', 'b') WHERE (NOT (t0.x >= t1.x) AND t0.x IN (-3, 12, 11)) GROUP BY HEX(t0.s), t1.id;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 WHERE NOT EXISTS (SELECT 1 FROM a AS q72 WHERE q72.x = t0.x AND (q72.id >= q72.id AND q72.y IS NULL));
-- sort
SELECT t0.s, t0.id, t1.id FROM c AS t0 LEFT JOIN d AS t1 ON t0.s = t1.s AND t0.id = t1.id WHERE ((t1.id >= -2 AND t1.s LIKE '_b%') AND t0.y IN (2, 10));
SELECT t0.x, t0.s, t0.id FROM b AS t0 WHERE t0.id <> -2 ORDER BY t0.x, t0.id, t0.x DESC, t0.y DESC, HEX(t0.s) DESC LIMIT 5 OFFSET 0;
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y FROM c AS t0 WHERE ((t0.id > 3 AND t0.s NOT IN ('c', 'a', 'Ca', '')) AND (t0.y BETWEEN -2 AND 4 OR t0.y < t0.y));
UPDATE a SET x = x + 1 WHERE (a.s IN ('abc', 'ab', 'Ca') AND a.x + 2 > a.y);
-- sort
SELECT * FROM a;
-- sort
SELECT t1.id, t0.id, t1.x FROM b AS t0 RIGHT JOIN b AS t1 ON t0.id = t1.id WHERE (t1.s > 'Ca' AND t1.y BETWEEN 1 AND 5);
SELECT t0.id, t0.x, t0.y, t0.s FROM a AS t0 WHERE ((t0.id <= -2 AND t0.s LIKE '%b') AND t0.x + 8 < t0.y) ORDER BY t0.x DESC, t0.id, t0.x, t0.y, HEX(t0.s) LIMIT 6;
-- sort
SELECT t0.s, t1.id, t1.x FROM d AS t0 LEFT JOIN a AS t1 ON t0.s = t1.s AND t1.id NOT BETWEEN 7 AND 8 WHERE ((t0.x = 10 OR t0.id >= t1.id) OR t0.id <=> NULL);
-- sort
SELECT t0.id, COUNT(*), COUNT(t0.x), SUM(t0.id) FROM d AS t0 WHERE t0.x < 6 GROUP BY t0.id;
-- sort
SELECT t0.y, t0.s, t0.x FROM c AS t0 WHERE t0.id = 12;
-- sort
SELECT t2.s, t1.s, t2.id FROM c AS t0 STRAIGHT_JOIN b AS t1 ON t0.y = t1.y JOIN d AS t2 ON t0.id = t2.id AND t2.s IN ('ab');
SELECT COUNT(*), MIN(t0.x), MAX(t1.y) FROM c AS t0 LEFT JOIN d AS t1 ON t0.y = t1.y AND t1.id <> 8 WHERE NOT (t0.id BETWEEN -1 AND 11);
-- sort
SELECT t0.x, COUNT(*), COUNT(t0.y), MAX(t0.y) FROM b AS t0 WHERE (t0.x >= 6 AND (t0.x = 3 AND t0.x BETWEEN 3 AND 5)) GROUP BY t0.x HAVING COUNT(*) > 1;
SELECT COUNT(*), MIN(t0.x), MAX(t1.y) FROM c AS t0 JOIN b AS t1 ON t0.x = t1.x AND t1.id <> 10 WHERE t0.y >= t1.y;
SELECT MAX(t0.id) FROM d AS t0 LEFT JOIN a AS t1 ON t0.s = t1.s AND t0.id < 11 STRAIGHT_JOIN a AS t2 ON t0.id = t2.id AND t0.x = t1.x WHERE ((t0.y IS NOT NULL AND t0.s IS NULL) AND NOT EXISTS (SELECT 1 FROM c AS q45 WHERE q45.y = t2.y AND q45.s IS NULL));
INSERT IGNORE INTO d VALUES (34, 8, 1, 'd d');
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 WHERE NOT ((t0.y >= 11 AND t0.id NOT IN (SELECT q83.id FROM c AS q83 WHERE (q83.id BETWEEN 1 AND 12 OR q83.y <=> 2)))) ORDER BY t0.y DESC, t0.id DESC, t0.x, t0.y DESC, HEX(t0.s) LIMIT 0;
INSERT IGNORE INTO c VALUES (6, 4, 59, 'abc');
-- sort
SELECT * FROM c;
UPDATE a SET y = y + 40 WHERE (a.id IS NOT NULL AND a.s IN ('', 'a', 'ab'));
SELECT t0.id, t0.x, t0.y, t0.s FROM a AS t0 WHERE ((t0.id BETWEEN 2 AND 11 AND t0.id NOT BETWEEN 10 AND 12) AND t0.id >= 1) ORDER BY t0.id, t0.id DESC, t0.x, t0.y DESC, HEX(t0.s);
SELECT t0.x, t0.s, t0.id FROM d AS t0 WHERE t0.y <= 3 ORDER BY t0.id DESC, t0.id, t0.x, t0.y, HEX(t0.s) DESC LIMIT 6 OFFSET 2;
SELECT t0.s, t0.x, t0.y FROM c AS t0 WHERE NOT EXISTS (SELECT 1 FROM a AS q92 WHERE q92.y = t0.y AND q92.id = q92.id) ORDER BY t0.y, t0.id, t0.x DESC, t0.y DESC, HEX(t0.s) DESC;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM a AS t0 WHERE ((t0.id = t0.id AND t0.x < -1) OR t0.y = 11);
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y, t1.id, t1.x, t1.y FROM a AS t0 JOIN a AS t1 ON t0.x = t1.x AND t0.s LIKE '%';
UPDATE b SET s = 'B' WHERE b.s <> 'a';
-- sort
SELECT * FROM b;
-- sort
SELECT t0.x, COUNT(*), COUNT(DISTINCT t0.y), SUM(t0.id) FROM c AS t0 WHERE (t0.id NOT IN (7, -2, 11, 9) AND (t0.s < t0.s AND t0.s LIKE '_b%')) GROUP BY t0.x;
SELECT t0.x, t0.s, t0.y FROM c AS t0 WHERE t0.s IS NULL ORDER BY t0.id DESC, t0.id, t0.x DESC, t0.y DESC, HEX(t0.s) DESC;
-- sort
SELECT t0.y, t1.y, t0.id FROM b AS t0 LEFT JOIN b AS t1 ON t0.s = t1.s AND t1.x = 3 WHERE t1.id >= -1;
SELECT t0.x, t0.id, t0.s FROM b AS t0 WHERE t0.x + -3 > t0.y ORDER BY t0.x, t0.id DESC, t0.x DESC, t0.y, HEX(t0.s) LIMIT 5;
-- sort
SELECT t0.y, t0.s, t2.id FROM c AS t0 RIGHT JOIN b AS t1 ON t0.id = t1.id JOIN b AS t2 ON t1.x = t2.x AND t0.x + 8 = t1.y WHERE (t2.s <=> 'ba' AND t1.id IS NULL);
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM d AS t0 WHERE t0.id IN (12, -2, 11);
SELECT MAX(t0.id) FROM a AS t0 WHERE (t0.y IN (3, 10) AND EXISTS (SELECT 1 FROM a AS q11 WHERE q11.id = t0.id AND q11.x NOT IN (6)));
UPDATE b SET s = 'c' WHERE b.y BETWEEN 4 AND 10;
INSERT IGNORE INTO b VALUES (38, 11, 13, 'c');
-- sort
SELECT t1.x, t1.id, t0.s FROM a AS t0 LEFT JOIN a AS t1 ON t0.x = t1.x AND t0.y IN (3) WHERE t1.s BETWEEN 'ab' AND 'ba';
UPDATE a SET x = 11 WHERE a.y IS NOT NULL;
-- sort
SELECT * FROM c;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 WHERE ((t0.s = 'c' OR t0.y IS NOT NULL) AND t0.id BETWEEN 4 AND 4);
INSERT IGNORE INTO c VALUES (6, 2, 23, 'c');
-- sort
SELECT * FROM c;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM a AS t0 JOIN c AS t1 ON t0.s = t1.s RIGHT JOIN b AS t2 ON t1.y = t2.y WHERE (t0.x NOT BETWEEN 2 AND 10 AND t1.s = 'Ca');
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM c AS t0 WHERE t0.id <= 1;
-- sort
SELECT t0.x, COUNT(*), COUNT(DISTINCT t0.y), MAX(t0.y) FROM d AS t0 WHERE (t0.s LIKE 'ab%' OR NOT (t0.s IS NOT NULL)) GROUP BY t0.x;
-- sort
SELECT t0.y, t0.s, t0.id FROM c AS t0;
-- sort
SELECT t0.y, COUNT(*), SUM(t0.x), COUNT(DISTINCT t0.id) FROM d AS t0 WHERE (t0.id < t0.id AND (t0.x = -2 AND t0.y < t0.y)) GROUP BY t0.y;
-- sort
SELECT t0.x, t1.y, t1.x FROM b AS t0 LEFT JOIN a AS t1 ON t0.s = t1.s;
-- sort
SELECT t0.id, COUNT(*), COUNT(t0.y), MAX(t0.x) FROM d AS t0 WHERE t0.s IN ('b') GROUP BY t0.id;
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 ORDER BY t0.x DESC, t0.id, t0.x DESC, t0.y, HEX(t0.s) DESC LIMIT 6 OFFSET 1;
UPDATE d SET s = 'a' WHERE (d.y < 1 OR d.y >= d.y);
-- sort
SELECT * FROM d;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM a AS t0 WHERE t0.y = (SELECT MAX(q25.y) FROM c AS q25 WHERE (q25.id >= NULL AND q25.x IN (1, 5, 4, 4)));
-- sort
SELECT t0.id, COUNT(*), COUNT(t0.id), SUM(t1.x) FROM c AS t0 JOIN a AS t1 ON t0.s = t1.s AND t1.s = t0.s WHERE t1.y BETWEEN -1 AND 10 GROUP BY t0.id;
-- sort
SELECT t0.s, t1.y, t0.y FROM b AS t0 LEFT JOIN b AS t1 ON t0.x = t1.x AND t1.s = t1.s WHERE t1.id <> 8;
-- sort
SELECT HEX(t0.s), COUNT(*), SUM(t0.x), COUNT(DISTINCT t0.id) FROM a AS t0 JOIN a AS t1 ON t0.y = t1.y WHERE ((t0.s < t1.s AND t1.x = 9) OR (t1.id < t1.id AND t0.s LIKE 'B%')) GROUP BY HEX(t0.s);
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM b AS t0 RIGHT JOIN a AS t1 ON t0.y = t1.y JOIN c AS t2 ON t0.s = t2.s AND t0.y < (SELECT MAX(q51.y) FROM b AS q51 WHERE (q51.s = 'B' AND q51.s < (SELECT MIN(q55.s) FROM b AS q55 WHERE (q55.s LIKE 'ab%' AND q55.x + 8 > q55.y)))) WHERE t2.y <=> 4;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM d AS t0 WHERE t0.y >= -2;
SELECT COUNT(*), MIN(t2.x), MAX(t2.y) FROM d AS t0 RIGHT JOIN b AS t1 ON t0.y = t1.y AND t0.y IN (11, 8) RIGHT JOIN c AS t2 ON t0.x = t2.x AND t0.id < -2 WHERE t1.y BETWEEN -3 AND 9;
-- sort
SELECT t0.x, COUNT(*), MIN(t0.id), SUM(t0.id) FROM c AS t0 WHERE ((t0.id = 3 AND t0.y < NULL) AND (t0.s LIKE '%' OR t0.x = t0.x)) GROUP BY t0.x HAVING COUNT(*) > 0;
SELECT t0.id, t0.x, t0.y, t0.s FROM d AS t0 WHERE NOT (NOT (t0.x + 12 < t0.y)) ORDER BY t0.id DESC, t0.id, t0.x DESC, t0.y DESC, HEX(t0.s) DESC LIMIT 1;
DELETE FROM c WHERE c.s LIKE '%';
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM a AS t0 WHERE ((NOT EXISTS (SELECT 1 FROM d AS q32 WHERE q32.y = t0.y AND (q32.x + 2 > q32.y AND q32.s NOT IN ('abc', 'ab'))) OR t0.s LIKE 'ab%') OR t0.id <> -3);
-- sort
SELECT t1.y, t0.x, t1.x FROM d AS t0 RIGHT JOIN b AS t1 ON t0.id = t1.id AND NOT EXISTS (SELECT 1 FROM a AS q18 WHERE q18.s = t0.s AND q18.id IS NOT NULL) WHERE t0.y = 2;
-- sort
SELECT t0.x, t0.s, t1.y FROM b AS t0 JOIN d AS t1 ON t0.s = t1.s AND t1.x > 0 WHERE (t0.s BETWEEN 'b' AND 'c' OR t0.id = NULL);
SELECT COUNT(*), MIN(t2.x), MAX(t2.y) FROM a AS t0 RIGHT JOIN c AS t1 ON t0.y = t1.y LEFT JOIN b AS t2 ON t0.y = t2.y WHERE NOT ((t1.s LIKE '%b' OR t2.y = -3));
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 WHERE t0.x NOT BETWEEN 4 AND 4;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM b AS t0 RIGHT JOIN d AS t1 ON t0.x = t1.x AND t0.x IS NULL STRAIGHT_JOIN b AS t2 ON t1.x = t2.x;
SELECT COUNT(*), MIN(t0.x), MAX(t1.y) FROM d AS t0 JOIN d AS t1 ON t0.id = t1.id WHERE (t1.id BETWEEN -1 AND 10 AND (t0.id = 3 OR t0.y BETWEEN 3 AND 5));
-- sort
SELECT HEX(t1.s), COUNT(*), COUNT(DISTINCT t0.id), COUNT(t1.x) FROM d AS t0 JOIN c AS t1 ON t0.y = t1.y WHERE t1.x + 9 > t0.y GROUP BY HEX(t1.s);
-- sort
SELECT t0.y, HEX(t0.s), COUNT(*), MIN(t0.x), COUNT(DISTINCT t0.x) FROM b AS t0 WHERE (t0.s >= '' AND t0.x NOT BETWEEN 3 AND 9) GROUP BY t0.y, HEX(t0.s) HAVING COUNT(*) > 1;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM b AS t0 JOIN a AS t1 ON t0.id = t1.id AND t1.id NOT IN (SELECT q33.id FROM d AS q33 WHERE q33.x NOT IN (12)) WHERE (NOT (t0.x = 10) AND t0.x = -3);
INSERT IGNORE INTO a VALUES (15, 3, 12, 'Ca');
-- sort
SELECT * FROM b;
-- sort
SELECT t1.x, t2.y, t1.id FROM b AS t0 JOIN c AS t1 ON t0.y = t1.y STRAIGHT_JOIN c AS t2 ON t0.id = t2.id;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM d AS t0;
-- sort
SELECT HEX(t0.s), t0.x, COUNT(*), COUNT(t0.x), SUM(t0.x) FROM c AS t0 WHERE (EXISTS (SELECT 1 FROM a AS q20 WHERE q20.id = t0.id AND (q20.s >= q20.s AND q20.x NOT IN (12, -3, 6, 12))) OR t0.s NOT IN (SELECT q9.s FROM b AS q9 WHERE q9.id IN (4, 1, 3))) GROUP BY HEX(t0.s), t0.x;
-- sort
SELECT t0.x, t0.id, t0.s FROM a AS t0 WHERE (t0.x >= t0.x AND (t0.s LIKE '_b%' AND t0.s IN (SELECT q40.s FROM c AS q40 WHERE q40.x + 1 = q40.y)));
DELETE FROM c WHERE c.y NOT IN (8);
-- sort
SELECT HEX(t0.s), COUNT(*), SUM(t0.x), COUNT(t1.y) FROM d AS t0 LEFT JOIN a AS t1 ON t0.id = t1.id AND t1.s < t1.s WHERE t0.y NOT IN (-2, 2, 0) GROUP BY HEX(t0.s);
SELECT MAX(t0.id) FROM a AS t0 WHERE NOT ((t0.y IS NULL AND t0.y IS NOT NULL));
UPDATE d SET s = 'Ca' WHERE d.id < d.id;
-- sort
SELECT * FROM d;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM d AS t0 JOIN d AS t1 ON t0.y = t1.y AND t1.x BETWEEN 8 AND 9 WHERE NOT ((t1.s BETWEEN 'a' AND 'ab' OR t0.s = t0.s));
DELETE FROM d WHERE d.id > 1;
-- sort
SELECT * FROM a;
-- sort
SELECT HEX(t0.s), t0.y, COUNT(*), SUM(t0.x), MIN(t0.x) FROM d AS t0 GROUP BY HEX(t0.s), t0.y HAVING COUNT(*) > 1;
-- sort
SELECT HEX(t0.s), t0.y, COUNT(*), COUNT(t0.id), MAX(t0.x) FROM b AS t0 WHERE (t0.id IN (SELECT q41.id FROM d AS q41 WHERE (q41.id = 1 AND q41.y = 11)) OR t0.y = 9) GROUP BY HEX(t0.s), t0.y HAVING COUNT(*) > 0;
-- sort
SELECT t0.y, t0.id, t0.x FROM c AS t0 WHERE (t0.id <=> 8 OR (t0.y <= 9 OR t0.s IS NOT NULL));
SELECT MIN(t0.x) FROM c AS t0 LEFT JOIN d AS t1 ON t0.id = t1.id;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM c AS t0 WHERE NOT (NOT (t0.x IS NULL));
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM a AS t0;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM b AS t0 WHERE (t0.s < t0.s AND t0.s LIKE 'B%');
-- sort
SELECT t0.id, COUNT(*), MIN(t0.id), COUNT(DISTINCT t0.x) FROM b AS t0 WHERE (t0.x + 3 > t0.y OR (t0.s < 'abc' AND t0.s IN ('', '', 'a'))) GROUP BY t0.id;
-- sort
SELECT t0.y, COUNT(*), SUM(t0.id), COUNT(DISTINCT t0.y) FROM d AS t0 WHERE t0.id < t0.id GROUP BY t0.y;
-- sort
SELECT t0.y, t0.x, t1.x FROM b AS t0 LEFT JOIN b AS t1 ON t0.id = t1.id WHERE ((t1.x = 5 AND t0.y IS NOT NULL) OR NOT (EXISTS (SELECT 1 FROM d AS q36 WHERE q36.y = t1.y AND (q36.x + -1 > q36.y AND q36.s = NULL))));
-- sort
SELECT t0.y, COUNT(*), COUNT(t0.x), COUNT(DISTINCT t0.x) FROM d AS t0 WHERE t0.y = -1 GROUP BY t0.y HAVING COUNT(*) > 0;
SELECT COUNT(*), MIN(t1.x), MAX(t1.y) FROM c AS t0 STRAIGHT_JOIN b AS t1 ON t0.s = t1.s AND t1.x NOT BETWEEN -3 AND -3 LEFT JOIN d AS t2 ON t1.id = t2.id WHERE t1.s = 'ab';
UPDATE d SET x = x + 1 WHERE d.s LIKE '%';
-- sort
SELECT * FROM a;
-- sort
SELECT t1.y, t0.x, t0.s FROM b AS t0 LEFT JOIN d AS t1 ON t0.s = t1.s WHERE ((t1.id NOT IN (12, -2) AND t1.s >= t1.s) AND (t0.s BETWEEN 'a' AND 'abc' AND t0.x = t1.x));
DELETE FROM c WHERE c.s >= c.s;
-- sort
SELECT * FROM d;
DELETE FROM a WHERE a.id BETWEEN -2 AND 11;
-- sort
SELECT * FROM d;
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y, t1.id, t1.x, t1.y FROM b AS t0 JOIN a AS t1 ON t0.y = t1.y AND t0.id IN (8, 11) WHERE NOT ((t1.s LIKE '_b%' AND t0.x < t0.x));
DELETE FROM c WHERE c.id IS NOT NULL;
-- sort
SELECT * FROM b;
-- sort
SELECT t0.x, COUNT(*), MAX(t0.id), COUNT(DISTINCT t0.y) FROM d AS t0 GROUP BY t0.x;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM c AS t0 WHERE t0.x = t0.x;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM a AS t0 WHERE t0.y <=> 8;
SELECT MIN(t0.id) FROM d AS t0 LEFT JOIN b AS t1 ON t0.s = t1.s AND t0.y <> 9 WHERE t1.y <=> 2;
-- sort
SELECT t1.x, t0.id, t1.id FROM a AS t0 LEFT JOIN b AS t1 ON t0.x = t1.x WHERE t1.y NOT IN (-2, 2);
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y FROM b AS t0 WHERE t0.y >= t0.y;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM d AS t0 WHERE t0.s LIKE 'a_';
INSERT IGNORE INTO b VALUES (16, 3, 57, 'a');
-- sort
SELECT * FROM a;
-- sort
SELECT t0.id, COUNT(*), SUM(t0.id), MIN(t0.x) FROM b AS t0 WHERE t0.id = 11 GROUP BY t0.id;
UPDATE d SET s = 'abc' WHERE (d.y >= d.y OR d.id IS NOT NULL);
-- sort
SELECT * FROM a;
SELECT MIN(t1.x) FROM d AS t0 STRAIGHT_JOIN d AS t1 ON t0.x = t1.x AND t0.y < t1.y WHERE t0.s = '';
-- sort
SELECT t1.x, t1.id, t0.y FROM c AS t0 LEFT JOIN a AS t1 ON t0.x = t1.x WHERE t0.y IN (-2, 7, 0, -1);
-- sort
SELECT t0.x, t0.x, COUNT(*), MAX(t0.y), MIN(t0.y) FROM b AS t0 WHERE (t0.s >= 'B' AND t0.y = NULL) GROUP BY t0.x, t0.x HAVING COUNT(*) > 2;
SELECT MIN(t0.id) FROM a AS t0 STRAIGHT_JOIN c AS t1 ON t0.id = t1.id WHERE (t1.s >= 'a' AND t1.y = -3);
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM a AS t0 WHERE t0.y < t0.y;
-- sort
SELECT t0.y, t0.id, COUNT(*), SUM(t0.id), COUNT(DISTINCT t0.x) FROM b AS t0 WHERE (t0.y <= 2 OR t0.y >= t0.y) GROUP BY t0.y, t0.id;
SELECT MAX(t1.y) FROM b AS t0 LEFT JOIN b AS t1 ON t0.x = t1.x WHERE t1.s LIKE 'ab%';
UPDATE d SET x = 10 WHERE (d.s NOT IN ('a', 'abc', 'B', 'a') OR d.id NOT IN (-1, 0, -3));
-- sort
SELECT * FROM a;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM a AS t0 JOIN c AS t1 ON t0.x = t1.x WHERE ((t1.x < 4 OR EXISTS (SELECT 1 FROM d AS q86 WHERE q86.x = t0.x AND q86.y = NULL)) AND t1.x = 12);
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y FROM a AS t0 WHERE (t0.s IN ('B') AND (t0.x = 8 AND t0.x > 1));
-- sort
SELECT HEX(t0.s), COUNT(*), SUM(t1.id), COUNT(DISTINCT t0.y) FROM d AS t0 STRAIGHT_JOIN c AS t1 ON t0.id = t1.id WHERE (t0.s LIKE 'B%' AND t1.s BETWEEN 'ba' AND 'd d') GROUP BY HEX(t0.s);
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM b AS t0 LEFT JOIN a AS t1 ON t0.s = t1.s AND t0.s LIKE '_b%' WHERE t0.s IS NOT NULL;
-- sort
SELECT t0.id, t0.y, t0.x FROM c AS t0;
-- sort
SELECT t0.id, COUNT(*), SUM(t0.x), MAX(t0.id) FROM b AS t0 WHERE t0.s BETWEEN '' AND 'b' GROUP BY t0.id HAVING COUNT(*) > 1;
-- sort
SELECT t0.id, COUNT(*), SUM(t0.x), COUNT(DISTINCT t0.id) FROM b AS t0 WHERE (NOT (t0.x BETWEEN -1 AND 3) OR t0.s <> 'b') GROUP BY t0.id HAVING COUNT(*) > 2;
-- sort
SELECT t1.s, t2.x, t0.y FROM d AS t0 RIGHT JOIN d AS t1 ON t0.x = t1.x LEFT JOIN b AS t2 ON t1.y = t2.y;
-- sort
SELECT t1.x, COUNT(*), SUM(t0.id), COUNT(DISTINCT t0.id) FROM d AS t0 LEFT JOIN b AS t1 ON t0.s = t1.s GROUP BY t1.x;
-- sort
SELECT t0.x, HEX(t0.s), COUNT(*), COUNT(t0.x), MAX(t0.id) FROM b AS t0 WHERE ((t0.id = 5 AND t0.x > -3) AND t0.id >= t0.id) GROUP BY t0.x, HEX(t0.s) HAVING COUNT(*) > 2;
-- sort
SELECT t2.y, t2.s, t1.id FROM a AS t0 JOIN d AS t1 ON t0.x = t1.x JOIN b AS t2 ON t1.id = t2.id AND t2.id > 3 WHERE t2.s <=> 'ba';
-- sort
SELECT t0.x, t0.y, COUNT(*), COUNT(DISTINCT t0.x), MIN(t0.y) FROM b AS t0 GROUP BY t0.x, t0.y;
SELECT t0.id, t0.x, t0.y, t0.s FROM c AS t0 WHERE ((t0.id IS NULL AND t0.s IS NULL) OR (t0.x + 1 = t0.y OR t0.x IN (9, 3, 5, 3))) ORDER BY t0.x, t0.id DESC, t0.x DESC, t0.y, HEX(t0.s) LIMIT 2;
REPLACE INTO b VALUES (34, 5, 12, 'ab');
-- sort
SELECT * FROM b;
DELETE FROM d WHERE d.y <> 4;
-- sort
SELECT HEX(t0.s), t0.id, COUNT(*), COUNT(DISTINCT t0.x), COUNT(t0.x) FROM c AS t0 WHERE ((t0.y BETWEEN 0 AND 11 OR NOT EXISTS (SELECT 1 FROM b AS q14 WHERE q14.id = t0.id AND q14.x = q14.x)) AND t0.y BETWEEN 7 AND 12) GROUP BY HEX(t0.s), t0.id;
-- sort
SELECT t0.y, t0.id, t0.s FROM b AS t0;
-- sort
SELECT t0.x, t0.x, COUNT(*), SUM(t0.id), MAX(t0.x) FROM d AS t0 WHERE EXISTS (SELECT 1 FROM c AS q66 WHERE q66.x = t0.x AND (q66.y IN (1) OR q66.x = q66.x)) GROUP BY t0.x, t0.x;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM b AS t0 STRAIGHT_JOIN c AS t1 ON t0.x = t1.x WHERE ((t1.x + 9 < t1.y OR t1.id = 2) OR (t1.s LIKE '%' OR t0.x >= t1.x));
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM b AS t0 LEFT JOIN d AS t1 ON t0.y = t1.y WHERE t0.s IN ('a', 'Ca');
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y FROM d AS t0 WHERE t0.x BETWEEN 0 AND 2;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM c AS t0;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM a AS t0 WHERE (t0.s < t0.s AND t0.s IS NULL);
-- sort
SELECT t0.y, t0.id, t0.s FROM d AS t0 WHERE t0.s < t0.s;
-- sort
SELECT HEX(t0.s), COUNT(*), MAX(t0.y), COUNT(t0.x) FROM d AS t0 GROUP BY HEX(t0.s) HAVING COUNT(*) > 2;
-- sort
SELECT t0.x, COUNT(*), MAX(t0.x), MIN(t0.id) FROM a AS t0 WHERE NOT ((t0.id = t0.id AND t0.s < 'c')) GROUP BY t0.x;
-- sort
SELECT t0.id, COUNT(*), COUNT(t0.id), COUNT(DISTINCT t0.id) FROM a AS t0 WHERE (t0.y > -2 OR t0.s = 'c') GROUP BY t0.id;
-- sort
SELECT t1.y, COUNT(*), COUNT(DISTINCT t2.x), MAX(t2.id) FROM c AS t0 JOIN c AS t1 ON t0.y = t1.y JOIN c AS t2 ON t0.s = t2.s WHERE t0.s LIKE '_b%' GROUP BY t1.y HAVING COUNT(*) > 1;
-- sort
SELECT t0.x, t0.y, COUNT(*), MAX(t0.id), SUM(t0.y) FROM d AS t0 LEFT JOIN c AS t1 ON t0.s = t1.s AND t0.x BETWEEN 1 AND 11 WHERE (t1.x + -3 > t0.y AND t0.s LIKE 'a%') GROUP BY t0.x, t0.y;
SELECT t0.id, t0.x, t0.y, t0.s FROM a AS t0 WHERE ((t0.s = t0.s AND t0.x + 9 > t0.y) AND (t0.y IN (11) AND t0.s < t0.s)) ORDER BY t0.id DESC, t0.id, t0.x DESC, t0.y, HEX(t0.s) DESC LIMIT 3 OFFSET 1;
-- sort
SELECT HEX(t1.s), t0.id, COUNT(*), SUM(t1.id), COUNT(DISTINCT t0.x) FROM d AS t0 LEFT JOIN d AS t1 ON t0.id = t1.id AND t1.s LIKE 'B%' WHERE (t1.x >= t0.x AND t1.id < t1.id) GROUP BY HEX(t1.s), t0.id;
SELECT COUNT(*), MIN(t1.x), MAX(t1.y) FROM c AS t0 LEFT JOIN c AS t1 ON t0.s = t1.s;
INSERT IGNORE INTO c VALUES (29, 11, 47, 'Ca');
-- sort
SELECT * FROM b;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM d AS t0 JOIN a AS t1 ON t0.x = t1.x AND t1.id BETWEEN 8 AND 9 JOIN a AS t2 ON t0.x = t2.x WHERE t1.id NOT IN (10, 9);
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM c AS t0 JOIN b AS t1 ON t0.y = t1.y AND t0.y < t0.y;
SELECT MIN(t2.id) FROM a AS t0 LEFT JOIN b AS t1 ON t0.x = t1.x LEFT JOIN a AS t2 ON t0.x = t2.x WHERE (t1.id >= 10 AND t1.y IN (5, 1, 2, 0));
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM c AS t0 JOIN d AS t1 ON t0.y = t1.y WHERE ((t0.s > 'abc' AND t0.s NOT BETWEEN 'ab' AND 'b') AND (t0.x + -3 > t0.y OR t0.x >= t0.x));
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y FROM a AS t0 WHERE t0.x + 2 > t0.y;
-- sort
SELECT HEX(t0.s), t0.x, COUNT(*), MAX(t0.x), MIN(t0.x) FROM b AS t0 GROUP BY HEX(t0.s), t0.x HAVING COUNT(*) > 0;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM b AS t0 WHERE (t0.s BETWEEN 'ba' AND 'ba' OR (t0.s >= t0.s AND t0.y >= 2));
SELECT MAX(t0.x) FROM b AS t0 WHERE ((t0.s NOT IN ('B', 'abc', 'c') OR t0.s BETWEEN 'a' AND 'ab') AND t0.x IN (11, 0, 3, -3));
-- sort
SELECT HEX(t1.s), COUNT(*), SUM(t0.y), MIN(t1.x) FROM a AS t0 LEFT JOIN b AS t1 ON t0.y = t1.y WHERE (t0.s LIKE '%' OR (t1.s <> 'ab' AND t0.s >= t1.s)) GROUP BY HEX(t1.s);
-- sort
SELECT t1.x, COUNT(*), COUNT(DISTINCT t0.id), SUM(t0.id) FROM c AS t0 LEFT JOIN d AS t1 ON t0.id = t1.id AND t1.id <> 10 WHERE (t0.x IS NULL OR t0.s LIKE '%b') GROUP BY t1.x;
INSERT IGNORE INTO c VALUES (27, 9, 54, 'abc');
-- sort
SELECT HEX(t1.s), t2.id, COUNT(*), COUNT(DISTINCT t2.x), COUNT(t1.x) FROM a AS t0 STRAIGHT_JOIN c AS t1 ON t0.x = t1.x AND t1.s <> 'ab' RIGHT JOIN b AS t2 ON t1.x = t2.x WHERE ((t1.s LIKE '%b' AND t1.y IS NOT NULL) OR (t2.s IS NULL AND t0.id <=> 2)) GROUP BY HEX(t1.s), t2.id HAVING COUNT(*) > 1;
-- sort
SELECT t1.y, HEX(t0.s), COUNT(*), MIN(t1.y), MAX(t1.y) FROM d AS t0 LEFT JOIN c AS t1 ON t0.s = t1.s AND t1.s >= t0.s LEFT JOIN c AS t2 ON t0.s = t2.s AND t1.s = 'c' GROUP BY t1.y, HEX(t0.s);
-- sort
SELECT t0.id, COUNT(*), COUNT(DISTINCT t0.x), MIN(t0.y) FROM a AS t0 WHERE t0.id <= 0 GROUP BY t0.id HAVING COUNT(*) > 2;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM b AS t0 LEFT JOIN b AS t1 ON t0.s = t1.s LEFT JOIN d AS t2 ON t0.y = t2.y AND t2.x IS NULL WHERE (t0.s IS NULL AND t2.id >= 3);
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y FROM c AS t0 WHERE (NOT (t0.s LIKE 'B%') OR (t0.id >= 9 OR t0.id = t0.id));
SELECT COUNT(*), MIN(t1.x), MAX(t2.y) FROM b AS t0 RIGHT JOIN b AS t1 ON t0.x = t1.x JOIN b AS t2 ON t0.y = t2.y;
-- sort
SELECT t0.x, t1.x, COUNT(*), MIN(t0.y), MAX(t1.y) FROM c AS t0 STRAIGHT_JOIN a AS t1 ON t0.y = t1.y WHERE ((t0.s IN (SELECT q38.s FROM c AS q38 WHERE (q38.id < -3 AND q38.x >= q38.x)) AND t1.s LIKE '_b%') AND t0.id IS NULL) GROUP BY t0.x, t1.x HAVING COUNT(*) > 2;
REPLACE INTO d VALUES (8, 7, 27, 'B');
-- sort
SELECT * FROM d;
-- sort
SELECT t0.s, t0.x, t0.id FROM a AS t0 WHERE t0.y NOT IN (-1, 7, 9, -2);
-- sort
SELECT t1.id, COUNT(*), MIN(t0.id), COUNT(t0.id) FROM a AS t0 JOIN c AS t1 ON t0.x = t1.x STRAIGHT_JOIN c AS t2 ON t0.x = t2.x AND t0.x + -3 < t0.y GROUP BY t1.id;
SELECT t0.id, t0.x, t0.s FROM d AS t0 ORDER BY t0.y, t0.id, t0.x DESC, t0.y, HEX(t0.s);
-- sort
SELECT t0.s, t0.x, t0.y FROM b AS t0 WHERE ((t0.id <= 6 AND t0.s LIKE 'a%') OR t0.y BETWEEN 2 AND 5);
-- sort
SELECT t0.y, COUNT(*), MAX(t2.x), COUNT(DISTINCT t0.y) FROM c AS t0 STRAIGHT_JOIN a AS t1 ON t0.x = t1.x RIGHT JOIN d AS t2 ON t1.y = t2.y WHERE t0.s LIKE '%b' GROUP BY t0.y HAVING COUNT(*) > 1;
-- sort
SELECT HEX(t0.s), COUNT(*), SUM(t0.y), MAX(t1.y) FROM d AS t0 RIGHT JOIN b AS t1 ON t0.y = t1.y WHERE t1.id IN (1, 2, -1, 11) GROUP BY HEX(t0.s) HAVING COUNT(*) > 2;
-- sort
SELECT t1.id, t1.x, t0.s FROM b AS t0 LEFT JOIN a AS t1 ON t0.x = t1.x JOIN b AS t2 ON t0.x = t2.x;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM c AS t0 LEFT JOIN b AS t1 ON t0.s = t1.s;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM a AS t0 JOIN b AS t1 ON t0.s = t1.s WHERE ((t1.s <= 'c' OR t1.x + 5 < t1.y) AND (t1.s BETWEEN 'a' AND 'd d' AND t1.y = 4));
-- sort
SELECT HEX(t0.s), HEX(t0.s), COUNT(*), COUNT(DISTINCT t0.x), SUM(t0.x) FROM a AS t0 WHERE ((t0.s BETWEEN 'abc' AND 'b' AND t0.y = t0.y) OR t0.x = t0.x) GROUP BY HEX(t0.s), HEX(t0.s);
SELECT t0.y, t0.s, t0.id FROM d AS t0 ORDER BY t0.y, t0.id DESC, t0.x DESC, t0.y, HEX(t0.s) DESC;
-- sort
SELECT t0.id, COUNT(*), COUNT(DISTINCT t0.id), MAX(t1.id) FROM b AS t0 STRAIGHT_JOIN b AS t1 ON t0.x = t1.x WHERE NOT ((t1.s NOT BETWEEN 'ab' AND 'c' OR t0.x NOT IN (-3, -2, 9, 6))) GROUP BY t0.id HAVING COUNT(*) > 1;
UPDATE c SET s = 'b' WHERE NOT (c.x <= 7);
-- sort
SELECT * FROM a;
-- sort
SELECT t0.id, COUNT(*), MAX(t0.x), MIN(t0.y) FROM a AS t0 WHERE NOT ((t0.s LIKE '_b%' AND t0.y BETWEEN -1 AND 12)) GROUP BY t0.id HAVING COUNT(*) > 2;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM c AS t0 WHERE ((t0.x >= NULL OR t0.id BETWEEN -1 AND 4) AND (t0.s = 'B' AND t0.s LIKE '%b'));
-- sort
SELECT t0.id, t1.y, t1.id FROM c AS t0 JOIN d AS t1 ON t0.s = t1.s WHERE NOT (t0.s = NULL);
-- sort
SELECT t2.id, t2.s, t1.s FROM b AS t0 LEFT JOIN c AS t1 ON t0.id = t1.id JOIN c AS t2 ON t1.x = t2.x AND t1.id < NULL WHERE (t0.s = 'a' OR t2.id = -1);
-- sort
SELECT t0.id, COUNT(*), SUM(t1.y), MAX(t1.id) FROM a AS t0 LEFT JOIN a AS t1 ON t0.id = t1.id AND t1.s <= 'd d' WHERE (t1.id NOT IN (-1, -3, 2, -2) AND t1.s < t0.s) GROUP BY t0.id HAVING COUNT(*) > 1;
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 WHERE NOT (t0.s IS NOT NULL) ORDER BY t0.x DESC, t0.id DESC, t0.x DESC, t0.y DESC, HEX(t0.s);
-- sort
SELECT t1.x, COUNT(*), SUM(t2.x), COUNT(t0.x) FROM c AS t0 RIGHT JOIN c AS t1 ON t0.x = t1.x STRAIGHT_JOIN a AS t2 ON t1.id = t2.id WHERE ((t0.s <> 'ab' AND t0.s LIKE 'B%') OR t2.x >= 1) GROUP BY t1.x;
-- sort
SELECT t0.y, COUNT(*), MAX(t0.y), COUNT(DISTINCT t0.x) FROM b AS t0 WHERE ((t0.x <=> 0 AND t0.id IS NULL) OR t0.id >= 8) GROUP BY t0.y HAVING COUNT(*) > 2;
-- sort
SELECT HEX(t0.s), t0.y, COUNT(*), MAX(t0.y), MIN(t0.y) FROM a AS t0 RIGHT JOIN d AS t1 ON t0.id = t1.id WHERE t0.id IS NOT NULL GROUP BY HEX(t0.s), t0.y;
SELECT MAX(t1.x) FROM d AS t0 STRAIGHT_JOIN c AS t1 ON t0.y = t1.y WHERE (t1.y NOT IN (-1, 4, -2) AND t1.s = t1.s);

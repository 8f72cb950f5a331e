# Written by generate.py.
CREATE TABLE a (id INT NOT NULL PRIMARY KEY, x INT, y INT, s VARCHAR(8), KEY x (x), KEY xy (x, y), KEY s (s));
CREATE TABLE b (id INT NOT NULL PRIMARY KEY, x INT, y INT NOT NULL, s VARCHAR(8) NOT NULL, UNIQUE KEY y (y), KEY sx (s, x));
CREATE TABLE c (id INT NOT NULL, x INT NOT NULL, y INT, s VARCHAR(8), PRIMARY KEY (id, x), KEY y (y));
CREATE TABLE d (id INT, x INT, y INT, s VARCHAR(8), KEY x (x));
INSERT INTO a VALUES (0, 3, 0, 'Ca'), (1, 4, -3, ''), (2, 12, 3, 'ba'), (3, 7, NULL, 'b'), (4, 3, -1, NULL), (5, 11, -1, NULL), (6, 3, -1, NULL), (7, -1, 0, 'Ca'), (8, 8, -2, 'ba'), (9, 4, 12, 'ab'), (10, 9, NULL, ''), (11, -2, 10, NULL), (12, 12, NULL, 'a'), (13, -1, NULL, 'B'), (14, 10, -2, 'ab'), (15, -3, 4, NULL), (16, 0, 12, NULL), (17, 4, -1, 'ab'), (18, NULL, 4, 'ba'), (19, 10, 5, 'a'), (20, 10, 5, 'abc'), (21, NULL, -2, NULL), (22, -1, 0, 'a'), (23, 2, NULL, 'b');
INSERT INTO b VALUES (0, 9, 0, 'abc'), (1, 10, 3, 'b'), (2, -1, 6, 'Ca'), (3, 3, 9, 'b'), (4, 12, 12, 'Ca'), (5, 9, 15, 'b'), (6, 6, 18, 'a'), (7, 0, 21, 'ab'), (8, -2, 24, 'abc'), (9, -2, 27, 'Ca'), (10, NULL, 30, 'd d'), (11, NULL, 33, 'ab'), (12, 2, 36, 'B'), (13, NULL, 2, 'Ca'), (14, 9, 5, 'a'), (15, 6, 8, 'a'), (16, -3, 11, ''), (17, 1, 14, 'c'), (18, -1, 17, 'ba');
INSERT INTO c VALUES (0, 1, NULL, ''), (0, 12, 5, 'b'), (1, 10, 2, 'a'), (1, 1, NULL, 'ba'), (2, 8, 2, 'abc'), (3, 9, 7, 'abc'), (3, 3, 10, 'ba'), (4, 11, 3, 'a'), (4, 3, 6, 'B'), (5, 5, 10, 'Ca');
INSERT INTO d VALUES (4, 5, 8, 'b'), (12, 11, 0, 'a'), (6, 2, 10, 'd d'), (0, 9, 8, 'ba'), (10, 9, 5, NULL), (11, 6, -3, 'ba'), (0, 8, 1, 'ab'), (7, 12, -1, 'b'), (10, 1, 12, 'Ca'), (-2, 4, 12, NULL), (NULL, -3, NULL, 'c'), (8, -1, -2, 'd d'), (3, 2, 6, NULL), (8, -1, 12, 'a'), (10, 11, 0, 'a'), (7, 4, 7, 'B'), (-3, 4, NULL, 'Ca'), (-1, -3, 10, 'c'), (4, 4, 0, 'c'), (9, 12, 10, ''), (8, -2, 12, 'c'), (0, 5, 11, NULL), (2, 11, NULL, 'Ca'), (0, 6, 8, 'Ca');
-- sort
SELECT t0.id, t0.y, t0.s FROM c AS t0 WHERE t0.y = 12;
SELECT MAX(t2.x) FROM d AS t0 LEFT JOIN b AS t1 ON t0.x = t1.x LEFT JOIN c AS t2 ON t1.x = t2.x WHERE t0.id BETWEEN -3 AND 1;
-- sort
SELECT HEX(t2.s), COUNT(*), MIN(t1.x), COUNT(t1.x) FROM b AS t0 JOIN d AS t1 ON t0.y = t1.y AND t0.s = 'ba' JOIN d AS t2 ON t0.id = t2.id WHERE (NOT (t0.s LIKE 'ab%') AND t1.id < t1.id) GROUP BY HEX(t2.s) HAVING COUNT(*) > 2;
SELECT t0.id, t0.x, t0.y, t0.s FROM a AS t0 WHERE t0.id = t0.id ORDER BY t0.x DESC, t0.id DESC, t0.x DESC, t0.y DESC, HEX(t0.s) LIMIT 5 OFFSET 0;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM a AS t0 RIGHT JOIN d AS t1 ON t0.s = t1.s STRAIGHT_JOIN a AS t2 ON t1.s = t2.s;
SELECT COUNT(*), MIN(t0.x), MAX(t1.y) FROM a AS t0 STRAIGHT_JOIN d AS t1 ON t0.s = t1.s AND t0.id IN (4) WHERE (NOT (t0.s BETWEEN 'ba' AND 'd d') AND t0.id <> 7);
SELECT t0.id, t0.s, t0.x FROM c AS t0 ORDER BY t0.y, t0.id, t0.x, t0.y DESC, HEX(t0.s);
-- sort
SELECT t1.y, t0.y, t0.id FROM b AS t0 LEFT JOIN b AS t1 ON t0.id = t1.id WHERE (t1.id IN (SELECT q61.id FROM d AS q61 WHERE (q61.y = 0 AND q61.id IN (SELECT q18.id FROM b AS q18 WHERE (q18.y IN (6, 0, 11) AND q18.id < q18.id)))) OR t0.s IS NULL);
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y FROM b AS t0 WHERE NOT ((t0.x + 3 = t0.y AND t0.y BETWEEN 8 AND 9));
SELECT MAX(t2.x) FROM a AS t0 LEFT JOIN c AS t1 ON t0.x = t1.x AND t0.s LIKE 'a%' RIGHT JOIN b AS t2 ON t0.y = t2.y WHERE t0.x + 0 < t2.y;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM a AS t0;
-- sort
SELECT HEX(t0.s), t1.id, COUNT(*), MIN(t1.y), SUM(t0.id) FROM b AS t0 LEFT JOIN d AS t1 ON t0.y = t1.y WHERE NOT (t1.x IN (12, 7)) GROUP BY HEX(t0.s), t1.id;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM a AS t0 JOIN d AS t1 ON t0.id = t1.id AND t0.y < t1.y WHERE t0.y BETWEEN 9 AND 11;
-- sort
SELECT t1.s, t0.x, t1.id FROM d AS t0 LEFT JOIN c AS t1 ON t0.y = t1.y JOIN a AS t2 ON t1.x = t2.x WHERE ((t1.x + 2 = t1.y OR t0.s <= 'a') AND t0.x + 7 > t1.y);
-- sort
SELECT t0.id, COUNT(*), MAX(t0.y), MIN(t0.id) FROM c AS t0 GROUP BY t0.id;
SELECT COUNT(*), MIN(t1.x), MAX(t0.y) FROM d AS t0 LEFT JOIN c AS t1 ON t0.s = t1.s AND t1.s IS NULL WHERE t0.id >= NULL;
SELECT MAX(t2.id) FROM b AS t0 RIGHT JOIN c AS t1 ON t0.y = t1.y STRAIGHT_JOIN a AS t2 ON t0.y = t2.y AND t0.s = NULL WHERE t1.s LIKE 'B%';
REPLACE INTO b VALUES (25, 5, 55, 'abc');
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 WHERE t0.x >= 3;
-- sort
SELECT t0.y, COUNT(*), SUM(t0.y), MIN(t0.y) FROM c AS t0 JOIN a AS t1 ON t0.y = t1.y AND t1.y < t1.y WHERE (t0.id = t1.id OR (t0.id BETWEEN -2 AND 2 OR t0.x IN (11, 11, -2, 0))) GROUP BY t0.y HAVING COUNT(*) > 0;
-- sort
SELECT t0.id, COUNT(*), COUNT(DISTINCT t0.x), MAX(t0.x) FROM d AS t0 WHERE t0.s >= t0.s GROUP BY t0.id;
SELECT COUNT(*), MIN(t1.x), MAX(t1.y) FROM c AS t0 STRAIGHT_JOIN d AS t1 ON t0.id = t1.id WHERE t1.y IS NULL;
-- sort
SELECT t1.id, t0.y, COUNT(*), MIN(t1.x), SUM(t1.x) FROM b AS t0 RIGHT JOIN d AS t1 ON t0.id = t1.id WHERE t1.id IS NULL GROUP BY t1.id, t0.y HAVING COUNT(*) > 0;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM a AS t0 STRAIGHT_JOIN a AS t1 ON t0.y = t1.y AND t1.y <=> 6 WHERE ((t0.s = t0.s AND EXISTS (SELECT 1 FROM c AS q5 WHERE q5.y = t1.y AND (q5.y IN (5, 1, 3) AND q5.id < 0))) AND t1.y BETWEEN 7 AND 12);
-- sort
SELECT HEX(t0.s), COUNT(*), SUM(t0.id), MAX(t0.x) FROM b AS t0 WHERE t0.x + 2 = t0.y GROUP BY HEX(t0.s) HAVING COUNT(*) > 1;
-- sort
SELECT t0.x, t0.x, COUNT(*), COUNT(t0.id), SUM(t0.y) FROM b AS t0 GROUP BY t0.x, t0.x;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM d AS t0 RIGHT JOIN b AS t1 ON t0.x = t1.x WHERE (NOT (t1.id BETWEEN 0 AND 7) AND (t0.x BETWEEN 7 AND 9 AND t0.id <= 6));
-- sort
SELECT t0.id, COUNT(*), MIN(t0.id), COUNT(DISTINCT t0.id) FROM c AS t0 WHERE t0.y = 9 GROUP BY t0.id;
-- sort
SELECT HEX(t0.s), COUNT(*), MIN(t0.id), SUM(t0.y) FROM c AS t0 WHERE t0.id IS NOT NULL GROUP BY HEX(t0.s);
-- sort
SELECT HEX(t0.s), COUNT(*), COUNT(t0.y), SUM(t0.x) FROM b AS t0 WHERE ((t0.y IN (7, 6, 9) AND t0.s IN ('B')) OR t0.x IN (0, -3, 7)) GROUP BY HEX(t0.s);
-- sort
SELECT t1.x, t0.y, t0.x FROM a AS t0 LEFT JOIN a AS t1 ON t0.y = t1.y WHERE t0.id IN (SELECT q55.id FROM b AS q55 WHERE q55.x + -3 = q55.y);
SELECT MIN(t0.id) FROM d AS t0 STRAIGHT_JOIN a AS t1 ON t0.x = t1.x WHERE NOT ((t0.x NOT IN (-2) AND t1.id NOT BETWEEN 5 AND 10));
SELECT MAX(t0.y) FROM b AS t0 JOIN a AS t1 ON t0.y = t1.y JOIN d AS t2 ON t1.y = t2.y WHERE (NOT (t1.s IS NOT NULL) OR t1.id = 7);
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM b AS t0 JOIN a AS t1 ON t0.y = t1.y AND t1.x >= 0 WHERE ((t0.x + 4 > t1.y OR t0.x NOT BETWEEN 1 AND 12) AND t1.x + 6 < t1.y);
-- sort
SELECT HEX(t0.s), t0.y, COUNT(*), SUM(t0.x), COUNT(t0.x) FROM a AS t0 WHERE (t0.s <> 'Ca' AND NOT (t0.id = 0)) GROUP BY HEX(t0.s), t0.y HAVING COUNT(*) > 0;
DELETE FROM d WHERE d.x + 11 = d.y;
-- sort
SELECT * FROM d;
-- sort
SELECT t0.y, COUNT(*), MAX(t1.y), SUM(t0.id) FROM b AS t0 LEFT JOIN d AS t1 ON t0.x = t1.x GROUP BY t0.y HAVING COUNT(*) > 1;
-- sort
SELECT t0.x, t0.id, t1.id FROM a AS t0 JOIN b AS t1 ON t0.x = t1.x WHERE t0.s NOT BETWEEN '' AND 'c';
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM d AS t0 LEFT JOIN c AS t1 ON t0.x = t1.x WHERE t0.s < t1.s;
SELECT MIN(t1.y) FROM c AS t0 JOIN a AS t1 ON t0.id = t1.id WHERE t0.s = 'd d';
SELECT MAX(t0.y) FROM a AS t0 WHERE ((t0.x IN (-3, 10) AND t0.s BETWEEN 'B' AND 'd d') OR t0.s <= 'd d');
-- sort
SELECT t0.x, COUNT(*), SUM(t0.id), COUNT(DISTINCT t0.y) FROM c AS t0 WHERE t0.x NOT BETWEEN 0 AND 11 GROUP BY t0.x HAVING COUNT(*) > 1;
-- sort
SELECT t0.y, COUNT(*), COUNT(t0.x), COUNT(DISTINCT t0.id) FROM c AS t0 WHERE NOT ((t0.s NOT IN ('B') OR t0.s BETWEEN 'ba' AND 'd d')) GROUP BY t0.y;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM a AS t0 WHERE t0.y = t0.y;
-- sort
SELECT t0.y, t0.s, t0.id FROM b AS t0 WHERE t0.x >= NULL;
-- sort
SELECT t1.s, t0.x, t1.y FROM a AS t0 RIGHT JOIN b AS t1 ON t0.id = t1.id;
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y, t1.id, t1.x, t1.y FROM b AS t0 JOIN d AS t1 ON t0.id = t1.id WHERE t1.x <> 9;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM d AS t0 WHERE (t0.y < t0.y OR (t0.s LIKE '%b' AND t0.id >= 4));
SELECT MIN(t0.y) FROM c AS t0 LEFT JOIN d AS t1 ON t0.id = t1.id RIGHT JOIN a AS t2 ON t0.x = t2.x WHERE t1.y < NULL;
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y, t1.id, t1.x, t1.y FROM c AS t0 RIGHT JOIN a AS t1 ON t0.y = t1.y AND t0.y = t1.y WHERE t1.y IN (SELECT q26.y FROM d AS q26 WHERE q26.s LIKE '_b%');
REPLACE INTO d VALUES (7, 3, 47, '');
SELECT MIN(t0.y) FROM b AS t0 WHERE (t0.s LIKE 'B%' OR t0.s <=> 'ba');
-- sort
SELECT t0.id, t0.y, t0.x FROM d AS t0 WHERE ((t0.s IS NOT NULL AND t0.x >= t0.x) OR t0.y < t0.y);
DELETE FROM b WHERE b.s = b.s;
INSERT IGNORE INTO c VALUES (34, 12, 0, 'c');
SELECT COUNT(*), MIN(t2.x), MAX(t0.y) FROM c AS t0 JOIN a AS t1 ON t0.s = t1.s STRAIGHT_JOIN d AS t2 ON t0.x = t2.x AND t2.id IN (4, -3) WHERE NOT (t0.y >= t1.y);
SELECT COUNT(*), MIN(t1.x), MAX(t1.y) FROM d AS t0 LEFT JOIN d AS t1 ON t0.id = t1.id WHERE t1.s LIKE '%b';
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM a AS t0 WHERE t0.y <=> -1;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM a AS t0 JOIN d AS t1 ON t0.y = t1.y AND t1.x = t0.x;
-- sort
SELECT t1.x, COUNT(*), COUNT(DISTINCT t0.id), COUNT(t0.x) FROM b AS t0 RIGHT JOIN b AS t1 ON t0.x = t1.x AND t0.s IS NOT NULL GROUP BY t1.x;
SELECT t0.id, t0.x, t0.y, t0.s FROM c AS t0 WHERE t0.x BETWEEN 1 AND 8 ORDER BY t0.y, t0.id, t0.x, t0.y DESC, HEX(t0.s) DESC;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM a AS t0 WHERE t0.s BETWEEN 'B' AND 'Ca';
-- sort
SELECT HEX(t0.s), COUNT(*), SUM(t0.x), COUNT(t0.y) FROM b AS t0 WHERE (t0.y < (SELECT MAX(q24.y) FROM b AS q24 WHERE (q24.s BETWEEN 'c' AND 'c' AND q24.s <> 'ba')) OR t0.y < (SELECT MIN(q17.y) FROM c AS q17 WHERE q17.s BETWEEN 'abc' AND 'abc')) GROUP BY HEX(t0.s) HAVING COUNT(*) > 2;
-- sort
SELECT t1.x, COUNT(*), MAX(t2.x), COUNT(t1.y) FROM b AS t0 JOIN d AS t1 ON t0.s = t1.s RIGHT JOIN a AS t2 ON t1.y = t2.y AND t1.x + 11 = t2.y WHERE ((t1.x IN (5, 7, 9) OR NOT EXISTS (SELECT 1 FROM a AS q47 WHERE q47.y = t1.y AND q47.x IN (12, 7, 0, 6))) AND t2.id IN (7)) GROUP BY t1.x HAVING COUNT(*) > 1;
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y, t1.id, t1.x, t1.y, t2.id, t2.x, t2.y FROM c AS t0 JOIN d AS t1 ON t0.y = t1.y JOIN b AS t2 ON t1.s = t2.s WHERE (NOT (t2.id IN (-1, -2, 12, 8)) OR (t1.id BETWEEN 4 AND 6 AND t1.id BETWEEN 3 AND 4));
-- sort
SELECT t0.y, t0.y, COUNT(*), SUM(t0.y), COUNT(DISTINCT t0.id) FROM c AS t0 WHERE (t0.x <= 11 OR t0.s >= t0.s) GROUP BY t0.y, t0.y;
SELECT MIN(t0.y) FROM a AS t0 LEFT JOIN c AS t1 ON t0.s = t1.s WHERE t0.id NOT IN (SELECT q42.id FROM a AS q42 WHERE q42.y >= q42.y);
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM d AS t0 WHERE NOT ((t0.y >= 12 AND t0.y = t0.y));
SELECT MIN(t0.x) FROM d AS t0 WHERE (t0.s >= t0.s OR t0.id IS NULL);
SELECT MAX(t0.id) FROM b AS t0 WHERE t0.x + -1 < t0.y;
SELECT MAX(t0.y) FROM c AS t0 WHERE t0.s IS NOT NULL;
UPDATE b SET s = 'ab' WHERE b.id IN (5, 4);
-- sort
SELECT t1.s, t2.x, t0.id FROM c AS t0 RIGHT JOIN c AS t1 ON t0.x = t1.x RIGHT JOIN c AS t2 ON t1.x = t2.x AND t0.id NOT IN (5, 2, 10) WHERE t0.s LIKE '%b';
-- sort
SELECT t2.id, t2.x, COUNT(*), COUNT(t0.id), SUM(t0.id) FROM a AS t0 JOIN c AS t1 ON t0.id = t1.id RIGHT JOIN b AS t2 ON t0.x = t2.x WHERE ((t1.x NOT IN (10, 5, 7) OR t1.id NOT IN (-1, 2, 12)) OR t2.s = 'ab') GROUP BY t2.id, t2.x;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM d AS t0 WHERE t0.s IS NULL;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM d AS t0 WHERE (t0.y <> 5 OR t0.s <=> NULL);
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y FROM d AS t0 WHERE (t0.id IS NOT NULL OR t0.y IS NOT NULL);
UPDATE c SET x = 12 WHERE c.s BETWEEN 'a' AND 'ab';
-- sort
SELECT * FROM d;
SELECT COUNT(*), MIN(t0.x), MAX(t1.y) FROM b AS t0 RIGHT JOIN d AS t1 ON t0.y = t1.y AND t1.y >= 8 WHERE t1.s IN ('', 'ba');
-- sort
SELECT t0.id, t0.s, t0.x FROM b AS t0 WHERE t0.x = -3;
SELECT t0.id, t0.x, t0.y, t0.s FROM d AS t0 WHERE t0.y = t0.y ORDER BY t0.id, t0.id, t0.x, t0.y, HEX(t0.s) LIMIT 0;
-- sort
SELECT t0.id, COUNT(*), SUM(t0.x), COUNT(DISTINCT t0.y) FROM d AS t0 WHERE t0.s IN ('Ca', 'ba', 'abc') GROUP BY t0.id HAVING COUNT(*) > 1;
-- sort
SELECT t1.x, t1.y, t0.s FROM b AS t0 STRAIGHT_JOIN a AS t1 ON t0.s = t1.s WHERE t1.s <> NULL;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM c AS t0 JOIN b AS t1 ON t0.s = t1.s RIGHT JOIN c AS t2 ON t0.x = t2.x WHERE (t0.s > '' AND (t2.s LIKE 'a%' OR t0.id IS NULL));
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM b AS t0 JOIN a AS t1 ON t0.y = t1.y WHERE t1.id BETWEEN 2 AND 12;
-- sort
SELECT HEX(t0.s), COUNT(*), MIN(t0.id), COUNT(t0.x) FROM b AS t0 WHERE (t0.id NOT IN (SELECT q93.id FROM d AS q93 WHERE (q93.y >= q93.y OR q93.s <=> 'B')) AND (t0.x IS NOT NULL OR t0.y < t0.y)) GROUP BY HEX(t0.s);
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM a AS t0 JOIN d AS t1 ON t0.y = t1.y AND t0.y BETWEEN 8 AND 11 STRAIGHT_JOIN c AS t2 ON t0.id = t2.id WHERE ((t0.x BETWEEN -1 AND 4 AND t2.y = t1.y) OR (t1.x + 5 < t1.y AND t2.s >= 'abc'));
-- sort
SELECT HEX(t1.s), COUNT(*), MIN(t0.id), COUNT(DISTINCT t0.id) FROM c AS t0 LEFT JOIN c AS t1 ON t0.y = t1.y AND t1.y IN (1, 12, 5) WHERE (t1.x <= 3 AND t1.x + 10 > t0.y) GROUP BY HEX(t1.s);
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM d AS t0 WHERE t0.id NOT BETWEEN 1 AND 5;
SELECT COUNT(*), MIN(t0.x), MAX(t1.y) FROM a AS t0 STRAIGHT_JOIN c AS t1 ON t0.x = t1.x WHERE t1.s = 'B';
SELECT COUNT(*), MIN(t2.x), MAX(t2.y) FROM d AS t0 STRAIGHT_JOIN b AS t1 ON t0.x = t1.x RIGHT JOIN a AS t2 ON t1.s = t2.s AND t2.id = t0.id WHERE t0.id IN (-2, -1, 9, 3);
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM d AS t0 JOIN c AS t1 ON t0.s = t1.s WHERE ((t0.x = NULL AND t1.x + 10 = t0.y) OR t0.x IS NOT NULL);
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y, t1.id, t1.x, t1.y FROM c AS t0 LEFT JOIN b AS t1 ON t0.y = t1.y AND t1.y < t1.y WHERE NOT EXISTS (SELECT 1 FROM a AS q22 WHERE q22.y = t0.y AND (q22.s IS NULL AND q22.id IS NOT NULL));
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM a AS t0;
-- sort
SELECT HEX(t0.s), t0.id, COUNT(*), MAX(t0.y), COUNT(t0.y) FROM b AS t0 WHERE (t0.s LIKE 'B%' AND (t0.s = (SELECT MIN(q77.s) FROM c AS q77 WHERE q77.x + 6 > q77.y) AND t0.s < t0.s)) GROUP BY HEX(t0.s), t0.id;
REPLACE INTO c VALUES (17, 8, 0, '');
UPDATE a SET x = 6 WHERE a.y > 0;
-- sort
SELECT * FROM d;
-- sort
SELECT HEX(t1.s), COUNT(*), MAX(t0.y), COUNT(DISTINCT t0.y) FROM c AS t0 JOIN a AS t1 ON t0.s = t1.s WHERE (t1.x IS NOT NULL OR (t1.s LIKE 'a%' OR t1.s IN ('B', 'ab'))) GROUP BY HEX(t1.s) HAVING COUNT(*) > 2;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM d AS t0 LEFT JOIN b AS t1 ON t0.x = t1.x WHERE (t0.id NOT BETWEEN -2 AND 2 AND (t1.s LIKE 'B%' AND t0.id <> 10));
SELECT t0.id, t0.x, t0.y, t0.s FROM c AS t0 WHERE EXISTS (SELECT 1 FROM b AS q14 WHERE q14.y = t0.y AND (q14.s LIKE '%b' AND q14.s = NULL)) ORDER BY t0.id DESC, t0.id, t0.x, t0.y DESC, HEX(t0.s) LIMIT 5 OFFSET 0;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM a AS t0 JOIN d AS t1 ON t0.y = t1.y AND t1.s BETWEEN '' AND 'Ca' WHERE ((t1.s LIKE 'a%' OR t1.s <= 'Ca') AND t1.s IN ('c', 'B'));
SELECT t0.y, t0.s, t0.x FROM b AS t0 WHERE ((t0.x + 7 < t0.y AND t0.x + 1 = t0.y) OR (t0.x < 7 AND t0.x IS NOT NULL)) ORDER BY t0.y, t0.id, t0.x, t0.y, HEX(t0.s);
-- sort
SELECT t0.s, t0.id, t0.x FROM b AS t0 WHERE (NOT (t0.s = NULL) AND t0.x NOT IN (5, 9));
SELECT COUNT(*), MIN(t1.x), MAX(t0.y) FROM c AS t0 STRAIGHT_JOIN a AS t1 ON t0.y = t1.y AND t0.s <= 'Ca';
INSERT IGNORE INTO c VALUES (6, 12, 52, 'b');
SELECT t0.s, t0.y, t0.id FROM d AS t0 ORDER BY t0.y DESC, t0.id DESC, t0.x DESC, t0.y, HEX(t0.s) LIMIT 1 OFFSET 1;
-- sort
SELECT t1.id, t0.y, t1.x FROM c AS t0 STRAIGHT_JOIN d AS t1 ON t0.s = t1.s WHERE t0.s = t1.s;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM c AS t0 WHERE NOT (NOT (t0.s NOT BETWEEN 'abc' AND 'ba'));
-- sort
SELECT t0.x, t0.y, t0.s FROM b AS t0 WHERE (NOT (t0.x < t0.x) AND (t0.x + 6 < t0.y AND t0.x + 0 > t0.y));
-- sort
SELECT HEX(t0.s), HEX(t0.s), COUNT(*), SUM(t0.id), COUNT(DISTINCT t0.y) FROM b AS t0 WHERE t0.s LIKE 'a_' GROUP BY HEX(t0.s), HEX(t0.s) HAVING COUNT(*) > 0;
-- sort
SELECT t0.id, t0.s, t0.y FROM c AS t0 WHERE (t0.s BETWEEN 'B' AND 'c' AND (t0.id = t0.id AND t0.x = -1));
SELECT t0.id, t0.x, t0.y, t0.s FROM d AS t0 WHERE (t0.y IS NOT NULL AND (t0.x + 10 < t0.y AND t0.y >= t0.y)) ORDER BY t0.x, t0.id, t0.x, t0.y, HEX(t0.s) LIMIT 0 OFFSET 3;
SELECT MIN(t1.x) FROM d AS t0 JOIN a AS t1 ON t0.x = t1.x;
SELECT COUNT(*), MIN(t1.x), MAX(t0.y) FROM d AS t0 LEFT JOIN d AS t1 ON t0.y = t1.y WHERE t0.s = 'c';
-- sort
SELECT HEX(t0.s), COUNT(*), MAX(t0.y), SUM(t0.id) FROM b AS t0 WHERE t0.id < t0.id GROUP BY HEX(t0.s) HAVING COUNT(*) > 2;
-- sort
SELECT t0.y, t1.id, COUNT(*), MIN(t1.id), SUM(t0.x) FROM d AS t0 RIGHT JOIN c AS t1 ON t0.id = t1.id WHERE NOT (t1.id = 3) GROUP BY t0.y, t1.id HAVING COUNT(*) > 2;
SELECT MAX(t0.id) FROM c AS t0 RIGHT JOIN d AS t1 ON t0.x = t1.x AND t1.x + 5 < t0.y LEFT JOIN d AS t2 ON t0.x = t2.x WHERE (t0.s NOT IN (SELECT q1.s FROM b AS q1 WHERE q1.s NOT IN (SELECT q64.s FROM c AS q64 WHERE q64.x > -2)) OR t2.y = 8);
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM a AS t0 JOIN d AS t1 ON t0.id = t1.id WHERE ((t1.s > 'c' AND t0.s LIKE 'a%') OR (t0.y >= t1.y OR t0.x IS NOT NULL));
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM b AS t0 LEFT JOIN d AS t1 ON t0.s = t1.s AND t0.x + 10 > t1.y WHERE t0.x <> 2;
-- sort
SELECT t0.x, COUNT(*), COUNT(DISTINCT t0.y), MIN(t0.x) FROM d AS t0 WHERE t0.s LIKE '%' GROUP BY t0.x;
INSERT IGNORE INTO c VALUES (6, 12, 32, 'a');
-- sort
SELECT * FROM b;
UPDATE c SET s = 'abc' WHERE c.x BETWEEN 3 AND 9;
-- sort
SELECT * FROM b;
SELECT COUNT(*), MIN(t0.x), MAX(t1.y) FROM b AS t0 JOIN d AS t1 ON t0.s = t1.s WHERE t1.s = NULL;
-- sort
SELECT t0.x, t0.id, COUNT(*), COUNT(DISTINCT t0.id), MIN(t0.id) FROM a AS t0 WHERE t0.id > 9 GROUP BY t0.x, t0.id;
SELECT t0.id, t0.x, t0.y, t0.s FROM c AS t0 WHERE t0.id IN (SELECT q44.id FROM b AS q44 WHERE q44.x <=> 5) ORDER BY t0.id DESC, t0.id DESC, t0.x, t0.y, HEX(t0.s) LIMIT 4;
-- sort
SELECT HEX(t1.s), COUNT(*), SUM(t1.id), MIN(t1.id) FROM c AS t0 JOIN c AS t1 ON t0.x = t1.x AND t0.x <> 3 WHERE t1.y = NULL GROUP BY HEX(t1.s) HAVING COUNT(*) > 0;
-- sort
SELECT HEX(t0.s), t0.id, COUNT(*), SUM(t0.y), COUNT(DISTINCT t0.x) FROM d AS t0 WHERE t0.x + 8 > t0.y GROUP BY HEX(t0.s), t0.id;
REPLACE INTO d VALUES (20, 6, 55, 'b');
-- sort
SELECT * FROM b;
UPDATE a SET x = 10 WHERE NOT (NOT EXISTS (SELECT 1 FROM d AS q14 WHERE q14.id = a.id AND (q14.x >= 8 AND q14.s LIKE 'a%')));
-- sort
SELECT * FROM b;
-- sort
SELECT t1.y, t1.id, COUNT(*), COUNT(t1.x), COUNT(DISTINCT t0.y) FROM a AS t0 LEFT JOIN b AS t1 ON t0.x = t1.x WHERE t1.y < 10 GROUP BY t1.y, t1.id HAVING COUNT(*) > 2;
-- sort
SELECT t0.y, t0.id, COUNT(*), COUNT(t0.id), SUM(t0.id) FROM d AS t0 WHERE t0.id <= 0 GROUP BY t0.y, t0.id;
-- sort
SELECT t0.y, t1.x, COUNT(*), COUNT(DISTINCT t0.y), COUNT(t1.y) FROM c AS t0 JOIN a AS t1 ON t0.y = t1.y WHERE ((t0.id > 10 OR t1.id <> 8) AND (t1.x = 11 AND t0.id IN (11, 0, 12))) GROUP BY t0.y, t1.x;
-- sort
SELECT t1.y, COUNT(*), COUNT(t0.id), MAX(t1.x) FROM a AS t0 STRAIGHT_JOIN a AS t1 ON t0.id = t1.id AND t1.y >= t1.y WHERE t1.x + 5 = t1.y GROUP BY t1.y;
-- sort
SELECT t0.id, COUNT(*), COUNT(DISTINCT t1.y), COUNT(t1.y) FROM c AS t0 STRAIGHT_JOIN a AS t1 ON t0.s = t1.s AND t0.s IS NOT NULL GROUP BY t0.id;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM a AS t0 JOIN c AS t1 ON t0.id = t1.id LEFT JOIN b AS t2 ON t0.s = t2.s AND t1.id NOT IN (8, 7, 6, 7) WHERE ((t0.id = -1 OR t2.id = 0) AND (t0.id < t0.id OR t1.s IS NOT NULL));
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 WHERE (t0.y >= 0 AND NOT (t0.id >= t0.id));
-- sort
SELECT HEX(t0.s), t0.x, COUNT(*), MAX(t0.y), SUM(t0.x) FROM c AS t0 GROUP BY HEX(t0.s), t0.x HAVING COUNT(*) > 1;
-- sort
SELECT t0.id, t0.x, t0.s FROM a AS t0;
REPLACE INTO b VALUES (33, 0, 56, 'ba');
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM a AS t0 WHERE ((t0.s < t0.s OR t0.id IN (0)) AND (t0.x = NULL AND t0.x <= 7));
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 WHERE t0.y <=> 5;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM d AS t0 WHERE ((t0.s > NULL OR t0.id = 1) OR (EXISTS (SELECT 1 FROM a AS q67 WHERE q67.id = t0.id AND (q67.y IS NULL OR NOT EXISTS (SELECT 1 FROM a AS q92 WHERE q92.id = q67.id AND q92.s LIKE 'B%'))) OR t0.x + -3 = t0.y));
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM a AS t0 WHERE ((t0.s >= t0.s OR t0.x NOT BETWEEN -2 AND 0) OR (t0.y = 1 AND t0.s NOT IN ('', 'ab', '', 'ba')));
-- sort
SELECT t0.x, t1.y, COUNT(*), COUNT(t2.x), SUM(t0.id) FROM d AS t0 JOIN b AS t1 ON t0.y = t1.y JOIN d AS t2 ON t0.s = t2.s WHERE t1.y IN (11, 4, 12, 5) GROUP BY t0.x, t1.y;
-- sort
SELECT t0.id, t0.x, t0.s FROM b AS t0 WHERE t0.x BETWEEN 4 AND 9;
-- sort
SELECT t0.x, HEX(t0.s), COUNT(*), SUM(t0.x), MIN(t0.x) FROM a AS t0 WHERE t0.id = t0.id GROUP BY t0.x, HEX(t0.s);
UPDATE d SET x = 12 WHERE (d.y IN (0, 6) AND d.y = -3);
-- sort
SELECT * FROM a;
SELECT t0.id, t0.x, t0.y, t0.s FROM d AS t0 WHERE t0.x IN (5, -2, -1, 7) ORDER BY t0.x DESC, t0.id, t0.x, t0.y, HEX(t0.s) DESC LIMIT 1;
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y FROM a AS t0 WHERE ((t0.y IN (1, 11, -1) OR t0.y <> 8) AND (t0.id >= t0.id AND t0.s = t0.s));
SELECT MIN(t0.id) FROM d AS t0;
-- sort
SELECT t0.id, t0.id, COUNT(*), SUM(t0.y), COUNT(t0.y) FROM a AS t0 GROUP BY t0.id, t0.id;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM a AS t0 RIGHT JOIN d AS t1 ON t0.s = t1.s WHERE t0.y IS NOT NULL;
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y, t1.id, t1.x, t1.y FROM a AS t0 RIGHT JOIN d AS t1 ON t0.y = t1.y AND t0.id IN (9, 12, 12, 1) WHERE t1.s LIKE 'ab%';
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM d AS t0;
-- sort
SELECT t1.x, t2.id, t1.y FROM d AS t0 LEFT JOIN a AS t1 ON t0.s = t1.s AND t0.y <> NULL LEFT JOIN b AS t2 ON t1.s = t2.s AND t0.x IS NULL WHERE (t2.s < t0.s AND (t2.y = t0.y OR t0.s LIKE '_b%'));
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM b AS t0 LEFT JOIN d AS t1 ON t0.id = t1.id RIGHT JOIN b AS t2 ON t0.x = t2.x AND t1.x NOT BETWEEN -2 AND 4 WHERE t2.y = 9;
REPLACE INTO b VALUES (23, 2, 38, 'a');
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM a AS t0 JOIN b AS t1 ON t0.y = t1.y AND t0.x IN (3, -2, -2) WHERE t0.id = 10;
SELECT MIN(t0.x) FROM c AS t0 WHERE t0.s LIKE '%b';
-- sort
SELECT t0.s, t0.y, t0.id FROM b AS t0 WHERE (t0.y = NULL OR (t0.x > -1 AND t0.id IN (-3, 9)));
UPDATE a SET y = y + 40 WHERE a.id <> 6;
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y, t1.id, t1.x, t1.y FROM c AS t0 JOIN a AS t1 ON t0.y = t1.y WHERE (t1.x <> 4 OR (t1.x + -2 = t1.y OR t1.x + 2 > t0.y));
-- sort
SELECT t0.y, HEX(t0.s), COUNT(*), COUNT(t0.id), COUNT(DISTINCT t1.id) FROM b AS t0 JOIN d AS t1 ON t0.y = t1.y WHERE (t1.id < 5 OR (t0.s IN ('ba', 'abc', 'b', '') AND t1.y = 6)) GROUP BY t0.y, HEX(t0.s);
SELECT t0.id, t0.x, t0.y, t0.s FROM c AS t0 WHERE ((t0.y > 7 OR t0.id >= 2) OR t0.y NOT IN (1, 0, 7)) ORDER BY t0.id DESC, t0.id, t0.x, t0.y DESC, HEX(t0.s) DESC;
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y, t1.id, t1.x, t1.y FROM b AS t0 JOIN a AS t1 ON t0.y = t1.y WHERE t1.s NOT BETWEEN 'B' AND 'Ca';
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 WHERE t0.y NOT IN (SELECT q11.y FROM d AS q11 WHERE q11.x = q11.x);
-- sort
SELECT t2.x, t2.y, COUNT(*), MAX(t2.x), MIN(t1.id) FROM b AS t0 LEFT JOIN d AS t1 ON t0.y = t1.y LEFT JOIN a AS t2 ON t1.x = t2.x WHERE t2.id >= t0.id GROUP BY t2.x, t2.y;
-- sort
SELECT t2.x, t2.id, COUNT(*), MAX(t2.id), COUNT(DISTINCT t0.id) FROM d AS t0 LEFT JOIN b AS t1 ON t0.s = t1.s RIGHT JOIN c AS t2 ON t1.s = t2.s AND t1.y NOT IN (9, 11, 6) WHERE t2.x + 12 = t2.y GROUP BY t2.x, t2.id HAVING COUNT(*) > 0;
SELECT MAX(t0.id) FROM c AS t0 WHERE t0.s >= t0.s;
SELECT MAX(t0.id) FROM d AS t0 WHERE t0.x BETWEEN -1 AND 10;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM b AS t0 JOIN b AS t1 ON t0.x = t1.x WHERE ((t0.s LIKE 'a%' AND t0.id >= 5) AND t1.y <=> -2);
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM d AS t0 JOIN c AS t1 ON t0.id = t1.id JOIN d AS t2 ON t0.y = t2.y WHERE ((t0.s <> '' AND t1.x IN (8, 4, 3, 8)) AND (t0.id BETWEEN 5 AND 10 AND t2.s <=> 'ba'));
-- sort
SELECT t1.id, t1.s, t0.x FROM c AS t0 LEFT JOIN a AS t1 ON t0.s = t1.s WHERE ((t1.x + 4 = t0.y AND t0.id > 7) AND t0.s LIKE 'a%');
INSERT IGNORE INTO b VALUES (33, 7, 24, 'a');
-- sort
SELECT * FROM c;
-- sort
SELECT t0.id, COUNT(*), MIN(t0.y), SUM(t0.x) FROM c AS t0 WHERE t0.s IN ('a', 'ba', 'a') GROUP BY t0.id HAVING COUNT(*) > 0;
-- sort
SELECT HEX(t0.s), HEX(t0.s), COUNT(*), SUM(t0.y), COUNT(DISTINCT t0.y) FROM b AS t0 WHERE NOT (t0.s BETWEEN 'ab' AND 'c') GROUP BY HEX(t0.s), HEX(t0.s);
-- sort
SELECT HEX(t1.s), COUNT(*), MIN(t1.y), COUNT(t1.y) FROM b AS t0 LEFT JOIN b AS t1 ON t0.s = t1.s AND t1.s LIKE 'B%' WHERE t1.s IN ('B') GROUP BY HEX(t1.s);
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y FROM b AS t0 WHERE ((t0.x < t0.x AND t0.id < 10) AND t0.y <= 6);
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 WHERE t0.x <> NULL ORDER BY t0.id, t0.id, t0.x, t0.y DESC, HEX(t0.s);
-- sort
SELECT HEX(t0.s), COUNT(*), MAX(t0.id), COUNT(DISTINCT t1.id) FROM b AS t0 LEFT JOIN c AS t1 ON t0.s = t1.s AND t1.s = t0.s GROUP BY HEX(t0.s);
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM d AS t0 RIGHT JOIN c AS t1 ON t0.x = t1.x WHERE t1.x + 6 = t1.y;
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y, t1.id, t1.x, t1.y FROM d AS t0 STRAIGHT_JOIN b AS t1 ON t0.id = t1.id WHERE t0.x = 6;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM b AS t0 WHERE ((t0.x = -2 OR t0.s LIKE '%') AND t0.y = 1);
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y, t1.id, t1.x, t1.y FROM d AS t0 LEFT JOIN a AS t1 ON t0.s = t1.s WHERE t1.s >= 'abc';
SELECT COUNT(*), MIN(t2.x), MAX(t0.y) FROM c AS t0 LEFT JOIN a AS t1 ON t0.x = t1.x LEFT JOIN a AS t2 ON t1.s = t2.s WHERE t1.id IS NULL;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM a AS t0;
-- sort
SELECT t0.s, t0.id, t0.x FROM d AS t0 WHERE t0.x BETWEEN 6 AND 8;
-- sort
SELECT t0.y, HEX(t0.s), COUNT(*), MAX(t0.y), COUNT(DISTINCT t1.x) FROM d AS t0 STRAIGHT_JOIN d AS t1 ON t0.x = t1.x AND t0.id = 9 RIGHT JOIN b AS t2 ON t1.s = t2.s WHERE t2.id BETWEEN -1 AND 8 GROUP BY t0.y, HEX(t0.s);
SELECT MIN(t1.id) FROM b AS t0 LEFT JOIN a AS t1 ON t0.s = t1.s AND t1.id <= 10 LEFT JOIN c AS t2 ON t0.s = t2.s AND t0.id <= -2 WHERE (t1.x = 4 OR t0.x NOT IN (SELECT q32.x FROM d AS q32 WHERE q32.x = q32.x));
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM a AS t0 JOIN a AS t1 ON t0.y = t1.y STRAIGHT_JOIN b AS t2 ON t1.s = t2.s AND t1.s BETWEEN '' AND 'abc';
UPDATE c SET y = y + 40 WHERE c.x + 2 < c.y;
INSERT IGNORE INTO c VALUES (32, 0, 14, 'abc');
-- sort
SELECT t0.id, COUNT(*), MAX(t0.y), SUM(t0.x) FROM b AS t0 WHERE t0.x IS NOT NULL GROUP BY t0.id HAVING COUNT(*) > 0;
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y FROM a AS t0 WHERE ((t0.y >= t0.y AND EXISTS (SELECT 1 FROM a AS q21 WHERE q21.s = t0.s AND (q21.s <=> 'b' AND q21.s <= 'ba'))) AND t0.x = 12);
-- sort
SELECT t0.x, COUNT(*), COUNT(t0.id), COUNT(DISTINCT t0.x) FROM a AS t0 WHERE t0.y BETWEEN 0 AND 1 GROUP BY t0.x HAVING COUNT(*) > 1;
-- sort
SELECT t0.id, t0.y, COUNT(*), COUNT(t0.id), SUM(t0.x) FROM c AS t0 WHERE (t0.id >= 5 AND t0.s = t0.s) GROUP BY t0.id, t0.y HAVING COUNT(*) > 1;
-- sort
SELECT t1.id, HEX(t2.s), COUNT(*), COUNT(t1.id), MAX(t2.y) FROM d AS t0 JOIN c AS t1 ON t0.s = t1.s AND t0.id > NULL LEFT JOIN c AS t2 ON t1.s = t2.s WHERE (t2.id = NULL AND t2.y BETWEEN 1 AND 9) GROUP BY t1.id, HEX(t2.s);
-- sort
SELECT t0.x, t0.id, t0.y FROM d AS t0;
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 WHERE t0.s IS NOT NULL ORDER BY t0.y DESC, t0.id, t0.x, t0.y DESC, HEX(t0.s);
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM a AS t0 LEFT JOIN a AS t1 ON t0.s = t1.s AND t0.x BETWEEN 3 AND 6;
UPDATE d SET x = x + 1 WHERE d.x < d.x;
-- sort
SELECT t0.id, t1.x, t0.x FROM c AS t0 JOIN b AS t1 ON t0.x = t1.x WHERE t1.y < -3;
SELECT COUNT(*), MIN(t1.x), MAX(t1.y) FROM a AS t0 RIGHT JOIN b AS t1 ON t0.id = t1.id WHERE t0.x + -1 > t0.y;
SELECT t0.id, t0.x, t0.y, t0.s FROM a AS t0 WHERE t0.x NOT IN (-3, 0) ORDER BY t0.x, t0.id, t0.x, t0.y, HEX(t0.s) DESC LIMIT 4 OFFSET 2;
SELECT COUNT(*), MIN(t0.x), MAX(t1.y) FROM d AS t0 RIGHT JOIN c AS t1 ON t0.x = t1.x LEFT JOIN a AS t2 ON t1.s = t2.s WHERE (NOT (t0.y IN (-1, 7, -3)) AND (t1.x + 7 = t1.y OR t2.x = 2));
SELECT MIN(t0.id) FROM d AS t0 WHERE t0.id IS NOT NULL;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM c AS t0;
UPDATE d SET s = 'd d' WHERE (d.s IN (SELECT q2.s FROM b AS q2 WHERE (q2.s LIKE '%b' AND q2.s LIKE 'a_')) AND d.s LIKE 'ab%');
-- sort
SELECT * FROM c;
-- sort
SELECT HEX(t0.s), t1.y, COUNT(*), COUNT(DISTINCT t0.id), MIN(t0.id) FROM a AS t0 JOIN a AS t1 ON t0.x = t1.x WHERE NOT EXISTS (SELECT 1 FROM c AS q73 WHERE q73.s = t1.s AND (q73.s < 'a' AND q73.x >= q73.x)) GROUP BY HEX(t0.s), t1.y;
SELECT MAX(t0.id) FROM b AS t0 JOIN b AS t1 ON t0.y = t1.y WHERE (t0.id < t1.id OR (t1.x + -1 = t0.y AND t0.id IN (3)));
SELECT t0.id, t0.x, t0.y, t0.s FROM a AS t0 WHERE NOT ((t0.s <=> NULL OR t0.s LIKE 'a_')) ORDER BY t0.id DESC, t0.id, t0.x, t0.y DESC, HEX(t0.s);
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y FROM a AS t0 WHERE t0.x >= t0.x;
SELECT COUNT(*), MIN(t0.x), MAX(t1.y) FROM c AS t0 STRAIGHT_JOIN c AS t1 ON t0.y = t1.y;
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y FROM c AS t0 WHERE (t0.x + 11 < t0.y OR t0.x IS NOT NULL);
UPDATE b SET x = 10 WHERE (b.id >= 2 AND b.s >= b.s);
-- sort
SELECT * FROM d;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM c AS t0;
INSERT IGNORE INTO a VALUES (1, 12, 1, 'd d');
-- sort
SELECT * FROM a;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM c AS t0 STRAIGHT_JOIN c AS t1 ON t0.id = t1.id STRAIGHT_JOIN c AS t2 ON t1.y = t2.y WHERE ((t1.y >= t1.y AND t1.x + 3 < t2.y) OR t2.id IN (4, 11, -3, 9));
SELECT t0.x, t0.s, t0.id FROM c AS t0 WHERE t0.id <=> 8 ORDER BY t0.id DESC, t0.id DESC, t0.x, t0.y DESC, HEX(t0.s) DESC;
-- sort
SELECT t1.x, COUNT(*), COUNT(t1.x), MAX(t1.id) FROM b AS t0 JOIN c AS t1 ON t0.y = t1.y GROUP BY t1.x HAVING COUNT(*) > 2;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM a AS t0 STRAIGHT_JOIN a AS t1 ON t0.y = t1.y WHERE ((t1.id <> -1 AND EXISTS (SELECT 1 FROM c AS q90 WHERE q90.x = t0.x AND q90.id = 12)) AND (t0.x IN (7, -2, 4, 4) AND t0.y > 10));
-- sort
SELECT t2.id, t2.s, t1.x FROM c AS t0 JOIN b AS t1 ON t0.s = t1.s LEFT JOIN b AS t2 ON t0.x = t2.x AND t2.y = 10 WHERE t0.s <> 'Ca';
SELECT t0.y, t0.s, t0.id FROM b AS t0 WHERE ((t0.y >= NULL AND t0.x + 9 > t0.y) AND (t0.x <= 3 OR t0.y = 11)) ORDER BY t0.x, t0.id, t0.x DESC, t0.y DESC, HEX(t0.s) DESC LIMIT 1;
-- sort
SELECT HEX(t0.s), COUNT(*), SUM(t0.id), MAX(t0.x) FROM c AS t0 WHERE (t0.s LIKE '%b' AND t0.x + 3 > t0.y) GROUP BY HEX(t0.s) HAVING COUNT(*) > 1;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM a AS t0 WHERE (t0.id >= 7 OR (t0.s <= 'ba' AND t0.s IS NULL));
SELECT COUNT(*), MIN(t0.x), MAX(t1.y) FROM d AS t0 STRAIGHT_JOIN c AS t1 ON t0.y = t1.y WHERE t0.y > 9;
SELECT t0.id, t0.x, t0.y, t0.s FROM c AS t0 ORDER BY t0.id, t0.id DESC, t0.x, t0.y DESC, HEX(t0.s);
-- sort
SELECT t0.id, t0.y, t0.s FROM c AS t0 WHERE t0.x <= 4;
-- sort
SELECT t0.id, COUNT(*), COUNT(t0.y), SUM(t0.y) FROM a AS t0 WHERE ((t0.s < t0.s AND t0.y < t0.y) OR t0.x = 6) GROUP BY t0.id;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM d AS t0 LEFT JOIN c AS t1 ON t0.s = t1.s AND t1.s = 'a' WHERE (t0.s <=> 'B' AND (t0.x < 5 AND t1.id < 7));
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM b AS t0 STRAIGHT_JOIN c AS t1 ON t0.id = t1.id WHERE (t1.x <> 11 OR (t0.x >= 7 AND t1.s > NULL));
-- sort
SELECT t0.y, t0.id, COUNT(*), MIN(t0.y), SUM(t0.id) FROM b AS t0 WHERE (t0.x IN (11) AND t0.s NOT IN ('c', 'B', 'a', 'c')) GROUP BY t0.y, t0.id;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM c AS t0 STRAIGHT_JOIN d AS t1 ON t0.x = t1.x WHERE t1.id IN (0, 10, 3);
-- sort
SELECT t1.x, t0.s, t1.id FROM d AS t0 JOIN b AS t1 ON t0.id = t1.id WHERE t0.id = t1.id;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM b AS t0 LEFT JOIN c AS t1 ON t0.id = t1.id WHERE ((t1.id = NULL AND t1.y < -2) OR t0.s LIKE '_b%');
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM c AS t0 WHERE t0.y NOT IN (10);
-- sort
SELECT t0.x, t0.id, t1.x FROM b AS t0 JOIN b AS t1 ON t0.y = t1.y AND t0.y > 4 LEFT JOIN b AS t2 ON t0.y = t2.y WHERE NOT (t2.id <= 3);
UPDATE b SET x = x + 1 WHERE b.x + 2 < b.y;
SELECT t0.id, t0.x, t0.s FROM a AS t0 WHERE NOT ((t0.id >= t0.id OR t0.x < 4)) ORDER BY t0.y DESC, t0.id, t0.x DESC, t0.y, HEX(t0.s) LIMIT 3;
SELECT t0.id, t0.x, t0.y, t0.s FROM c AS t0 WHERE NOT ((t0.s LIKE 'a_' OR t0.x IS NOT NULL)) ORDER BY t0.x DESC, t0.id DESC, t0.x, t0.y DESC, HEX(t0.s) DESC;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM d AS t0 JOIN a AS t1 ON t0.id = t1.id JOIN d AS t2 ON t1.x = t2.x AND t0.x + -1 = t0.y WHERE t2.s LIKE 'B%';
UPDATE c SET x = x + 1 WHERE (c.y = 8 AND c.x + 4 < c.y);
-- sort
SELECT * FROM d;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM b AS t0 WHERE t0.s >= 'Ca';
-- sort
SELECT t0.y, COUNT(*), SUM(t0.x), MAX(t0.x) FROM b AS t0 WHERE t0.s BETWEEN 'a' AND 'd d' GROUP BY t0.y HAVING COUNT(*) > 0;
UPDATE d SET x = x + 1 WHERE d.y = 10;
-- sort
SELECT * FROM a;
SELECT t0.s, t0.id, t0.y FROM d AS t0 WHERE (t0.s <=> NULL AND t0.s = t0.s) ORDER BY t0.x DESC, t0.id DESC, t0.x, t0.y DESC, HEX(t0.s) LIMIT 1;
-- sort
SELECT t0.id, t0.id, COUNT(*), COUNT(t0.id), COUNT(DISTINCT t0.id) FROM c AS t0 WHERE (t0.s LIKE 'B%' AND (t0.y BETWEEN 7 AND 10 AND EXISTS (SELECT 1 FROM b AS q6 WHERE q6.s = t0.s AND (q6.y = 1 AND q6.s <=> '')))) GROUP BY t0.id, t0.id;
SELECT MIN(t0.x) FROM a AS t0 WHERE (t0.s LIKE 'ab%' AND t0.x >= t0.x);
-- sort
SELECT t0.x, t0.id, t0.y FROM b AS t0 WHERE ((t0.s LIKE '%b' AND t0.id IN (6)) OR (t0.id >= t0.id AND t0.s = NULL));
-- sort
SELECT t0.y, COUNT(*), COUNT(t0.y), COUNT(DISTINCT t0.x) FROM a AS t0 GROUP BY t0.y HAVING COUNT(*) > 2;
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y FROM a AS t0 WHERE t0.x BETWEEN 3 AND 11;
SELECT MAX(t0.id) FROM d AS t0;
SELECT t0.id, t0.x, t0.y, t0.s FROM d AS t0 WHERE ((t0.x + 1 = t0.y OR t0.x BETWEEN 2 AND 9) OR (t0.x = t0.x AND NOT EXISTS (SELECT 1 FROM c AS q2 WHERE q2.s = t0.s AND (q2.s = 'ab' AND q2.x = q2.x)))) ORDER BY t0.y, t0.id, t0.x, t0.y DESC, HEX(t0.s) DESC;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM c AS t0 WHERE (t0.x >= t0.x AND NOT (t0.y = t0.y));
SELECT COUNT(*), MIN(t2.x), MAX(t2.y) FROM d AS t0 STRAIGHT_JOIN c AS t1 ON t0.s = t1.s AND t1.id >= 5 LEFT JOIN c AS t2 ON t0.x = t2.x AND t1.x + 12 = t2.y WHERE t0.s IS NOT NULL;
SELECT t0.s, t0.y, t0.id FROM b AS t0 WHERE (t0.s <= NULL OR t0.id IS NULL) ORDER BY t0.x DESC, t0.id DESC, t0.x DESC, t0.y, HEX(t0.s);
-- sort
SELECT t0.x, t0.id, t0.s FROM a AS t0;
-- sort
SELECT t1.x, COUNT(*), COUNT(t1.id), COUNT(DISTINCT t0.x) FROM b AS t0 LEFT JOIN d AS t1 ON t0.s = t1.s AND EXISTS (SELECT 1 FROM b AS q24 WHERE q24.x = t0.x AND q24.y > 1) WHERE ((t1.s IS NULL OR t0.id NOT BETWEEN 10 AND 10) OR t1.id IN (-3)) GROUP BY t1.x HAVING COUNT(*) > 0;
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 WHERE t0.id <> 3 ORDER BY t0.y DESC, t0.id DESC, t0.x DESC, t0.y, HEX(t0.s) DESC LIMIT 5;
-- sort
SELECT HEX(t0.s), HEX(t0.s), COUNT(*), COUNT(DISTINCT t0.id), MAX(t0.y) FROM d AS t0 WHERE t0.s LIKE 'B%' GROUP BY HEX(t0.s), HEX(t0.s);
UPDATE b SET x = 8 WHERE (b.y >= b.y AND b.id IN (7, 10));
INSERT IGNORE INTO b VALUES (4, 8, 6, 'Ca');
SELECT COUNT(*), MIN(t0.x), MAX(t1.y) FROM a AS t0 STRAIGHT_JOIN b AS t1 ON t0.y = t1.y WHERE t0.id = -2;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM c AS t0 WHERE t0.x = NULL;
SELECT COUNT(*), MIN(t1.x), MAX(t0.y) FROM a AS t0 RIGHT JOIN d AS t1 ON t0.s = t1.s WHERE (t1.id = -2 AND t0.y BETWEEN 0 AND 5);
-- sort
SELECT HEX(t0.s), t0.y, COUNT(*), SUM(t0.x), MIN(t0.id) FROM b AS t0 WHERE t0.y = t0.y GROUP BY HEX(t0.s), t0.y HAVING COUNT(*) > 1;
DELETE FROM d WHERE d.y IN (8);
-- sort
SELECT t2.s, t2.x, t1.y FROM a AS t0 JOIN d AS t1 ON t0.x = t1.x RIGHT JOIN b AS t2 ON t0.x = t2.x WHERE t1.s = 'c';
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM a AS t0 RIGHT JOIN a AS t1 ON t0.y = t1.y LEFT JOIN c AS t2 ON t1.id = t2.id WHERE t2.x = 10;
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y, t1.id, t1.x, t1.y FROM b AS t0 JOIN a AS t1 ON t0.x = t1.x WHERE t0.x < 0;
SELECT COUNT(*), MIN(t0.x), MAX(t2.y) FROM b AS t0 JOIN a AS t1 ON t0.y = t1.y AND t1.x < t1.x STRAIGHT_JOIN c AS t2 ON t0.x = t2.x WHERE t2.x <> -1;
-- sort
SELECT t0.x, t0.id, COUNT(*), COUNT(DISTINCT t1.y), COUNT(t1.x) FROM c AS t0 LEFT JOIN a AS t1 ON t0.s = t1.s AND t1.s LIKE 'B%' WHERE t0.id = (SELECT MAX(q5.id) FROM b AS q5 WHERE q5.y > NULL) GROUP BY t0.x, t0.id;
DELETE FROM b WHERE b.s NOT BETWEEN 'ab' AND 'abc';
-- sort
SELECT * FROM b;
-- sort
SELECT t0.id, COUNT(*), MAX(t0.y), MIN(t0.x) FROM c AS t0 WHERE ((t0.x = 9 OR t0.s LIKE 'B%') AND t0.id > -2) GROUP BY t0.id HAVING COUNT(*) > 2;
-- sort
SELECT t0.s, t0.id, t0.y FROM c AS t0;
UPDATE a SET s = '' WHERE (a.y < 8 AND a.id < a.id);
-- sort
SELECT t0.s, t1.y, t1.id FROM d AS t0 JOIN c AS t1 ON t0.id = t1.id AND t1.id NOT IN (1, -2, -2, -1) WHERE (t1.x = 12 AND t1.y NOT IN (1, 8));
UPDATE b SET y = y + 40 WHERE b.y <> 6;
-- sort
SELECT * FROM a;
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y FROM c AS t0 WHERE ((t0.y >= t0.y OR t0.x >= 9) AND t0.x + 12 < t0.y);
SELECT t0.id, t0.x, t0.y, t0.s FROM d AS t0 WHERE ((t0.x IN (4) AND t0.x <=> 0) AND t0.x >= t0.x) ORDER BY t0.id, t0.id DESC, t0.x DESC, t0.y, HEX(t0.s) DESC LIMIT 2;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM a AS t0 WHERE t0.id >= t0.id;
SELECT COUNT(*), MIN(t1.x), MAX(t0.y) FROM c AS t0 RIGHT JOIN b AS t1 ON t0.s = t1.s LEFT JOIN a AS t2 ON t1.y = t2.y WHERE t2.x = NULL;
-- sort
SELECT t1.id, COUNT(*), SUM(t0.x), MAX(t0.y) FROM d AS t0 JOIN a AS t1 ON t0.y = t1.y AND t1.x < t0.x WHERE t0.s <=> 'b' GROUP BY t1.id HAVING COUNT(*) > 2;
-- sort
SELECT t1.id, t0.x, COUNT(*), MAX(t1.x), COUNT(t0.id) FROM a AS t0 JOIN d AS t1 ON t0.x = t1.x AND t1.id IN (-2) WHERE t0.y <=> 4 GROUP BY t1.id, t0.x HAVING COUNT(*) > 1;
-- sort
SELECT t1.id, t1.y, t0.x FROM c AS t0 LEFT JOIN a AS t1 ON t0.id = t1.id WHERE (NOT (t0.x + 6 > t0.y) OR (t0.x = -1 AND t0.x + 9 < t1.y));
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM d AS t0 JOIN a AS t1 ON t0.y = t1.y AND t0.y >= t0.y WHERE t1.x + -3 < t1.y;
-- sort
SELECT t1.x, t0.x, COUNT(*), COUNT(DISTINCT t1.id), MIN(t1.x) FROM d AS t0 JOIN b AS t1 ON t0.id = t1.id WHERE ((t1.x + 12 < t0.y OR t0.x + 5 < t1.y) OR t1.x NOT IN (10)) GROUP BY t1.x, t0.x HAVING COUNT(*) > 1;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 WHERE ((NOT EXISTS (SELECT 1 FROM d AS q75 WHERE q75.y = t0.y AND (q75.x IN (10, 9) AND q75.s LIKE 'a_')) OR t0.s IN ('', 'B', 'c', 'b')) OR (t0.y < 10 AND t0.id <= 9));
-- sort
SELECT t1.x, t1.s, t0.id FROM b AS t0 JOIN c AS t1 ON t0.y = t1.y WHERE t0.id < (SELECT MAX(q29.id) FROM d AS q29 WHERE (q29.s NOT IN ('b', 'ab', 'abc') AND q29.x IN (4)));
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y, t1.id, t1.x, t1.y FROM d AS t0 LEFT JOIN b AS t1 ON t0.y = t1.y WHERE (NOT (t1.id = -2) OR (t0.x = 5 OR t1.id IS NULL));
-- sort
SELECT t0.id, t0.id, COUNT(*), MAX(t0.y), COUNT(DISTINCT t0.x) FROM b AS t0 WHERE t0.x + 12 > t0.y GROUP BY t0.id, t0.id;
-- sort
SELECT HEX(t0.s), t0.id, COUNT(*), COUNT(t0.x), SUM(t0.x) FROM d AS t0 WHERE (t0.x >= t0.x AND (t0.id = (SELECT MIN(q60.id) FROM d AS q60 WHERE q60.y >= 4) OR t0.x + -3 = t0.y)) GROUP BY HEX(t0.s), t0.id;
-- sort
SELECT HEX(t0.s), COUNT(*), MIN(t1.x), SUM(t0.id) FROM b AS t0 JOIN a AS t1 ON t0.y = t1.y AND t0.y >= t0.y WHERE (t0.x IN (-2, 9) OR (t1.id NOT BETWEEN 3 AND 6 OR t1.y > (SELECT MIN(q43.y) FROM a AS q43 WHERE (q43.id >= q43.id AND q43.x IN (9, 12, 11))))) GROUP BY HEX(t0.s) HAVING COUNT(*) > 1;
SELECT MAX(t0.x) FROM a AS t0 WHERE (NOT (t0.x BETWEEN 0 AND 2) AND (t0.x IN (8, 11, -3) OR t0.id IS NOT NULL));
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM a AS t0 RIGHT JOIN a AS t1 ON t0.s = t1.s LEFT JOIN a AS t2 ON t0.s = t2.s WHERE t1.id <> 0;
-- sort
SELECT t0.id, t0.y, COUNT(*), COUNT(t0.x), SUM(t1.id) FROM c AS t0 LEFT JOIN a AS t1 ON t0.x = t1.x WHERE ((t1.s LIKE 'a%' OR t0.x >= t1.x) AND (t1.y = 11 AND t0.y > NULL)) GROUP BY t0.id, t0.y;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM d AS t0 WHERE t0.y NOT IN (-2);
-- sort
SELECT t0.x, COUNT(*), SUM(t0.x), MIN(t0.id) FROM c AS t0 WHERE (t0.s BETWEEN 'a' AND 'c' AND NOT (t0.y <> NULL)) GROUP BY t0.x;
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y FROM d AS t0 WHERE NOT EXISTS (SELECT 1 FROM b AS q67 WHERE q67.s = t0.s AND NOT (q67.x = 3));
-- sort
SELECT t0.y, t2.id, COUNT(*), COUNT(t2.y), MIN(t0.y) FROM d AS t0 JOIN a AS t1 ON t0.id = t1.id STRAIGHT_JOIN d AS t2 ON t0.s = t2.s WHERE (t0.s LIKE 'a%' OR t1.x IN (2, 6, 2, -2)) GROUP BY t0.y, t2.id;
UPDATE b SET s = 'a' WHERE b.id <=> 5;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM b AS t0 LEFT JOIN b AS t1 ON t0.y = t1.y AND t0.s LIKE 'ab%' WHERE t1.s = NULL;
-- sort
SELECT t0.y, COUNT(*), MIN(t0.x), SUM(t0.id) FROM c AS t0 WHERE t0.s LIKE 'a%' GROUP BY t0.y;
-- sort
SELECT HEX(t0.s), COUNT(*), MIN(t0.x), COUNT(DISTINCT t0.id) FROM b AS t0 WHERE ((t0.y IS NOT NULL AND t0.s BETWEEN '' AND 'Ca') AND t0.y <=> 11) GROUP BY HEX(t0.s);
REPLACE INTO b VALUES (25, 3, 56, '');
-- sort
SELECT * FROM d;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM c AS t0 JOIN a AS t1 ON t0.id = t1.id WHERE (NOT EXISTS (SELECT 1 FROM c AS q54 WHERE q54.y = t0.y AND (q54.x <=> -1 OR q54.x > (SELECT MAX(q6.x) FROM d AS q6 WHERE q6.x + 10 < q6.y))) AND (t1.y = 8 OR t0.y >= NULL));
-- sort
SELECT t0.x, COUNT(*), COUNT(t0.y), COUNT(DISTINCT t0.y) FROM a AS t0 WHERE (t0.x NOT BETWEEN -3 AND 10 AND t0.y >= 1) GROUP BY t0.x HAVING COUNT(*) > 1;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM a AS t0 LEFT JOIN a AS t1 ON t0.x = t1.x LEFT JOIN a AS t2 ON t0.x = t2.x WHERE t1.id <= 4;
-- sort
SELECT HEX(t0.s), COUNT(*), MIN(t0.y), SUM(t0.x) FROM c AS t0 WHERE ((t0.s LIKE 'ab%' AND t0.x >= 9) AND (t0.s LIKE 'a%' AND t0.x NOT BETWEEN 0 AND 10)) GROUP BY HEX(t0.s) HAVING COUNT(*) > 2;
SELECT MIN(t1.x) FROM b AS t0 LEFT JOIN b AS t1 ON t0.id = t1.id WHERE (t0.s NOT BETWEEN '' AND 'abc' AND t1.s <=> '');
SELECT MIN(t1.y) FROM d AS t0 LEFT JOIN c AS t1 ON t0.y = t1.y RIGHT JOIN a AS t2 ON t1.x = t2.x WHERE t2.y >= -2;
SELECT t0.id, t0.x, t0.y, t0.s FROM a AS t0 WHERE ((t0.id <> 6 OR t0.s < 'd d') AND t0.s = t0.s) ORDER BY t0.y DESC, t0.id DESC, t0.x DESC, t0.y DESC, HEX(t0.s) LIMIT 4;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM b AS t0 RIGHT JOIN c AS t1 ON t0.y = t1.y AND t0.y <= 9 WHERE t0.x = NULL;
SELECT COUNT(*), MIN(t2.x), MAX(t1.y) FROM a AS t0 LEFT JOIN a AS t1 ON t0.x = t1.x AND t0.y IN (-2, -2) RIGHT JOIN d AS t2 ON t0.x = t2.x;
-- sort
SELECT t2.x, t1.x, t0.id FROM a AS t0 LEFT JOIN d AS t1 ON t0.x = t1.x AND t0.id BETWEEN 5 AND 8 LEFT JOIN a AS t2 ON t1.s = t2.s AND t2.id BETWEEN 1 AND 7 WHERE t1.x >= t0.x;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM a AS t0;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM b AS t0 JOIN a AS t1 ON t0.s = t1.s AND t1.y > 7 WHERE t1.id < t1.id;
-- sort
SELECT t1.id, t2.y, t2.x FROM a AS t0 STRAIGHT_JOIN d AS t1 ON t0.y = t1.y AND t1.x = t1.x JOIN d AS t2 ON t1.s = t2.s AND t2.x IS NULL WHERE (t0.s LIKE '%b' AND (t1.x + -1 > t1.y OR t0.id = t0.id));
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM b AS t0 LEFT JOIN b AS t1 ON t0.s = t1.s AND t1.y IN (7, 12, -2, 7) JOIN d AS t2 ON t1.id = t2.id WHERE (t1.s = 'ba' OR NOT (t0.s IS NULL));
SELECT MAX(t1.x) FROM d AS t0 LEFT JOIN a AS t1 ON t0.id = t1.id AND NOT EXISTS (SELECT 1 FROM b AS q81 WHERE q81.id = t1.id AND NOT (q81.id < q81.id)) LEFT JOIN b AS t2 ON t0.x = t2.x AND t1.s >= 'a' WHERE t0.id > 2;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM b AS t0 JOIN c AS t1 ON t0.s = t1.s WHERE ((t0.y > 5 AND t1.id NOT IN (SELECT q35.id FROM d AS q35 WHERE (q35.s LIKE '%b' AND q35.x IN (SELECT q6.x FROM d AS q6 WHERE q6.s LIKE 'ab%')))) AND (t0.id >= -2 OR t1.y BETWEEN -3 AND 12));
REPLACE INTO c VALUES (27, 7, 27, 'abc');
-- sort
SELECT * FROM a;
REPLACE INTO b VALUES (8, 9, 36, 'c');
-- sort
SELECT * FROM b;
SELECT MIN(t0.y) FROM b AS t0 WHERE ((t0.s NOT IN ('', 'c', 'ab', 'abc') OR t0.id = -2) OR (t0.y BETWEEN 6 AND 10 OR t0.y NOT IN (7, 9, 7)));
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y, t1.id, t1.x, t1.y FROM a AS t0 RIGHT JOIN b AS t1 ON t0.s = t1.s AND t0.s >= t1.s WHERE ((t0.x BETWEEN 5 AND 9 OR t0.s BETWEEN 'B' AND 'c') AND (t0.x + 10 = t0.y AND t1.y = 0));
-- sort
SELECT t0.s, t0.id, t1.x FROM b AS t0 JOIN c AS t1 ON t0.id = t1.id WHERE t0.id = 0;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM a AS t0 STRAIGHT_JOIN c AS t1 ON t0.s = t1.s;
-- sort
SELECT t0.y, COUNT(*), COUNT(t0.id), MAX(t0.y) FROM d AS t0 JOIN a AS t1 ON t0.x = t1.x WHERE ((t1.s LIKE 'ab%' AND t1.s NOT BETWEEN 'ab' AND 'd d') AND t0.x = (SELECT MAX(q93.x) FROM b AS q93 WHERE (q93.s BETWEEN 'ab' AND 'd d' AND q93.s IN ('ab', 'abc', 'abc', 'a')))) GROUP BY t0.y HAVING COUNT(*) > 1;
UPDATE c SET x = 0 WHERE c.id NOT BETWEEN 10 AND 12;
-- sort
SELECT * FROM a;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM c AS t0 WHERE t0.s BETWEEN 'abc' AND 'c';
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM d AS t0 JOIN b AS t1 ON t0.y = t1.y WHERE t0.id BETWEEN 2 AND 9;
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y, t1.id, t1.x, t1.y FROM d AS t0 LEFT JOIN a AS t1 ON t0.id = t1.id WHERE t0.s LIKE '_b%';
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM a AS t0 JOIN d AS t1 ON t0.s = t1.s JOIN b AS t2 ON t0.s = t2.s AND t2.s IN ('d d', '', 'ba', 'Ca');
SELECT t0.id, t0.x, t0.y, t0.s FROM d AS t0 WHERE ((t0.x NOT BETWEEN -1 AND 2 OR t0.s <=> 'd d') AND t0.id IS NULL) ORDER BY t0.x, t0.id DESC, t0.x DESC, t0.y, HEX(t0.s) LIMIT 4 OFFSET 3;
-- sort
SELECT t0.x, COUNT(*), SUM(t0.y), MAX(t0.id) FROM b AS t0 WHERE t0.id BETWEEN -2 AND 1 GROUP BY t0.x HAVING COUNT(*) > 0;
-- sort
SELECT HEX(t0.s), COUNT(*), MAX(t0.id), MIN(t0.y) FROM c AS t0 WHERE t0.x + -3 > t0.y GROUP BY HEX(t0.s);
-- sort
SELECT t2.x, t2.id, COUNT(*), COUNT(DISTINCT t1.y), COUNT(t1.id) FROM a AS t0 LEFT JOIN b AS t1 ON t0.y = t1.y AND t0.s LIKE 'ab%' LEFT JOIN a AS t2 ON t1.y = t2.y GROUP BY t2.x, t2.id;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM d AS t0 JOIN a AS t1 ON t0.y = t1.y LEFT JOIN a AS t2 ON t1.s = t2.s AND t2.y >= t1.y WHERE ((t1.id <=> -2 OR t2.s LIKE '%') OR NOT (t2.id < 9));
-- sort
SELECT t0.x, COUNT(*), SUM(t0.y), MIN(t0.y) FROM b AS t0 WHERE (t0.s >= 'Ca' AND (t0.s LIKE '_b%' AND t0.y = t0.y)) GROUP BY t0.x;
-- sort
SELECT t0.id, COUNT(*), MIN(t0.x), MAX(t0.y) FROM d AS t0 WHERE t0.id > 4 GROUP BY t0.id;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM a AS t0 WHERE (t0.s = t0.s AND t0.x IS NOT NULL);
SELECT MAX(t2.id) FROM b AS t0 STRAIGHT_JOIN b AS t1 ON t0.y = t1.y AND t1.y > 4 JOIN a AS t2 ON t1.id = t2.id WHERE t0.s LIKE 'a%';
SELECT t0.x, t0.y, t0.s FROM b AS t0 ORDER BY t0.y DESC, t0.id, t0.x, t0.y, HEX(t0.s);
REPLACE INTO c VALUES (26, 5, 8, 'd d');
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM a AS t0 LEFT JOIN b AS t1 ON t0.y = t1.y LEFT JOIN c AS t2 ON t1.y = t2.y;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM a AS t0 WHERE ((t0.s LIKE 'B%' OR t0.y = 2) AND (t0.id BETWEEN -2 AND 2 OR t0.x = 3));
-- sort
SELECT t0.x, COUNT(*), SUM(t0.x), MIN(t0.y) FROM a AS t0 WHERE (t0.id = t0.id OR (t0.id < 12 AND t0.id = (SELECT MIN(q29.id) FROM d AS q29 WHERE q29.id = q29.id))) GROUP BY t0.x;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM a AS t0 JOIN a AS t1 ON t0.s = t1.s AND t0.id BETWEEN -2 AND 10 WHERE t0.s LIKE 'ab%';
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM c AS t0 WHERE ((t0.x + 4 = t0.y AND t0.s IN ('', 'B', 'ab')) OR (t0.s = 'ba' AND EXISTS (SELECT 1 FROM a AS q3 WHERE q3.id = t0.id AND q3.y IN (SELECT q39.y FROM a AS q39 WHERE q39.s IS NOT NULL))));
SELECT MAX(t0.y) FROM b AS t0 RIGHT JOIN b AS t1 ON t0.y = t1.y STRAIGHT_JOIN a AS t2 ON t0.y = t2.y WHERE NOT ((t1.s IS NULL AND t1.y >= t0.y));
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM b AS t0 WHERE (t0.x < t0.x OR t0.id IS NULL);
-- sort
SELECT t0.id, t2.y, COUNT(*), MIN(t0.x), MAX(t1.id) FROM b AS t0 RIGHT JOIN b AS t1 ON t0.x = t1.x LEFT JOIN d AS t2 ON t1.x = t2.x WHERE t2.id IN (12, -1, 2) GROUP BY t0.id, t2.y;
-- sort
SELECT t1.y, t1.x, t0.s FROM d AS t0 LEFT JOIN b AS t1 ON t0.s = t1.s AND t0.x < -3;
-- sort
SELECT HEX(t1.s), t0.y, COUNT(*), MAX(t1.id), MIN(t1.y) FROM c AS t0 STRAIGHT_JOIN b AS t1 ON t0.s = t1.s RIGHT JOIN b AS t2 ON t0.x = t2.x GROUP BY HEX(t1.s), t0.y HAVING COUNT(*) > 0;
INSERT IGNORE INTO b VALUES (36, 11, 43, 'ab');
-- sort
SELECT t0.x, COUNT(*), SUM(t0.id), COUNT(DISTINCT t0.id) FROM c AS t0 WHERE (t0.x BETWEEN -3 AND 5 AND (t0.x < t0.x AND t0.s NOT IN ('b', 'd d'))) GROUP BY t0.x;
-- sort
SELECT t0.y, t0.x, COUNT(*), MIN(t0.x), COUNT(DISTINCT t0.x) FROM c AS t0 WHERE t0.y NOT IN (1, 10, 8) GROUP BY t0.y, t0.x;
-- sort
SELECT t0.id, t1.s, t0.x FROM c AS t0 LEFT JOIN d AS t1 ON t0.s = t1.s WHERE ((t1.id BETWEEN 0 AND 2 AND t1.y NOT IN (6, 11, 3, 7)) AND t1.s LIKE '%b');
-- sort
SELECT t1.s, t0.id, t1.id FROM d AS t0 JOIN c AS t1 ON t0.y = t1.y WHERE t0.id NOT BETWEEN 4 AND 5;
SELECT t0.y, t0.s, t0.id FROM d AS t0 WHERE NOT (t0.id = 1) ORDER BY t0.y, t0.id DESC, t0.x, t0.y, HEX(t0.s) DESC LIMIT 1;
-- sort
SELECT t1.id, t0.y, t1.y FROM a AS t0 STRAIGHT_JOIN c AS t1 ON t0.s = t1.s AND t1.s = t0.s WHERE t0.s IS NOT NULL;
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y, t1.id, t1.x, t1.y FROM a AS t0 STRAIGHT_JOIN a AS t1 ON t0.y = t1.y WHERE NOT (t1.y IN (8, 7));
SELECT t0.id, t0.x, t0.y, t0.s FROM d AS t0 WHERE (t0.s <> 'B' OR t0.s LIKE 'ab%') ORDER BY t0.x DESC, t0.id, t0.x, t0.y, HEX(t0.s) DESC;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 WHERE NOT ((t0.x IN (9, -1, 10, 9) AND EXISTS (SELECT 1 FROM d AS q81 WHERE q81.s = t0.s AND q81.s <=> 'c')));
SELECT t0.id, t0.x, t0.y, t0.s FROM c AS t0 WHERE ((t0.x + -2 < t0.y AND t0.y >= -2) OR t0.x = t0.x) ORDER BY t0.x DESC, t0.id DESC, t0.x, t0.y, HEX(t0.s) LIMIT 2;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM d AS t0 STRAIGHT_JOIN d AS t1 ON t0.id = t1.id WHERE ((t0.y <=> NULL AND t0.s LIKE '%') OR (t0.y BETWEEN 4 AND 9 OR t1.y NOT IN (SELECT q58.y FROM c AS q58 WHERE NOT (q58.id = q58.id))));
UPDATE b SET x = x + 1 WHERE NOT (b.id < 0);
-- sort
SELECT * FROM d;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM b AS t0;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM c AS t0 LEFT JOIN c AS t1 ON t0.id = t1.id AND t0.s >= t1.s WHERE t1.y <> 2;
SELECT COUNT(*), MIN(t0.x), MAX(t1.y) FROM a AS t0 JOIN c AS t1 ON t0.id = t1.id AND t0.s <> NULL WHERE t1.id NOT IN (9, -1);
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM d AS t0 WHERE (t0.x + 11 > t0.y AND t0.x + 6 > t0.y);
-- sort
SELECT t0.id, t0.x, COUNT(*), MIN(t0.y), SUM(t0.x) FROM c AS t0 WHERE (t0.x + 4 > t0.y AND NOT (t0.id = 2)) GROUP BY t0.id, t0.x;
SELECT t0.y, t0.s, t0.id FROM c AS t0 WHERE t0.x IS NULL ORDER BY t0.x, t0.id DESC, t0.x, t0.y DESC, HEX(t0.s) LIMIT 4 OFFSET 1;
SELECT t0.x, t0.y, t0.s FROM b AS t0 WHERE t0.x BETWEEN 3 AND 12 ORDER BY t0.id DESC, t0.id DESC, t0.x DESC, t0.y DESC, HEX(t0.s) DESC;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM a AS t0 RIGHT JOIN d AS t1 ON t0.y = t1.y AND NOT EXISTS (SELECT 1 FROM c AS q83 WHERE q83.x = t1.x AND (q83.s >= 'd d' AND q83.x IN (10, 9, 2)));
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM d AS t0 JOIN a AS t1 ON t0.id = t1.id AND t1.s IN ('abc') WHERE NOT ((t0.id = t0.id AND t1.x <> 3));
SELECT MAX(t0.id) FROM d AS t0 LEFT JOIN d AS t1 ON t0.y = t1.y AND t0.s IN (SELECT q98.s FROM b AS q98 WHERE (q98.x IS NOT NULL OR q98.x NOT IN (1, 11, 2))) WHERE NOT EXISTS (SELECT 1 FROM b AS q39 WHERE q39.y = t1.y AND NOT (q39.s < q39.s));
-- sort
SELECT t1.y, t0.x, COUNT(*), SUM(t1.y), COUNT(DISTINCT t1.id) FROM a AS t0 LEFT JOIN c AS t1 ON t0.y = t1.y WHERE (t0.id > 0 OR (t0.id >= t1.id AND t1.x IN (4, 8))) GROUP BY t1.y, t0.x;
UPDATE d SET x = 9 WHERE d.id BETWEEN -3 AND 9;
-- sort
SELECT t1.id, t0.s, t2.s FROM a AS t0 LEFT JOIN a AS t1 ON t0.s = t1.s JOIN d AS t2 ON t0.y = t2.y WHERE t0.y <> -1;
-- sort
SELECT t1.s, t0.y, t1.y FROM a AS t0 LEFT JOIN c AS t1 ON t0.y = t1.y;
-- sort
SELECT t0.x, t0.y, t0.s FROM a AS t0 WHERE ((t0.s >= NULL AND t0.y BETWEEN -3 AND 8) AND t0.s <=> 'a');
INSERT IGNORE INTO c VALUES (38, 5, 49, 'c');
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 WHERE (t0.x + -3 < t0.y AND (t0.s LIKE 'a%' AND t0.s LIKE '%b')) ORDER BY t0.y, t0.id DESC, t0.x, t0.y DESC, HEX(t0.s) DESC;
-- sort
SELECT t0.id, t0.s, t0.y FROM d AS t0 WHERE ((t0.x + 12 < t0.y OR EXISTS (SELECT 1 FROM a AS q75 WHERE q75.y = t0.y AND q75.x < 3)) OR t0.s = 'B');
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 WHERE (t0.y <= NULL OR (t0.s LIKE 'ab%' AND t0.x = (SELECT MIN(q2.x) FROM c AS q2 WHERE q2.s IN ('', 'a', '', 'b'))));
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y, t1.id, t1.x, t1.y, t2.id, t2.x, t2.y FROM a AS t0 RIGHT JOIN a AS t1 ON t0.y = t1.y AND t1.s LIKE 'B%' STRAIGHT_JOIN a AS t2 ON t0.y = t2.y;
UPDATE d SET x = x + 1 WHERE d.x = d.x;
-- sort
SELECT * FROM a;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM c AS t0 JOIN c AS t1 ON t0.y = t1.y WHERE t0.x IS NULL;
UPDATE b SET x = x + 1 WHERE (b.id NOT IN (7, 2, 11, 8) AND b.id >= -1);
-- sort
SELECT * FROM c;
SELECT t0.id, t0.x, t0.y, t0.s FROM d AS t0 WHERE t0.s LIKE '_b%' ORDER BY t0.y DESC, t0.id, t0.x, t0.y, HEX(t0.s) DESC LIMIT 1;
SELECT t0.id, t0.x, t0.y, t0.s FROM d AS t0 WHERE t0.y = NULL ORDER BY t0.y, t0.id DESC, t0.x, t0.y, HEX(t0.s) DESC LIMIT 4;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM c AS t0 RIGHT JOIN a AS t1 ON t0.x = t1.x AND t1.x + -3 < t1.y;
SELECT MIN(t0.id) FROM d AS t0 RIGHT JOIN c AS t1 ON t0.x = t1.x WHERE t0.x >= t1.x;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM d AS t0 WHERE t0.s LIKE 'a%';
SELECT COUNT(*), MIN(t1.x), MAX(t1.y) FROM c AS t0 LEFT JOIN d AS t1 ON t0.s = t1.s WHERE t1.s < t1.s;
-- sort
SELECT HEX(t0.s), HEX(t0.s), COUNT(*), MIN(t0.id), COUNT(t0.x) FROM c AS t0 WHERE t0.y BETWEEN 3 AND 9 GROUP BY HEX(t0.s), HEX(t0.s);
SELECT MIN(t0.x) FROM d AS t0 WHERE t0.y < 2;
INSERT IGNORE INTO c VALUES (29, 12, 4, 'c');
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM b AS t0 WHERE (t0.s <= 'ab' AND (t0.y NOT BETWEEN 8 AND 12 AND t0.y = -3));
-- sort
SELECT t0.id, t0.x, t0.y FROM c AS t0 WHERE t0.x <> 10;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM d AS t0 WHERE (t0.x + 6 > t0.y OR (t0.s LIKE '%' AND t0.x >= t0.x));
-- sort
SELECT t0.id, t2.x, t1.id FROM d AS t0 JOIN b AS t1 ON t0.id = t1.id AND t1.id > 6 JOIN d AS t2 ON t0.s = t2.s AND t1.id <=> 2 WHERE (NOT (t2.id < t2.id) OR (t0.y >= t2.y AND t1.id > 10));
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM d AS t0 LEFT JOIN a AS t1 ON t0.s = t1.s AND t1.x = 4 WHERE (t1.id <= NULL OR (t0.y = 12 AND t0.s <=> 'abc'));
-- sort
SELECT DISTINCT t0.id, t0.x, t0.y, t1.id, t1.x, t1.y FROM a AS t0 JOIN d AS t1 ON t0.id = t1.id AND t0.id BETWEEN 6 AND 8 WHERE ((t0.id < -1 AND t1.x <> 4) AND t1.x IN (SELECT q65.x FROM a AS q65 WHERE (q65.id IN (SELECT q11.id FROM c AS q11 WHERE q11.y = 4) OR q65.y <> 6)));
SELECT t0.id, t0.s, t0.x FROM d AS t0 ORDER BY t0.id, t0.id DESC, t0.x DESC, t0.y DESC, HEX(t0.s);
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM c AS t0 WHERE t0.y < 5;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM d AS t0 LEFT JOIN b AS t1 ON t0.s = t1.s STRAIGHT_JOIN a AS t2 ON t0.id = t2.id WHERE (t1.y BETWEEN 3 AND 8 AND NOT EXISTS (SELECT 1 FROM b AS q29 WHERE q29.s = t0.s AND q29.id IS NOT NULL));
-- sort
SELECT t0.id, t0.x, t0.y, t0.s FROM c AS t0;
-- sort
SELECT t1.y, t0.id, COUNT(*), MAX(t1.y), MIN(t1.x) FROM d AS t0 JOIN a AS t1 ON t0.s = t1.s WHERE t0.x > 12 GROUP BY t1.y, t0.id;
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s, t2.id, t2.x, t2.y, t2.s FROM d AS t0 LEFT JOIN a AS t1 ON t0.id = t1.id STRAIGHT_JOIN b AS t2 ON t1.id = t2.id WHERE (t2.y <> -2 AND (t0.s NOT IN ('c') AND t1.x + 0 = t2.y));
SELECT t0.id, t0.x, t0.y, t0.s FROM b AS t0 WHERE (NOT (t0.x IS NULL) AND t0.x < -3) ORDER BY t0.x, t0.id DESC, t0.x DESC, t0.y, HEX(t0.s);
-- sort
SELECT t0.id, t0.x, t0.y, t0.s, t1.id, t1.x, t1.y, t1.s FROM b AS t0 LEFT JOIN d AS t1 ON t0.y = t1.y WHERE t0.y NOT IN (5, -3);
DELETE FROM b WHERE NOT EXISTS (SELECT 1 FROM c AS q38 WHERE q38.y = b.y AND (q38.s >= q38.s OR q38.id NOT IN (SELECT q83.id FROM b AS q83 WHERE q83.s >= q83.s)));
-- sort
SELECT HEX(t0.s), COUNT(*), MAX(t0.x), MIN(t0.x) FROM a AS t0 JOIN b AS t1 ON t0.x = t1.x STRAIGHT_JOIN d AS t2 ON t0.s = t2.s AND t0.x < 5 WHERE t0.id IS NOT NULL GROUP BY HEX(t0.s);
-- sort
SELECT t0.x, COUNT(*), MIN(t0.x), MAX(t0.y) FROM a AS t0 WHERE t0.y = 9 GROUP BY t0.x;
-- sort
SELECT t0.y, COUNT(*), COUNT(DISTINCT t0.id), SUM(t0.x) FROM d AS t0 WHERE (t0.y > 11 AND (t0.y <= 6 AND t0.s NOT BETWEEN 'B' AND 'b')) GROUP BY t0.y;
-- sort
SELECT t0.id, t1.y, t0.x FROM d AS t0 LEFT JOIN d AS t1 ON t0.x = t1.x;
-- sort
SELECT t0.x, t0.id, t0.s FROM c AS t0 WHERE t0.s < t0.s;
SELECT COUNT(*), MIN(t0.x), MAX(t0.y) FROM a AS t0 WHERE ((t0.y < t0.y OR t0.x NOT BETWEEN -2 AND 5) AND (t0.x = t0.x AND t0.s = (SELECT MAX(q25.s) FROM d AS q25 WHERE q25.x = 1)));

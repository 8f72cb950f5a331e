# What a result set says of its columns.
CREATE TABLE m (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, u VARCHAR(20) NOT NULL, v VARCHAR(20) DEFAULT NULL, d DECIMAL(10,2), f FLOAT, g DOUBLE(8,3), t TEXT, b BLOB, dt DATETIME(3), ts TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, e ENUM('a','bb'), s SET('x','y'), bi BIGINT UNSIGNED ZEROFILL, y YEAR, bt BIT(5), c CHAR(3) NOT NULL, da DATE, ti TIME, ty TINYINT(1), UNIQUE KEY u (u), KEY v (v, d));
-- meta
SELECT * FROM m;
-- meta
SELECT x.id AS a, x.v b FROM m x;
-- meta
SELECT id + 1, CONCAT(u, 'x'), COUNT(*), SUM(d), AVG(id), MAX(u), MIN(dt) FROM m GROUP BY id, u;
-- meta
SELECT 1, -1, 1.5, 'abc', NULL, TRUE, 1e0, 10000000000;
-- meta
SELECT v FROM (SELECT v, id FROM m) AS q;
-- meta
SELECT id FROM m UNION SELECT 'x';
-- meta
SELECT (SELECT id FROM m LIMIT 1), EXISTS (SELECT 1), 1 IN (1, 2), 1 = 1;
-- meta
SELECT NOW(), CURDATE(), USER(), LENGTH('a'), UPPER('a'), IF(1, 2, 3), IFNULL(NULL, 'a');
-- meta
SELECT a.id, b.u FROM m a LEFT JOIN m b ON a.id = b.id;
-- meta
SELECT COUNT(*) FROM m;

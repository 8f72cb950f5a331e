-- Tables, a view and rows.
CREATE TABLE item (
    id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci NOT NULL DEFAULT '',
    price DECIMAL(10, 2) UNSIGNED NOT NULL DEFAULT 0.00,
    stock INT DEFAULT 0 CHECK (stock >= 0),
    changed TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
    KEY by_name (name(20), price)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COMMENT='things; with a semicolon';
CREATE TABLE history (
    id BIGINT AUTO_INCREMENT PRIMARY KEY,
    item INT,
    what TEXT,
    CONSTRAINT of_item FOREIGN KEY (item) REFERENCES item (id) ON DELETE SET NULL
);
/* A comment of several lines;
   with a semicolon. */
CREATE OR REPLACE VIEW totals AS SELECT SUM(price * stock) AS total FROM item;
INSERT INTO item (name, price, stock, changed) VALUES ('it''s; one', 1.50, 3, '2026-01-01 00:00:00'), ("two \"quoted\"", 2, 4, '2026-01-01 00:00:00');
/*!50003 SET @version_comment_ran = 1 */;
/*M!100100 SET @maria_comment_ran = 1 */;

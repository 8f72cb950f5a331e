CREATE OR REPLACE VIEW totals AS SELECT COUNT(*) AS number, SUM(price * stock) AS total FROM item;

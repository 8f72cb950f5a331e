DELIMITER //
CREATE TRIGGER item_changed AFTER UPDATE ON item FOR EACH ROW
BEGIN
    IF NEW.stock <> OLD.stock THEN
        INSERT INTO history (item, what) VALUES (NEW.id, CONCAT('stock: ', OLD.stock, ' to ', NEW.stock));
    END IF;
END//
CREATE PROCEDURE restock(IN which INT, IN more INT)
    COMMENT 'adds to the stock'
BEGIN
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;
    START TRANSACTION;
    UPDATE item SET stock = stock + more WHERE id = which;
    COMMIT;
END//
CREATE FUNCTION tax(amount DECIMAL(10, 2)) RETURNS DECIMAL(10, 2) DETERMINISTIC
BEGIN
    RETURN amount * 0.19;
END//
DELIMITER $$
CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01 00:00:00' DISABLE DO BEGIN DELETE FROM history WHERE id < 0; END$$
DELIMITER ;
UPDATE item SET changed = '2026-01-02 00:00:00', stock = 7 WHERE id = 1;

//! A shop: customers, products, orders with their lines.
//!
//! Invariants: the stock of a product is what was supplied minus what was sold; the total of an order is that of its
//! lines; each line has its order; indexes contain what the tables contain.

use super::error::Result;
use super::finding::Finding;
use super::session::{Session, SessionResult};
use rand::Rng;
use rand::rngs::SmallRng;

/// Stock of a product at the start, and what is supplied when it is sold out.
const SUPPLY: u64 = 1000;
/// Maximum number of lines of an order.
const LINES_MAX: u64 = 4;
/// Maximum quantity in a line.
const QUANTITY_MAX: u64 = 5;
/// Number of cities, by which customers are found.
const CITIES: u64 = 50;

pub const TABLES: &[&str] = &["order_line", "orders", "product", "customer"];

/// The load on a shop that was opened with this many customers and products.
#[derive(Debug)]
pub struct Shop {
    rows: u64,
}

impl Shop {
    pub fn new(rows: u64) -> Self {
        Shop { rows }
    }

    pub async fn fill(&self, session: &mut Session) -> Result<()> {
        for statement in [
            "CREATE TABLE customer (id BIGINT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(50) NOT NULL, \
             email VARCHAR(100) NOT NULL, city VARCHAR(50) NOT NULL, UNIQUE KEY (email), KEY (city)) ENGINE=InnoDB",
            "CREATE TABLE product (id INT PRIMARY KEY, name VARCHAR(50) NOT NULL, price DECIMAL(8,2) NOT NULL, \
             stock BIGINT NOT NULL, supplied BIGINT NOT NULL, KEY (name)) ENGINE=InnoDB",
            "CREATE TABLE orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, customer_id BIGINT NOT NULL, \
             state VARCHAR(10) NOT NULL, total DECIMAL(12,2) NOT NULL, \
             made_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), KEY (customer_id), KEY (state, made_at)) \
             ENGINE=InnoDB",
            "CREATE TABLE order_line (order_id BIGINT NOT NULL, line INT NOT NULL, product_id INT NOT NULL, \
             quantity INT NOT NULL, price DECIMAL(8,2) NOT NULL, PRIMARY KEY (order_id, line), KEY (product_id)) \
             ENGINE=InnoDB",
        ] {
            session.execute(statement).await?;
        }
        let customer = |id| {
            let city = id % CITIES;
            format!("('customer {id}','customer-{id}@example.com','city {city}')")
        };
        session
            .insert_many("INSERT INTO customer (name, email, city)", self.rows, customer)
            .await?;
        let product = |id| {
            format!(
                "({id},'product {id}',{}.{:02},{SUPPLY},{SUPPLY})",
                id % 100 + 1,
                id % 97
            )
        };
        session
            .insert_many(
                "INSERT INTO product (id, name, price, stock, supplied)",
                self.rows,
                product,
            )
            .await?;
        Ok(())
    }

    pub async fn transaction(&self, session: &mut Session, random: &mut SmallRng) -> SessionResult<()> {
        match random.random_range(0..100) {
            0..40 => self.order(session, random).await,
            40..50 => self.send(session, random).await,
            50..55 => self.register(session, random).await,
            55..80 => self.history(session, random).await,
            _ => self.search(session, random).await,
        }
    }

    fn any(&self, random: &mut SmallRng) -> u64 {
        random.random_range(1..=self.rows)
    }

    /// A customer orders some products.
    async fn order(&self, session: &mut Session, random: &mut SmallRng) -> SessionResult<()> {
        let customer = self.any(random);
        session.execute("START TRANSACTION").await?;
        let insert = format!("INSERT INTO orders (customer_id, state, total) VALUES ({customer}, 'new', 0)");
        let order = session.execute(&insert).await?.id;
        for line in 1..=random.random_range(1..=LINES_MAX) {
            let (product, quantity) = (self.any(random), random.random_range(1..=QUANTITY_MAX));
            let take = format!(
                "UPDATE product SET stock = stock - {quantity} WHERE id = {product} AND stock >= {quantity}"
            );
            if session.execute(&take).await?.rows == 0 {
                let supply = format!(
                    "UPDATE product SET stock = stock + {SUPPLY}, supplied = supplied + {SUPPLY} WHERE id = {product}"
                );
                session.execute(&supply).await?;
                session.execute(&take).await?;
            }
            let insert = format!(
                "INSERT INTO order_line (order_id, line, product_id, quantity, price) \
                 SELECT {order}, {line}, id, {quantity}, price FROM product WHERE id = {product}"
            );
            session.execute(&insert).await?;
        }
        let total = format!(
            "UPDATE orders SET total = (SELECT SUM(quantity * price) FROM order_line WHERE order_id = {order}) \
             WHERE id = {order}"
        );
        session.execute(&total).await?;
        session.execute("COMMIT").await.map(drop)
    }

    /// The oldest orders that are new are sent.
    async fn send(&self, session: &mut Session, _random: &mut SmallRng) -> SessionResult<()> {
        session.execute("START TRANSACTION").await?;
        let oldest = "SELECT id FROM orders WHERE state = 'new' ORDER BY made_at LIMIT 5 FOR UPDATE";
        let orders: Vec<String> = session.rows(oldest).await?.into_iter().flatten().collect();
        if !orders.is_empty() {
            let update = format!(
                "UPDATE orders SET state = 'sent' WHERE id IN ({})",
                orders.join(",")
            );
            session.execute(&update).await?;
        }
        session.execute("COMMIT").await.map(drop)
    }

    /// Somebody becomes a customer.
    async fn register(&self, session: &mut Session, random: &mut SmallRng) -> SessionResult<()> {
        let (number, city) = (random.random::<u64>(), random.random_range(0..CITIES));
        let insert = format!(
            "INSERT INTO customer (name, email, city) \
             VALUES ('customer', 'new-{number:016x}@example.com', 'city {city}')"
        );
        session.execute(&insert).await.map(drop)
    }

    /// A customer looks at the last orders.
    async fn history(&self, session: &mut Session, random: &mut SmallRng) -> SessionResult<()> {
        let query = format!(
            "SELECT orders.id, made_at, product.name, quantity, order_line.price \
             FROM orders JOIN order_line ON order_line.order_id = orders.id \
             JOIN product ON product.id = order_line.product_id \
             WHERE customer_id = {} ORDER BY orders.id DESC, line LIMIT 20",
            self.any(random)
        );
        session.rows(&query).await.map(drop)
    }

    /// Somebody searches for a product.
    async fn search(&self, session: &mut Session, random: &mut SmallRng) -> SessionResult<()> {
        let query = format!(
            "SELECT id, name, price FROM product WHERE name LIKE 'product {}%' ORDER BY name LIMIT 10",
            self.any(random)
        );
        session.rows(&query).await.map(drop)
    }

    pub async fn check(&self, session: &mut Session) -> Result<Vec<Finding>> {
        let count = session.value("SELECT COUNT(*) FROM product").await?;
        let mut findings = vec![Finding::new(
            format!("there are {} products", self.rows),
            self.rows,
            count,
        )];
        for (rule, query) in [
            (
                "the stock is what was supplied minus what was sold",
                "SELECT COUNT(*) FROM product \
                 LEFT JOIN (SELECT product_id, SUM(quantity) AS quantity FROM order_line GROUP BY product_id) AS sold \
                 ON sold.product_id = product.id \
                 WHERE stock <> supplied - COALESCE(sold.quantity, 0) OR stock < 0",
            ),
            (
                "the total of each order is that of its lines",
                "SELECT COUNT(*) FROM orders \
                 LEFT JOIN (SELECT order_id, SUM(quantity * price) AS total FROM order_line GROUP BY order_id) AS lines_ \
                 ON lines_.order_id = orders.id \
                 WHERE orders.total <> COALESCE(lines_.total, 0) OR lines_.total IS NULL",
            ),
            (
                "each line has its order",
                "SELECT COUNT(*) FROM order_line LEFT JOIN orders ON orders.id = order_line.order_id \
                 WHERE orders.id IS NULL",
            ),
            (
                "indexes contain what the tables contain",
                "SELECT (SELECT COUNT(*) FROM orders FORCE INDEX (PRIMARY) WHERE id > 0) \
                 - (SELECT COUNT(*) FROM orders FORCE INDEX (customer_id) WHERE customer_id > 0)",
            ),
        ] {
            findings.push(Finding::violations(session, rule, query).await?);
        }
        Ok(findings)
    }
}

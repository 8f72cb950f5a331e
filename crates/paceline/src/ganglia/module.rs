//! Types that all modules use: the entries of their tables, readings, and a connection to a server.

use super::error::Result;
use crate::connection::{Address, Connection};
use paceline_wire::client::ConnectOptions;

/// Kind of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It only grows, until its source restarts.
    Counter,
    /// It goes up and down.
    Gauge,
}

/// Entry of a module's table: name at the source, kind, unit.
pub type Entry = (&'static str, Kind, &'static str);

/// A value of a source.
#[derive(Clone, PartialEq, Debug)]
pub struct Reading {
    /// Name in Ganglia: that of the module and that of the value.
    pub name: String,
    pub kind: Kind,
    /// Unit, or what is counted.
    pub unit: String,
    /// The module, by which Ganglia groups values.
    pub group: &'static str,
    pub value: f64,
}

/// A server with a connection to it, while there is one.
pub struct Server {
    address: Address,
    options: ConnectOptions,
    connection: Option<Connection>,
}

impl Server {
    pub fn new(address: Address, options: ConnectOptions) -> Self {
        Server {
            address,
            options,
            connection: None,
        }
    }

    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Executes a statement and returns its rows of texts. Connects if necessary; an error ends the connection.
    ///
    /// # Errors
    /// Those of the connection and of the statement.
    pub async fn rows(&mut self, statement: &str) -> Result<Vec<Vec<String>>> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(&self.address, &self.options).await?,
        };
        let rows = connection.texts(statement).await?;
        self.connection = Some(connection);
        Ok(rows)
    }
}

/// Returns the readings of a table's entries, from pairs of names and values; names are compared without case.
pub fn readings(group: &'static str, table: &[Entry], pairs: &[Vec<String>]) -> Vec<Reading> {
    let values: std::collections::HashMap<String, &str> = pairs
        .iter()
        .filter_map(|pair| Some((pair.first()?.to_ascii_lowercase(), pair.get(1)?.as_str())))
        .collect();
    let reading = |(name, kind, unit): &Entry| {
        let lower = name.to_ascii_lowercase();
        Some(Reading {
            name: format!("{group}_{lower}"),
            kind: *kind,
            unit: (*unit).to_owned(),
            group,
            value: values.get(&lower)?.parse().ok()?,
        })
    };
    table.iter().filter_map(reading).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_missing_or_not_numbers_are_left_out() {
        let table = [
            ("Uptime", Kind::Counter, "s"),
            ("Threads_running", Kind::Gauge, "sessions"),
            ("Ssl_cipher", Kind::Gauge, ""),
        ];
        let pairs = [["UPTIME", "5"], ["Ssl_cipher", "AES"], ["Other", "1"]];
        let pairs: Vec<Vec<String>> = pairs
            .iter()
            .map(|pair| pair.map(str::to_owned).to_vec())
            .collect();
        let found = readings("m", &table, &pairs);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].name.as_str(), found[0].value), ("m_uptime", 5.0));
    }
}

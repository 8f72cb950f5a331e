//! A feed: the values of one source, read and sent in intervals.
//!
//! Each source has a feed, which is a task with a socket of its own. So a source that falls silent delays no other, and
//! an error that the kernel reports on a later packet reaches the feed that has sent the first.

use super::delta::Deltas;
use super::error::{Error, Result};
use super::gmond::Gmond;
use super::module::Reading;
use super::source::Source;
use std::fmt::Display;
use std::io::{self, Write};
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval, sleep};

/// Values that are sent without a pause. Each is two packets, and gmond's socket has room for some hundred: what comes
/// while it is full is lost.
const BURST: u32 = 32;
/// Pause after them.
const PAUSE: Duration = Duration::from_millis(2);

/// Sends the values of a source to gmond.
pub struct Feed {
    source: Source,
    gmond: Gmond,
    output: Output,
    deltas: Deltas,
}

/// Whether a feed prints what it sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    Nothing,
    /// A line per value: name, value, unit.
    Lines,
}

impl Feed {
    pub fn new(source: Source, gmond: Gmond, output: Output) -> Self {
        Feed {
            source,
            gmond,
            output,
            deltas: Deltas::default(),
        }
    }

    /// Reads and sends once.
    ///
    /// # Errors
    /// Fails if the source does not answer, or if a value cannot be sent or printed.
    pub async fn run_once(mut self) -> Result<()> {
        let readings = self.source.read().await?;
        self.send(&readings).await
    }

    /// Reads and sends without end. A source that does not answer and packets that cannot be sent are reported when
    /// that begins and when it ends.
    ///
    /// # Errors
    /// [`Error::Output`].
    pub async fn run(mut self, length: Duration) -> Result<()> {
        let name = self.source.to_string();
        let (mut silence, mut loss) = (Outage::default(), Outage::default());
        let mut runs = interval(length);
        runs.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            runs.tick().await;
            let readings = match self.source.read().await {
                Ok(readings) => readings,
                Err(error) => {
                    silence.begins(&error);
                    continue;
                }
            };
            silence.ends(format_args!("{name} answers again"));
            match self.send(&readings).await {
                Ok(()) => loss.ends(format_args!("values of {name} are sent again")),
                Err(error @ Error::Send(_)) => loss.begins(format_args!("values of {name}: {error}")),
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends readings: gauges as they are, counters as what they grew by.
    ///
    /// # Errors
    /// [`Error::Output`]; [`Error::Send`] of the first value that cannot be sent, after all others were.
    async fn send(&mut self, readings: &[Reading]) -> Result<()> {
        let mut sent = Ok(());
        let mut since_pause = 0;
        for reading in readings {
            let Some(value) = self.deltas.value(reading) else {
                continue;
            };
            if self.output == Output::Lines {
                let line = writeln!(io::stdout(), "{} {value} {}", reading.name, reading.unit);
                line.map_err(Error::Output)?;
            }
            let done = self.gmond.send(reading, value).await;
            sent = sent.and(done);
            since_pause += 1;
            if since_pause == BURST {
                since_pause = 0;
                sleep(PAUSE).await;
            }
        }
        sent
    }
}

/// Something that fails for a while.
#[derive(Default)]
struct Outage {
    is_reported: bool,
}

impl Outage {
    fn begins(&mut self, message: impl Display) {
        if !std::mem::replace(&mut self.is_reported, true) {
            report(message);
        }
    }

    fn ends(&mut self, message: impl Display) {
        if std::mem::take(&mut self.is_reported) {
            report(message);
        }
    }
}

/// Writes a message to standard error. Nobody may read it.
fn report(message: impl Display) {
    let _ = writeln!(io::stderr(), "paceline ganglia: {message}");
}

#[cfg(test)]
mod tests {
    use super::super::memcached::Memcached;
    use super::super::module::Kind;
    use super::*;
    use paceline_wire::TcpAddress;
    use tokio::net::UdpSocket;

    #[tokio::test]
    async fn a_value_that_cannot_be_sent_does_not_hold_back_the_others() {
        let receiver = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = TcpAddress {
            host: "127.0.0.1".into(),
            port: receiver.local_addr().unwrap().port(),
        };
        let gmond = Gmond::open(&address, 15).await.unwrap();
        let source = Source::Memcached(Memcached::new(address));
        let mut feed = Feed::new(source, gmond, Output::Nothing);
        let reading = |name: String| Reading {
            name,
            kind: Kind::Gauge,
            unit: String::new(),
            group: "m",
            value: 1.0,
        };
        // A packet over UDP has at most 64 KiB.
        let readings = [reading("x".repeat(70_000)), reading("m_rows".into())];
        assert!(matches!(feed.send(&readings).await, Err(Error::Send(_))));
        let mut packet = [0; 1000];
        let length = receiver.recv(&mut packet).await.unwrap();
        assert!(packet[..length].windows(6).any(|part| part == b"m_rows"));
    }
}

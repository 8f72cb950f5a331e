//! The options as arguments of clap, for `--help`: one for each variable of the table that can be chosen at startup,
//! and the few options without a variable.
//!
//! `-h` lists the usual options, `--help` all of them, in groups. clap does not parse the command line, because its
//! grammar differs: in MariaDB's options `-` and `_` are equivalent, and there are `--skip-NAME`, `--loose-NAME` and
//! `--CONNECTION.NAME`.

use crate::variables::{Access, Definition, Effect, Kind, Startup, TABLE, Variable};
use clap::{Arg, ArgAction, Command};

/// Usual options that are variables: help text, and the default if it differs from the table's.
const USUAL: [(Variable, &str, Option<&str>); 5] = [
    (
        Variable::Datadir,
        "Data directory; created if it does not exist",
        Some("./data"),
    ),
    (Variable::Port, "TCP port", None),
    (Variable::BindAddress, "Address to listen on; * is all", None),
    (Variable::Socket, "UNIX socket", Some("DATADIR/paceline.sock")),
    (Variable::ServerId, "This server's number in GTIDs", None),
];

/// Option without a variable.
struct OwnOption {
    name: &'static str,
    value: Option<&'static str>,
    help: &'static str,
}

const OWN: [OwnOption; 5] = [
    OwnOption {
        name: "config",
        value: Some("FILE"),
        help: "Read the section [paceline] of a file in my.cnf's format first",
    },
    OwnOption {
        name: "log-bin",
        value: Some("NAME"),
        help: "Base name of the log's files [default: binlog]",
    },
    OwnOption {
        name: "skip-ssl",
        value: None,
        help: "Do not offer TLS",
    },
    OwnOption {
        name: "skip-character-set-client-handshake",
        value: None,
        help: "Begin sessions with character_set_server, whatever the client requests",
    },
    OwnOption {
        name: "initialize-insecure",
        value: None,
        help: "In a new data directory: let root log in without a password, from this machine",
    },
];

const DYNAMIC: &str = "System variables";
const FIXED: &str = "System variables, only at startup";
const WITHOUT_EFFECT: &str = "System variables without effect here";
/// Groups of variables, in the order of the help.
const GROUPS: [&str; 3] = [DYNAMIC, FIXED, WITHOUT_EFFECT];

/// Returns the group of a variable.
fn group(definition: &Definition) -> &'static str {
    match (definition.effect, definition.access) {
        (Effect::Tuning | Effect::Absent, _) => WITHOUT_EFFECT,
        (Effect::Full, Access::Dynamic) => DYNAMIC,
        (Effect::Full, Access::Fixed) => FIXED,
    }
}

/// Width of the help. Most variables take one line.
const WIDTH: usize = 160;

/// Arguments that the help lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listing {
    /// The usual options: `-h`.
    Usual,
    /// All options: `--help`.
    All,
}

/// Returns the text of the help.
pub(super) fn help(listing: Listing) -> String {
    command(listing).render_help().to_string()
}

/// Returns the command with its arguments.
pub(super) fn command(listing: Listing) -> Command {
    let usual = USUAL.map(|(variable, help, default)| {
        let definition = variable.definition();
        let default = default.or(definition.default).unwrap_or_default();
        argument(definition).help(format!("{help} [default: {default}]"))
    });
    let own = OWN.map(|option| {
        let argument = Arg::new(option.name).long(option.name).help(option.help);
        match option.value {
            Some(value) => argument.value_name(value),
            None => argument.action(ArgAction::SetTrue),
        }
    });
    let is_usual = |definition: &Definition| {
        let mut usual = USUAL.iter();
        definition.variable == Variable::LogBin
            || usual.any(|(variable, ..)| *variable == definition.variable)
    };
    let is_listed = |definition: &&Definition| {
        listing == Listing::All && definition.startup == Startup::Option && !is_usual(definition)
    };
    let version = Arg::new("version").short('V').long("version");
    Command::new("paceline server")
        .about("Starts a server and stays in the foreground until SIGTERM or SIGINT.")
        .override_usage("paceline server [OPTIONS]")
        .after_help(match listing {
            Listing::Usual => "System variables are options too: `paceline server --help` lists them.",
            Listing::All => {
                "A variable that is ON or OFF can stand as --NAME or --skip-NAME. Sizes can end with K, M, G, T.\n\
                 docs/variables.md describes the effects."
            }
        })
        .disable_version_flag(true)
        .term_width(WIDTH)
        .args(own)
        .args(usual)
        .args(GROUPS.iter().flat_map(|name| {
            let of_group = move |definition: &&Definition| group(definition) == *name;
            let listed = TABLE.iter().filter(is_listed).filter(of_group);
            listed.map(variable_argument)
        }))
        .arg(version.action(ArgAction::Version).help("Print version"))
}

/// Returns the argument of a variable that only `--help` lists.
fn variable_argument(definition: &'static Definition) -> Arg {
    let default = definition.default.unwrap_or("NULL");
    let mut help = format!("{} [default: {default}]", definition.valid_values());
    if let Some(other) = definition.variable.other_option_name() {
        help += &format!(" [also: --{}]", dashed(other));
    }
    argument(definition).help(help).help_heading(group(definition))
}

fn argument(definition: &'static Definition) -> Arg {
    let argument = Arg::new(definition.name).long(dashed(definition.name));
    match definition.kind {
        Kind::Boolean => argument.action(ArgAction::SetTrue),
        Kind::Integer { .. } | Kind::Unsigned { .. } | Kind::Double { .. } => argument.value_name("N"),
        _ => argument.value_name("VALUE"),
    }
}

fn dashed(name: &str) -> String {
    name.replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Request, parse};

    #[test]
    fn every_variable_that_is_an_option_is_in_the_help_once() {
        command(Listing::All).debug_assert();
        let help = help(Listing::All);
        for definition in TABLE {
            let name = dashed(definition.name);
            let lines = help.lines().filter(|line| {
                let rest = line
                    .trim_start()
                    .strip_prefix("--")
                    .and_then(|line| line.strip_prefix(&*name));
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            });
            let expected = usize::from(definition.startup == Startup::Option);
            assert_eq!(lines.count(), expected, "--{name}");
        }
    }

    #[test]
    fn the_short_help_has_the_usual_options() {
        let help = help(Listing::Usual);
        for word in [
            "--datadir",
            "./data",
            "--port",
            "3306",
            "--log-bin",
            "--skip-ssl",
            "--config",
        ] {
            assert!(help.contains(word), "{word} in\n{help}");
        }
        assert!(!help.contains("--max-connections"), "{help}");
    }

    #[test]
    fn the_help_tells_range_default_and_group() {
        let help = help(Listing::All);
        let group = |heading: &str| {
            let rest = help.split(&format!("\n{heading}:\n")).nth(1).expect(heading);
            rest.split("\n\n").next().unwrap_or_default()
        };
        assert!(group(DYNAMIC).contains("--max-connections <N>"), "{help}");
        assert!(group(DYNAMIC).contains("10 to 100000 [default: 151]"), "{help}");
        assert!(group(FIXED).contains("--skip-networking"), "{help}");
        assert!(group(WITHOUT_EFFECT).contains("--wsrep-provider"), "{help}");
    }

    /// Every option that the help lists is accepted: each variable with its default.
    #[test]
    fn every_option_of_the_help_is_accepted() {
        for definition in TABLE.iter().filter(|row| row.startup == Startup::Option) {
            let Some(default) = definition.default else {
                continue;
            };
            for name in [definition.name.to_owned(), dashed(definition.name)] {
                let parsed = parse(&[format!("--{name}={default}")]);
                assert!(
                    matches!(parsed, Ok(Request::Start(_))),
                    "--{name}={default}: {parsed:?}"
                );
            }
        }
        for definition in TABLE.iter().filter(|row| row.startup == Startup::NotAnOption) {
            let refused = parse(&[format!("--{}=1", definition.name)]).unwrap_err();
            assert_eq!(
                refused.0,
                format!("'{}' cannot be chosen at start-up", definition.name)
            );
        }
    }
}

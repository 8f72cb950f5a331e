//! Storage of system variables' values.

use super::definition::Scope;
use super::table::{TABLE, Variable};
use super::value::VariableValue;
use arc_swap::ArcSwap;
use paceline_types::{Charset, Collation};
use parking_lot::Mutex;
use std::sync::Arc;

/// The server's global values. Reading takes no lock.
#[derive(Debug)]
pub struct Globals {
    values: ArcSwap<Vec<VariableValue>>,
    writing: Mutex<()>,
}

impl Default for Globals {
    fn default() -> Self {
        let values = TABLE.iter().map(|row| row.default_setting()).collect();
        Globals {
            values: ArcSwap::from_pointee(values),
            writing: Mutex::new(()),
        }
    }
}

impl Globals {
    /// Returns the current value.
    pub fn get(&self, variable: Variable) -> VariableValue {
        self.values.load()[variable as usize].clone()
    }

    /// Adjusts the collation after a character set was set, or the character set after a collation was set.
    pub fn pair_charset(&self, variable: Variable) {
        let (charset, collation) = match variable {
            Variable::CharacterSetServer | Variable::CollationServer => {
                (Variable::CharacterSetServer, Variable::CollationServer)
            }
            Variable::CharacterSetDatabase | Variable::CollationDatabase => {
                (Variable::CharacterSetDatabase, Variable::CollationDatabase)
            }
            Variable::CharacterSetConnection | Variable::CollationConnection => {
                (Variable::CharacterSetConnection, Variable::CollationConnection)
            }
            _ => return,
        };
        let value = self.get(variable);
        if variable == charset {
            if let Some(charset) = Charset::from_name(value.as_str()) {
                self.set_text(collation, charset.default_collation().name());
            }
        } else if let Some(collation) = Collation::from_name(value.as_str()) {
            self.set_text(charset, collation.charset().name());
        }
    }

    /// Returns the value of a numeric variable.
    pub fn number(&self, variable: Variable) -> u64 {
        self.values.load()[variable as usize].as_u64()
    }

    /// Returns the value of a Boolean variable.
    pub fn is_on(&self, variable: Variable) -> bool {
        self.values.load()[variable as usize].as_bool()
    }

    /// Returns all current values.
    pub fn snapshot(&self) -> Arc<Vec<VariableValue>> {
        self.values.load_full()
    }

    /// Assigns a value.
    pub fn set(&self, variable: Variable, setting: VariableValue) {
        let _writing = self.writing.lock();
        let mut values = Vec::clone(&self.values.load());
        values[variable as usize] = setting;
        self.values.store(Arc::new(values));
    }

    /// Assigns a text value.
    pub fn set_text(&self, variable: Variable, text: impl Into<Arc<str>>) {
        self.set(variable, VariableValue::Text(text.into()));
    }
}

/// A session's values: the global ones at its start, and the values set since.
#[derive(Debug, Clone)]
pub struct SessionValues {
    inherited: Arc<Vec<VariableValue>>,
    own: Vec<(Variable, VariableValue)>,
    tracked: TrackedVariables,
}

/// Parsed value of `session_track_system_variables`, which is needed after every commit.
#[derive(Debug, Clone)]
enum TrackedVariables {
    All,
    /// In no particular order. Unknown names are ignored.
    These(Vec<Variable>),
}

impl TrackedVariables {
    fn parse(list: &str) -> Self {
        match list.trim() {
            "*" => TrackedVariables::All,
            list => TrackedVariables::These(
                list.split(',')
                    .filter_map(|name| Variable::by_name(&name.trim().to_ascii_lowercase()))
                    .collect(),
            ),
        }
    }
}

impl SessionValues {
    /// Creates the values of a new session.
    pub fn new(globals: &Globals) -> Self {
        let inherited = globals.snapshot();
        let tracked =
            TrackedVariables::parse(inherited[Variable::SessionTrackSystemVariables as usize].as_str());
        SessionValues {
            inherited,
            own: vec![],
            tracked,
        }
    }

    /// Returns whether the client tracks this variable.
    pub fn tracks(&self, variable: Variable) -> bool {
        match &self.tracked {
            TrackedVariables::All => true,
            TrackedVariables::These(variables) => variables.contains(&variable),
        }
    }

    /// Returns the session's value.
    pub fn get(&self, variable: Variable) -> &VariableValue {
        debug_assert_ne!(variable.definition().scope, Scope::Global);
        match self.own.iter().find(|(own, _)| *own == variable) {
            Some((_, setting)) => setting,
            None => &self.inherited[variable as usize],
        }
    }

    /// Assigns a value.
    pub fn set(&mut self, variable: Variable, setting: VariableValue) {
        if variable == Variable::SessionTrackSystemVariables {
            self.tracked = TrackedVariables::parse(setting.as_str());
        }
        match self.own.iter_mut().find(|(own, _)| *own == variable) {
            Some((_, slot)) => *slot = setting,
            None => self.own.push((variable, setting)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_keeps_its_initial_values() {
        let globals = Globals::default();
        let mut session = SessionValues::new(&globals);
        globals.set(Variable::WaitTimeout, VariableValue::Unsigned(5));
        assert_eq!(session.get(Variable::WaitTimeout).as_u64(), 28800);
        assert_eq!(
            SessionValues::new(&globals).get(Variable::WaitTimeout).as_u64(),
            5
        );
        session.set(Variable::WaitTimeout, VariableValue::Unsigned(7));
        session.set(Variable::WaitTimeout, VariableValue::Unsigned(8));
        assert_eq!(session.get(Variable::WaitTimeout).as_u64(), 8);
        assert_eq!(globals.number(Variable::WaitTimeout), 5);
    }

    #[test]
    fn tracked_variables_are_those_of_the_list() {
        let globals = Globals::default();
        let mut session = SessionValues::new(&globals);
        assert!(session.tracks(Variable::Autocommit) && !session.tracks(Variable::LastGtid));
        session.set(
            Variable::SessionTrackSystemVariables,
            VariableValue::Text(" Last_GTID , no_such_one".into()),
        );
        assert!(session.tracks(Variable::LastGtid) && !session.tracks(Variable::Autocommit));
        session.set(
            Variable::SessionTrackSystemVariables,
            VariableValue::Text("*".into()),
        );
        assert!(session.tracks(Variable::Autocommit));
        session.set(
            Variable::SessionTrackSystemVariables,
            VariableValue::Text("".into()),
        );
        assert!(!session.tracks(Variable::Autocommit));
    }
}

//! Authentication of an account: one method, or a list of alternatives.
//!
//! `IDENTIFIED VIA mysql_native_password USING 'invalid' OR unix_socket` is a list of two. A login tries them in this
//! order; the first that succeeds admits the client. The record has the form of MariaDB's `mysql.global_priv`: the
//! *primary* method is in `plugin` and `authentication_string`, which `mysql.user` shows; all methods are in `auth_or`,
//! where `{}` stands for the primary one.

use paceline_wire::authentication::{NATIVE_PASSWORD, NativePassword};
use serde::{Deserialize, Serialize};

/// The method that asks the kernel for the user at the other end of a UNIX socket.
pub const UNIX_SOCKET: &str = "unix_socket";

/// Length of a password's hash as text, in characters.
const HASH_LENGTH: usize = 41;

/// An authentication method with its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Method {
    /// `mysql_native_password`.
    Native(NativePassword),
    /// `mysql_native_password` with a text that is not the hash of any password: `invalid`, or 41 characters that are
    /// not a hexadecimal number.
    NoPassword(String),
    /// `unix_socket`: the operating system's user with the account's name. As in MariaDB 10.11 the text after USING is
    /// stored and not used.
    UnixSocket(String),
}

impl Method {
    /// Parses a method's name and text. Returns `None` if the name is unknown or the method does not accept the text.
    pub fn parse(plugin: &str, text: &str) -> Option<Method> {
        if plugin.eq_ignore_ascii_case(UNIX_SOCKET) {
            return Some(Method::UnixSocket(text.to_owned()));
        }
        if !plugin.is_empty() && !plugin.eq_ignore_ascii_case(NATIVE_PASSWORD) {
            return None;
        }
        match NativePassword::parse(text) {
            Some(password) => Some(Method::Native(password)),
            None if text == "invalid" || text.len() == HASH_LENGTH => {
                Some(Method::NoPassword(text.to_owned()))
            }
            None => None,
        }
    }

    /// Returns the method's name.
    pub fn plugin(&self) -> &'static str {
        match self {
            Method::Native(_) | Method::NoPassword(_) => NATIVE_PASSWORD,
            Method::UnixSocket(_) => UNIX_SOCKET,
        }
    }

    /// Returns the method's data as text: a password's hash.
    pub fn text(&self) -> String {
        match self {
            Method::Native(password) => password.to_string(),
            Method::NoPassword(text) | Method::UnixSocket(text) => text.clone(),
        }
    }

    fn has_password(&self) -> bool {
        !matches!(self, Method::UnixSocket(_))
    }
}

/// The methods of an account: at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authentication(Vec<Method>);

/// The methods in the form of an account's record.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct AuthenticationRecord {
    #[serde(default)]
    plugin: String,
    #[serde(default)]
    authentication_string: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    auth_or: Vec<AlternativeRecord>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct AlternativeRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plugin: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    authentication_string: String,
}

impl From<NativePassword> for Authentication {
    fn from(password: NativePassword) -> Self {
        Authentication(vec![Method::Native(password)])
    }
}

impl From<Method> for Authentication {
    fn from(method: Method) -> Self {
        Authentication(vec![method])
    }
}

impl Authentication {
    /// Creates the alternatives, or returns `None` if the list is empty.
    pub fn any_of(methods: Vec<Method>) -> Option<Authentication> {
        (!methods.is_empty()).then_some(Authentication(methods))
    }

    /// Returns the methods of a new root account, as in Debian's MariaDB: no usable password, and the operating
    /// system's user of the same name.
    pub fn by_socket() -> Authentication {
        Authentication(vec![
            Method::NoPassword("invalid".into()),
            Method::UnixSocket(String::new()),
        ])
    }

    /// Returns the methods in the order in which a login tries them.
    pub fn methods(&self) -> &[Method] {
        &self.0
    }

    /// Returns the method that `mysql.user` shows: the last with a password, or else the last.
    pub fn primary(&self) -> &Method {
        &self.0[self.primary_index()]
    }

    fn primary_index(&self) -> usize {
        let with_password = self.0.iter().rposition(Method::has_password);
        with_password.unwrap_or(self.0.len() - 1)
    }

    /// Returns the password, if a method has one.
    pub fn password(&self) -> Option<NativePassword> {
        self.0.iter().find_map(|method| match method {
            Method::Native(password) => Some(*password),
            _ => None,
        })
    }

    /// Replaces the password of the first method that has one, for `SET PASSWORD`. Returns `None` if no method has one.
    #[must_use]
    pub fn with_password(&self, password: Method) -> Option<Authentication> {
        let mut changed = self.clone();
        *changed.0.iter_mut().find(|method| method.has_password())? = password;
        Some(changed)
    }

    /// Returns ` IDENTIFIED …` as SHOW prints it; empty for an account without a password.
    pub fn show(&self) -> String {
        let using = |method: &Method| match method.text() {
            text if text.is_empty() => method.plugin().to_owned(),
            text => format!("{} USING '{text}'", method.plugin()),
        };
        match self.0.as_slice() {
            [Method::Native(NativePassword::Empty)] => String::new(),
            [only] if only.has_password() => format!(" IDENTIFIED BY PASSWORD '{}'", only.text()),
            all => {
                let all: Vec<String> = all.iter().map(using).collect();
                format!(" IDENTIFIED VIA {}", all.join(" OR "))
            }
        }
    }

    pub(super) fn to_record(&self) -> AuthenticationRecord {
        let primary = self.primary_index();
        let alternative = |(index, method): (usize, &Method)| match index == primary {
            true => AlternativeRecord::default(),
            false => AlternativeRecord {
                plugin: Some(method.plugin().to_owned()),
                authentication_string: method.text(),
            },
        };
        AuthenticationRecord {
            plugin: self.primary().plugin().to_owned(),
            authentication_string: self.primary().text(),
            auth_or: match self.0.len() {
                1 => vec![],
                _ => self.0.iter().enumerate().map(alternative).collect(),
            },
        }
    }

    pub(super) fn from_record(record: &AuthenticationRecord) -> Option<Authentication> {
        let primary = Method::parse(&record.plugin, &record.authentication_string)?;
        if record.auth_or.is_empty() {
            return Some(primary.into());
        }
        let method = |alternative: &AlternativeRecord| match &alternative.plugin {
            None => Some(primary.clone()),
            Some(plugin) => Method::parse(plugin, &alternative.authentication_string),
        };
        let methods = record.auth_or.iter().map(method).collect::<Option<Vec<_>>>()?;
        Authentication::any_of(methods)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn methods(list: &[(&str, &str)]) -> Authentication {
        let parsed = list
            .iter()
            .map(|(plugin, text)| Method::parse(plugin, text).unwrap());
        Authentication::any_of(parsed.collect()).unwrap()
    }

    const HASH: &str = "*B69027D44F6E5EDC07F1AEAD1477967B16F28227";

    /// Expected values: SHOW CREATE USER and the record in MariaDB 10.11 for the same account.
    #[test]
    fn shown_and_stored_as_in_mariadb() {
        // Plugins with their texts, the output of SHOW CREATE USER, and the column `plugin`.
        type Case = (
            &'static [(&'static str, &'static str)],
            &'static str,
            &'static str,
        );
        let cases: [Case; 6] = [
            (
                &[("", "")],
                "",
                r#"{"plugin":"mysql_native_password","authentication_string":""}"#,
            ),
            (
                &[("mysql_native_password", HASH)],
                " IDENTIFIED BY PASSWORD '*B69027D44F6E5EDC07F1AEAD1477967B16F28227'",
                r#"{"plugin":"mysql_native_password","authentication_string":"*B69027D44F6E5EDC07F1AEAD1477967B16F28227"}"#,
            ),
            (
                &[("unix_socket", "root")],
                " IDENTIFIED VIA unix_socket USING 'root'",
                r#"{"plugin":"unix_socket","authentication_string":"root"}"#,
            ),
            (
                &[("mysql_native_password", "invalid"), ("unix_socket", "")],
                " IDENTIFIED VIA mysql_native_password USING 'invalid' OR unix_socket",
                r#"{"plugin":"mysql_native_password","authentication_string":"invalid","auth_or":[{},{"plugin":"unix_socket"}]}"#,
            ),
            (
                &[("unix_socket", ""), ("mysql_native_password", HASH)],
                " IDENTIFIED VIA unix_socket OR mysql_native_password USING '*B69027D44F6E5EDC07F1AEAD1477967B16F28227'",
                r#"{"plugin":"mysql_native_password","authentication_string":"*B69027D44F6E5EDC07F1AEAD1477967B16F28227","auth_or":[{"plugin":"unix_socket"},{}]}"#,
            ),
            (
                &[("unix_socket", ""), ("unix_socket", "")],
                " IDENTIFIED VIA unix_socket OR unix_socket",
                r#"{"plugin":"unix_socket","authentication_string":"","auth_or":[{"plugin":"unix_socket"},{}]}"#,
            ),
        ];
        for (list, shown, record) in cases {
            let authentication = methods(list);
            assert_eq!(authentication.show(), shown);
            let written = serde_json::to_string(&authentication.to_record()).unwrap();
            assert_eq!(written, record);
            let read: AuthenticationRecord = serde_json::from_str(record).unwrap();
            assert_eq!(Authentication::from_record(&read), Some(authentication));
        }
    }

    #[test]
    fn valid_and_invalid_password_texts() {
        let unusable = "*THISISNOTAVALIDPASSWORDTHATCANBEUSEDHERE";
        assert_eq!(
            Method::parse("", unusable),
            Some(Method::NoPassword(unusable.into()))
        );
        assert_eq!(Method::parse(NATIVE_PASSWORD, "short"), None);
        assert_eq!(Method::parse("ed25519", ""), None);
        let password = Method::Native(NativePassword::of("x"));
        let changed = Authentication::by_socket()
            .with_password(password.clone())
            .unwrap();
        assert_eq!(changed, methods(&[("", HASH), (UNIX_SOCKET, "")]));
        assert_eq!(methods(&[(UNIX_SOCKET, "")]).with_password(password), None);
    }
}

//! Authentication of an account: one method, or a list of alternatives.
//!
//! `IDENTIFIED VIA mysql_native_password USING 'invalid' OR unix_socket` is a list of two. A login tries them in this
//! order; the first that succeeds admits the client. The record has the form of MariaDB's `mysql.global_priv`: the
//! *primary* method is in `plugin` and `authentication_string`, which `mysql.user` shows; all methods are in `auth_or`,
//! where `{}` stands for the primary one.

use crate::sql_text::text_literal;
use paceline_syntax::{Error, PasswordSpec, Result};
use paceline_types::error_code::*;
use paceline_wire::authentication::{NATIVE_PASSWORD, NativePassword, Scramble};
use paceline_wire::caching_sha2::{self, CACHING_SHA2_PASSWORD, CachingSha2Password};
use paceline_wire::ed25519::{self, ED25519, Ed25519Password, Nonce};
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
    /// `ed25519`.
    Ed25519 {
        /// The method's name as the statement spells it, which SHOW CREATE USER shows.
        spelled: String,
        /// `None`: nobody can log in by this method.
        password: Option<Ed25519Password>,
    },
    /// `caching_sha2_password`, which MariaDB has from version 12 on. `None`: the empty password.
    CachingSha2(Option<CachingSha2Password>),
    /// `unix_socket`: the operating system's user with the account's name. As in MariaDB 10.11 the text after USING is
    /// stored and not used.
    UnixSocket(String),
}

impl Method {
    /// Parses a method's name and text, which is a password's hash.
    ///
    /// # Errors
    /// 1524 for an unknown name; 1372 if the text is not such a hash.
    pub fn parse(plugin: &str, text: &str) -> Result<Method> {
        if plugin.eq_ignore_ascii_case(UNIX_SOCKET) {
            return Ok(Method::UnixSocket(text.to_owned()));
        }
        if plugin.eq_ignore_ascii_case(ED25519) {
            let password = match text {
                "" => None,
                _ if text.len() != ed25519::HASH_LENGTH => {
                    let message = format!("Password hash should be {} characters long", ed25519::HASH_LENGTH);
                    return Err(Error::with_message(ER_PASSWD_LENGTH, message));
                }
                _ => {
                    let message = "Password hash should be base64 encoded";
                    let refusal = || Error::with_message(ER_PASSWD_LENGTH, message);
                    Some(Ed25519Password::parse(text).ok_or_else(refusal)?)
                }
            };
            return Ok(Method::Ed25519 {
                spelled: plugin.to_owned(),
                password,
            });
        }
        if plugin.eq_ignore_ascii_case(CACHING_SHA2_PASSWORD) {
            let refusal = || {
                let message = format!(
                    "Password hash should be {} characters long",
                    caching_sha2::STORED_LENGTH
                );
                Error::with_message(ER_PASSWD_LENGTH, message)
            };
            return Ok(Method::CachingSha2(match text {
                "" => None,
                _ => Some(CachingSha2Password::parse(text).ok_or_else(refusal)?),
            }));
        }
        if !plugin.is_empty() && !plugin.eq_ignore_ascii_case(NATIVE_PASSWORD) {
            return Err(Error::new(ER_PLUGIN_IS_NOT_LOADED, &[&plugin]));
        }
        match NativePassword::parse(text) {
            Some(password) => Ok(Method::Native(password)),
            None if text == "invalid" || text.len() == HASH_LENGTH => Ok(Method::NoPassword(text.to_owned())),
            None => Err(Error::new(ER_PASSWD_LENGTH, &[&HASH_LENGTH])),
        }
    }

    /// Returns a method whose password is given in a statement, in clear or as its hash.
    ///
    /// # Errors
    /// Those of [`Method::parse`]; 1699 for a method without passwords.
    pub fn with(plugin: &str, password: &PasswordSpec) -> Result<Method> {
        match password {
            PasswordSpec::Hash(text) => Method::parse(plugin, text),
            PasswordSpec::Plain(_) if plugin.eq_ignore_ascii_case(UNIX_SOCKET) => {
                Err(Error::new(ER_SET_PASSWORD_AUTH_PLUGIN, &[&UNIX_SOCKET]))
            }
            PasswordSpec::Plain(text) => Method::parse(plugin, &stored_hash(plugin, text)),
        }
    }

    /// Returns the method's name.
    pub fn plugin(&self) -> &str {
        match self {
            Method::Native(_) | Method::NoPassword(_) => NATIVE_PASSWORD,
            Method::Ed25519 { spelled, .. } => spelled,
            Method::CachingSha2(_) => CACHING_SHA2_PASSWORD,
            Method::UnixSocket(_) => UNIX_SOCKET,
        }
    }

    /// Returns the method's data as text: a password's hash.
    pub fn text(&self) -> String {
        match self {
            Method::Native(password) => password.to_string(),
            Method::Ed25519 { password, .. } => {
                password.map(|password| password.to_string()).unwrap_or_default()
            }
            Method::CachingSha2(password) => password
                .as_ref()
                .map(|password| password.text().to_owned())
                .unwrap_or_default(),
            Method::NoPassword(text) | Method::UnixSocket(text) => text.clone(),
        }
    }

    /// Returns whether a password in clear is that of the method. Some methods are slow on purpose.
    pub fn accepts(&self, password: &[u8]) -> bool {
        match self {
            Method::Native(stored) => {
                let scramble = Scramble::random();
                stored.verify(&scramble, &scramble.answer(password))
            }
            Method::Ed25519 { password: stored, .. } => stored.is_some_and(|stored| {
                let nonce = Nonce::random();
                stored.verify(&nonce, &nonce.answer(password))
            }),
            Method::CachingSha2(None) => password.is_empty(),
            Method::CachingSha2(Some(stored)) => stored.verify(password),
            Method::NoPassword(_) | Method::UnixSocket(_) => false,
        }
    }

    /// Returns the stored form of the method's password, which proves to a client that the server knows it.
    pub fn proof_key(&self) -> Option<&[u8]> {
        match self {
            Method::Native(NativePassword::Hash(hash)) => Some(hash),
            Method::Ed25519 { password, .. } => password.as_ref().map(|password| &password.bytes()[..]),
            _ => None,
        }
    }

    fn has_password(&self) -> bool {
        !matches!(self, Method::UnixSocket(_))
    }

    /// Returns whether it is `mysql_native_password`.
    fn is_native(&self) -> bool {
        matches!(self, Method::Native(_) | Method::NoPassword(_))
    }
}

/// Text in place of a hash that is not computed. It is not a hash of any method.
pub(super) const NO_HASH: &str = "<secret>";

/// Returns the hash of a password for a method, which is stored and shown instead of the password. That of
/// `caching_sha2_password` is another one each time; a password that is too long for it has none.
pub fn stored_hash(plugin: &str, password: &str) -> String {
    let is = |method: &str| plugin.eq_ignore_ascii_case(method);
    match password.is_empty() {
        true => String::new(),
        false if is(ED25519) => Ed25519Password::of(password.as_bytes()).to_string(),
        false if is(CACHING_SHA2_PASSWORD) => CachingSha2Password::of(password.as_bytes())
            .map_or(NO_HASH.to_owned(), |password| password.text().to_owned()),
        false => NativePassword::of(password).to_string(),
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

    /// Returns the method that `mysql.user` shows: the last `mysql_native_password`, or else the last.
    pub fn primary(&self) -> &Method {
        &self.0[self.primary_index()]
    }

    fn primary_index(&self) -> usize {
        let native = self.0.iter().rposition(Method::is_native);
        native.unwrap_or(self.0.len() - 1)
    }

    /// Returns the password, if a method has one.
    pub fn password(&self) -> Option<NativePassword> {
        self.0.iter().find_map(|method| match method {
            Method::Native(password) => Some(*password),
            _ => None,
        })
    }

    /// Returns the hash that `SET PASSWORD` replaces: that of the first method that has a password.
    pub fn first_hash(&self) -> Option<String> {
        self.0
            .iter()
            .find(|method| method.has_password())
            .map(Method::text)
    }

    /// Replaces the password of the first method that has one, for `SET PASSWORD`.
    ///
    /// # Errors
    /// 1699 if no method has one; 1372 for a text that is not a hash for this method.
    pub fn with_password(&self, password: &PasswordSpec) -> Result<Authentication> {
        let mut changed = self.clone();
        let Some(method) = changed.0.iter_mut().find(|method| method.has_password()) else {
            return Err(Error::new(
                ER_SET_PASSWORD_AUTH_PLUGIN,
                &[&self.primary().plugin()],
            ));
        };
        *method = Method::with(method.plugin(), password)?;
        Ok(changed)
    }

    /// Returns ` IDENTIFIED …` as SHOW prints it; empty for an account without a password.
    pub fn show(&self) -> String {
        let using = |method: &Method| match method.text() {
            text if text.is_empty() => method.plugin().to_owned(),
            text => format!("{} USING {}", method.plugin(), text_literal(&text)),
        };
        match self.0.as_slice() {
            [Method::Native(NativePassword::Empty)] => String::new(),
            [only] if only.is_native() => format!(" IDENTIFIED BY PASSWORD '{}'", only.text()),
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
        let primary = Method::parse(&record.plugin, &record.authentication_string).ok()?;
        if record.auth_or.is_empty() {
            return Some(primary.into());
        }
        let method = |alternative: &AlternativeRecord| match &alternative.plugin {
            None => Some(primary.clone()),
            Some(plugin) => Method::parse(plugin, &alternative.authentication_string).ok(),
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
    const ED25519_HASH: &str = "ZIgUREUg5PVgQ6LskhXmO+eZLS0nC8be6HPjYWR4YJY";

    /// Expected values: SHOW CREATE USER and the record in MariaDB 10.11 for the same account.
    #[test]
    fn shown_and_stored_as_in_mariadb() {
        // Plugins with their texts, the output of SHOW CREATE USER, and the column `plugin`.
        type Case = (
            &'static [(&'static str, &'static str)],
            &'static str,
            &'static str,
        );
        let cases: [Case; 9] = [
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
            (
                &[("ed25519", ED25519_HASH)],
                " IDENTIFIED VIA ed25519 USING 'ZIgUREUg5PVgQ6LskhXmO+eZLS0nC8be6HPjYWR4YJY'",
                r#"{"plugin":"ed25519","authentication_string":"ZIgUREUg5PVgQ6LskhXmO+eZLS0nC8be6HPjYWR4YJY"}"#,
            ),
            (
                &[("ed25519", ED25519_HASH), ("unix_socket", "")],
                " IDENTIFIED VIA ed25519 USING 'ZIgUREUg5PVgQ6LskhXmO+eZLS0nC8be6HPjYWR4YJY' OR unix_socket",
                r#"{"plugin":"unix_socket","authentication_string":"","auth_or":[{"plugin":"ed25519","authentication_string":"ZIgUREUg5PVgQ6LskhXmO+eZLS0nC8be6HPjYWR4YJY"},{}]}"#,
            ),
            (
                &[("mysql_native_password", HASH), ("ED25519", "")],
                " IDENTIFIED VIA mysql_native_password USING '*B69027D44F6E5EDC07F1AEAD1477967B16F28227' OR ED25519",
                r#"{"plugin":"mysql_native_password","authentication_string":"*B69027D44F6E5EDC07F1AEAD1477967B16F28227","auth_or":[{},{"plugin":"ED25519"}]}"#,
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
            Method::parse("", unusable).unwrap(),
            Method::NoPassword(unusable.into())
        );
        // Number and message of MariaDB's errors.
        for (plugin, text, code, message) in [
            (
                NATIVE_PASSWORD,
                "short",
                1372,
                "Password hash should be a 41-digit hexadecimal number",
            ),
            ("ed25519", "x", 1372, "Password hash should be 43 characters long"),
            (
                "ed25519",
                HASH,
                1372,
                "Password hash should be 43 characters long",
            ),
            (
                "ed25519",
                "!!!UREUg5PVgQ6LskhXmO+eZLS0nC8be6HPjYWR4YJY",
                1372,
                "Password hash should be base64 encoded",
            ),
            ("nosuch", "", 1524, "Plugin 'nosuch' is not loaded"),
        ] {
            let error = Method::parse(plugin, text).unwrap_err();
            assert_eq!((error.code().number(), error.message()), (code, message));
        }
    }

    #[test]
    fn set_password_changes_the_first_method_that_has_one() {
        let password = PasswordSpec::Plain("x".into());
        let after = |list| methods(list).with_password(&password).unwrap().show();
        assert_eq!(
            after(&[("", "invalid"), (UNIX_SOCKET, "")]),
            format!(" IDENTIFIED VIA mysql_native_password USING '{HASH}' OR unix_socket")
        );
        assert_eq!(
            after(&[(UNIX_SOCKET, ""), ("ed25519", ED25519_HASH)]),
            " IDENTIFIED VIA unix_socket OR ed25519 USING 'Gv2JI8Env2fd5YGonZ082tX3UAW+yJYldOlj4R1bfK4'"
        );
        let refused = methods(&[(UNIX_SOCKET, "")])
            .with_password(&password)
            .unwrap_err();
        assert_eq!(refused.code().number(), 1699);
        let hash = PasswordSpec::Hash(HASH.into());
        let refused = methods(&[("ed25519", "")]).with_password(&hash).unwrap_err();
        assert_eq!(refused.code().number(), 1372);
    }
}

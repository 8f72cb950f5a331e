//! `simple_password_check`: rules for the passwords of accounts, those of MariaDB's plugin of this name.
//!
//! All passwords of a statement are checked before it begins, so a statement with a refused password changes nothing.
//! MariaDB makes the accounts that come before that password. We cannot: the log has hashes, so neither recovery nor a
//! replica could tell where the statement ended. So neither replayed nor replicated statements are checked.
//!
//! A hash says nothing about its password. `strict_password_validation`, which is on by default, refuses it.

use super::authentication::UNIX_SOCKET;
use super::quoted;
use super::statements::{AccountContext, MissingAccounts, resolve};
use crate::variables::{Globals, Variable, VariableValue};
use paceline_syntax::{
    AccountSpec, AccountStatement, Authentication, AuthenticationPlugin, Error, PasswordSpec,
};
use paceline_types::error_code::*;

/// Name of the plugin in messages.
const NAME: &str = "simple_password_check";

/// Rules for a new password. Characters are bytes; letters and digits are those of ASCII.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PasswordRules {
    length_min: u64,
    digits_min: u64,
    /// Both for capital and for small letters.
    letters_min: u64,
    others_min: u64,
    refuses_hashes: bool,
}

/// Password that the rules refuse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedPassword {
    /// Broken rules: warnings that come before the error.
    pub reasons: Vec<String>,
    /// The error.
    pub error: Error,
    /// 1396 of CREATE and ALTER USER, which is raised after the error.
    pub failed: Option<Error>,
}

impl From<Error> for RefusedPassword {
    fn from(error: Error) -> Self {
        RefusedPassword {
            reasons: vec![],
            error,
            failed: None,
        }
    }
}

impl PasswordRules {
    /// Returns the rules; `None` without `--simple-password-check`.
    pub fn of(globals: &Globals) -> Option<PasswordRules> {
        globals.is_on(Variable::SimplePasswordCheck).then(|| {
            let rules = PasswordRules {
                length_min: globals.number(Variable::SimplePasswordCheckMinimalLength),
                digits_min: globals.number(Variable::SimplePasswordCheckDigits),
                letters_min: globals.number(Variable::SimplePasswordCheckLettersSameCase),
                others_min: globals.number(Variable::SimplePasswordCheckOtherCharacters),
                refuses_hashes: globals.is_on(Variable::StrictPasswordValidation),
            };
            PasswordRules {
                length_min: rules.length_min.max(rules.characters_min()),
                ..rules
            }
        })
    }

    /// Raises `simple_password_check_minimal_length` to the sum of the other rules. Returns the warning if it was less.
    pub fn adjust_length(globals: &Globals) -> Option<String> {
        let variable = Variable::SimplePasswordCheckMinimalLength;
        let length = globals.number(variable);
        let needed = PasswordRules::of(globals)?.characters_min();
        (length < needed).then(|| {
            globals.set(variable, VariableValue::Unsigned(needed));
            let name = variable.definition().name;
            format!("Adjusted the value of {name} from {length} to {needed}")
        })
    }

    /// Returns the number of characters of the shortest password that has the required ones.
    fn characters_min(&self) -> u64 {
        self.digits_min + 2 * self.letters_min + self.others_min
    }

    /// Checks the passwords that a statement gives to accounts.
    ///
    /// # Errors
    /// 1819 for a password that breaks a rule; 1290 for a hash under `strict_password_validation`; those of
    /// [`resolve`].
    pub fn check(
        &self,
        statement: &AccountStatement,
        context: AccountContext<'_>,
    ) -> std::result::Result<(), RefusedPassword> {
        match statement {
            AccountStatement::Create {
                or_replace, accounts, ..
            } => self.check_specs(accounts, context, Some("CREATE USER"), |is_known| {
                match is_known && !or_replace {
                    true => Checked::Nothing,
                    false => Checked::Account,
                }
            }),
            AccountStatement::Alter { accounts, .. } => {
                self.check_specs(accounts, context, Some("ALTER USER"), |is_known| match is_known {
                    true => Checked::Password,
                    false => Checked::Nothing,
                })
            }
            AccountStatement::Grant { accounts, .. }
            | AccountStatement::GrantRole { accounts, .. }
            | AccountStatement::GrantProxy { accounts, .. } => {
                let makes_accounts = context.missing_accounts == MissingAccounts::Made;
                self.check_specs(accounts, context, None, |is_known| {
                    match !is_known && makes_accounts {
                        true => Checked::Account,
                        false => Checked::Password,
                    }
                })
            }
            AccountStatement::SetPassword { account, password } => {
                let (user, _) = match account {
                    Some(name) => resolve(name, context)?,
                    None => (context.current.0.to_owned(), String::new()),
                };
                self.check_password(&user, Some(password))
            }
            _ => Ok(()),
        }
    }

    fn check_specs(
        &self,
        accounts: &[AccountSpec],
        context: AccountContext<'_>,
        operation: Option<&str>,
        checked: impl Fn(bool) -> Checked,
    ) -> std::result::Result<(), RefusedPassword> {
        for AccountSpec {
            account,
            authentication,
        } in accounts
        {
            let (user, host) = resolve(account, context)?;
            let checked = checked(context.accounts.get(&user, &host).is_some());
            self.check_spec(&user, authentication.as_ref(), checked)
                .map_err(|refused| RefusedPassword {
                    failed: operation
                        .map(|operation| Error::new(ER_CANNOT_USER, &[&operation, &quoted(&user, &host)])),
                    ..refused
                })?;
        }
        Ok(())
    }

    fn check_spec(
        &self,
        user: &str,
        authentication: Option<&Authentication>,
        checked: Checked,
    ) -> std::result::Result<(), RefusedPassword> {
        match (checked, authentication) {
            (Checked::Nothing, _) | (Checked::Password, None) => Ok(()),
            (Checked::Account, None) => self.check_password(user, None),
            (_, Some(Authentication::Password(password))) => self.check_password(user, Some(password)),
            (_, Some(Authentication::Plugins(plugins))) => {
                let has_password =
                    |plugin: &&AuthenticationPlugin| !plugin.plugin.eq_ignore_ascii_case(UNIX_SOCKET);
                plugins
                    .iter()
                    .filter(has_password)
                    .try_for_each(|plugin| self.check_password(user, plugin.credential.as_ref()))
            }
        }
    }

    fn check_password(
        &self,
        user: &str,
        password: Option<&PasswordSpec>,
    ) -> std::result::Result<(), RefusedPassword> {
        let plain = match password {
            None => "",
            Some(PasswordSpec::Plain(plain)) => plain,
            Some(PasswordSpec::Hash(hash)) if hash.is_empty() => "",
            Some(PasswordSpec::Hash(_)) if self.refuses_hashes => {
                let error = Error::new(ER_OPTION_PREVENTS_STATEMENT, &[&"--strict-password-validation"]);
                return Err(error.into());
            }
            Some(PasswordSpec::Hash(_)) => return Ok(()),
        };
        let reasons = self.broken(user, plain);
        match reasons.is_empty() {
            true => Ok(()),
            false => Err(RefusedPassword {
                reasons,
                error: Error::new(ER_NOT_VALID_PASSWORD, &[&NAME]),
                failed: None,
            }),
        }
    }

    /// Returns the broken rules, in words.
    fn broken(&self, user: &str, password: &str) -> Vec<String> {
        // As in MariaDB, a beginning of the name counts as the name, and so does nothing.
        if user.starts_with(password) {
            return vec![format!("{NAME}: The password equal to the user name")];
        }
        let count = |is: fn(&u8) -> bool| password.bytes().filter(is).count() as u64;
        let (digits, capitals, smalls) = (
            count(u8::is_ascii_digit),
            count(u8::is_ascii_uppercase),
            count(u8::is_ascii_lowercase),
        );
        let length = password.len() as u64;
        let others = length - digits - capitals - smalls;
        [
            (length, self.length_min, "Too short password"),
            (capitals, self.letters_min, "Not enough upper case letters"),
            (smalls, self.letters_min, "Not enough lower case letters"),
            (digits, self.digits_min, "Not enough digits"),
            (others, self.others_min, "Not enough special characters"),
        ]
        .into_iter()
        .filter(|(number, min, _)| number < min)
        .map(|(_, min, broken)| format!("{NAME}: {broken} (< {min})"))
        .collect()
    }
}

/// Part of an account that a statement gives.
enum Checked {
    /// The statement does not reach the account.
    Nothing,
    /// The password, if there is one.
    Password,
    /// A new account, without a password if none is given.
    Account,
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: PasswordRules = PasswordRules {
        length_min: 8,
        digits_min: 1,
        letters_min: 1,
        others_min: 1,
        refuses_hashes: true,
    };

    #[test]
    fn each_broken_rule_is_named() {
        let broken = |password| RULES.broken("someone", password);
        let equal = ["simple_password_check: The password equal to the user name"];
        assert_eq!(broken("aA1.aaaa"), [""; 0]);
        assert_eq!(broken(""), equal);
        assert_eq!(broken("some"), equal);
        assert_eq!(
            broken("short"),
            [
                "simple_password_check: Too short password (< 8)",
                "simple_password_check: Not enough upper case letters (< 1)",
                "simple_password_check: Not enough digits (< 1)",
                "simple_password_check: Not enough special characters (< 1)",
            ]
        );
        assert_eq!(
            broken("AAA1.AAAA"),
            ["simple_password_check: Not enough lower case letters (< 1)"]
        );
        assert_eq!(
            broken("äÄ1.aaaaa"),
            ["simple_password_check: Not enough upper case letters (< 1)"]
        );
    }

    #[test]
    fn a_hash_is_refused_or_taken_as_it_is() {
        let hash = PasswordSpec::Hash("*0123456789012345678901234567890123456789".to_owned());
        let refused = RULES.check_password("someone", Some(&hash)).unwrap_err();
        assert_eq!(refused.error.code(), ER_OPTION_PREVENTS_STATEMENT);
        let lenient = PasswordRules {
            refuses_hashes: false,
            ..RULES
        };
        assert_eq!(lenient.check_password("someone", Some(&hash)), Ok(()));
        let none = PasswordSpec::Hash(String::new());
        assert!(lenient.check_password("someone", Some(&none)).is_err());
    }
}

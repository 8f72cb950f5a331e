//! Accounts and privileges.

use super::parser::{Parser, checked_qualified_name};
use crate::ast::TableName;
use crate::clear_password::{ClearPassword, HashForm};
use crate::error::{Error, Result};
use crate::lexer::Token;
use crate::statement::*;
use paceline_types::error_code::{ER_DUP_ARGUMENT, ER_WRONG_VALUE};

/// Parses `PASSWORD('secret')`, or a hash as a string, for an authentication plugin; its name is empty for the default
/// one.
pub(super) fn password_function(parser: &mut Parser<'_>, plugin: &str) -> Result<PasswordSpec> {
    let start = parser.position();
    if parser.accept_word("PASSWORD") {
        parser.expect_token(&Token::LeftParen)?;
        let secret = parser.text()?;
        parser.expect_token(&Token::RightParen)?;
        parser.note_clear_password(start, &secret, plugin, HashForm::String);
        return Ok(PasswordSpec::Plain(secret));
    }
    Ok(PasswordSpec::Hash(parser.text()?))
}

impl Parser<'_> {
    /// Records that the text since `start` contains this password in clear text.
    pub(super) fn note_clear_password(
        &mut self,
        start: usize,
        password: &str,
        plugin: &str,
        hash_form: HashForm,
    ) {
        self.clear_passwords.push(ClearPassword {
            text: start..self.previous_end(),
            password: password.to_owned(),
            plugin: plugin.to_owned(),
            hash_form,
        });
    }

    /// Parses `user[@host]` or `CURRENT_USER[()]`.
    pub(super) fn account_name(&mut self) -> Result<AccountName> {
        let host_any = || "%".to_owned();
        if self.accept_word("CURRENT_USER") {
            if self.accept(&Token::LeftParen) {
                self.expect_token(&Token::RightParen)?;
            }
            return Ok(AccountName {
                user: UserName::Current,
                host: String::new(),
            });
        }
        if self.accept_word("CURRENT_ROLE") {
            return Ok(AccountName {
                user: UserName::CurrentRole,
                host: String::new(),
            });
        }
        let user = UserName::Name(self.identifier_or_text()?);
        let host = match self.peek() {
            Token::UserVariable(host) => {
                let host = host.to_lowercase();
                self.advance();
                host
            }
            Token::At => {
                self.advance();
                self.identifier_or_text()?.to_lowercase()
            }
            _ => host_any(),
        };
        let host = if host.is_empty() { host_any() } else { host };
        Ok(AccountName { user, host })
    }

    /// Parses an account where a role is possible: `user[@host]`, `role`, `CURRENT_USER`, `CURRENT_ROLE`, `PUBLIC`.
    pub(super) fn grantee(&mut self) -> Result<AccountName> {
        let has_host = matches!(self.peek_at(1).token, Token::UserVariable(_) | Token::At);
        let mut account = self.account_name()?;
        if let UserName::Name(name) = &account.user
            && !has_host
        {
            account.user = match name.eq_ignore_ascii_case("PUBLIC") {
                true => UserName::Public,
                false => UserName::Unqualified(name.clone()),
            };
        }
        Ok(account)
    }

    /// Parses a role where the current one is possible.
    pub(super) fn role_name(&mut self) -> Result<RoleName> {
        match self.accept_word("CURRENT_ROLE") {
            true => Ok(RoleName::Current),
            false => Ok(RoleName::Name(self.identifier_or_text()?)),
        }
    }

    /// Parses the rest of `CREATE [OR REPLACE] ROLE`.
    pub(super) fn create_roles(&mut self, or_replace: bool) -> Result<Statement> {
        let if_not_exists = self.if_not_exists(or_replace)?;
        let roles = self.comma_separated(Self::identifier_or_text)?;
        let admin = match self.accept_phrase(&["WITH", "ADMIN"])? {
            true => Some(self.grantee()?),
            false => None,
        };
        Ok(Statement::Account(AccountStatement::CreateRoles {
            or_replace,
            if_not_exists,
            roles,
            admin,
        }))
    }

    /// Parses the rest of `DROP ROLE`.
    pub(super) fn drop_roles(&mut self) -> Result<Statement> {
        let if_exists = self.accept_phrase(&["IF", "EXISTS"])?;
        let roles = self.comma_separated(Self::identifier_or_text)?;
        Ok(Statement::Account(AccountStatement::DropRoles {
            if_exists,
            roles,
        }))
    }

    /// Parses the rest of GRANT or REVOKE of a role.
    fn grant_or_revoke_role(&mut self, grant: bool) -> Result<Statement> {
        let only_admin_option = !grant && self.accept_words(&["ADMIN", "OPTION", "FOR"]);
        let role = self.role_name()?;
        if !grant {
            self.expect_word("FROM")?;
            let accounts = self.comma_separated(Self::grantee)?;
            return Ok(Statement::Account(AccountStatement::RevokeRole {
                role,
                accounts,
                only_admin_option,
            }));
        }
        self.expect_word("TO")?;
        let accounts = self.comma_separated(Self::grantee_spec)?;
        let admin_option = self.accept_phrase(&["WITH", "ADMIN", "OPTION"])?;
        Ok(Statement::Account(AccountStatement::GrantRole {
            role,
            accounts,
            admin_option,
        }))
    }

    fn grantee_spec(&mut self) -> Result<AccountSpec> {
        let account = self.grantee()?;
        Ok(AccountSpec {
            account,
            authentication: self.authentication()?,
        })
    }

    fn account_spec(&mut self) -> Result<AccountSpec> {
        let account = self.account_name()?;
        Ok(AccountSpec {
            account,
            authentication: self.authentication()?,
        })
    }

    fn authentication(&mut self) -> Result<Option<Authentication>> {
        if !self.accept_word("IDENTIFIED") {
            return Ok(None);
        }
        if self.accept_word("BY") {
            let password = if self.accept_word("PASSWORD") {
                PasswordSpec::Hash(self.text()?)
            } else {
                let start = self.position();
                let secret = self.text()?;
                self.note_clear_password(start, &secret, "", HashForm::WordAndString);
                PasswordSpec::Plain(secret)
            };
            return Ok(Some(Authentication::Password(password)));
        }
        if self.accept_any_word(&["VIA", "WITH"]).is_none() {
            return Err(self.error());
        }
        let mut plugins = Vec::new();
        loop {
            let plugin = self.identifier_or_text()?;
            let credential = if self.accept_any_word(&["USING", "AS"]).is_some() {
                Some(password_function(self, &plugin)?)
            } else {
                None
            };
            plugins.push(AuthenticationPlugin { plugin, credential });
            if !self.accept_word("OR") {
                return Ok(Some(Authentication::Plugins(plugins)));
            }
        }
    }

    /// Parses `REQUIRE …`, `WITH …`, `ACCOUNT …`, `PASSWORD EXPIRE …`. Returns whether it saw `WITH GRANT
    /// OPTION`.
    fn account_options(&mut self, options: &mut AccountOptions) -> Result<bool> {
        let mut grant_option = false;
        if self.accept_word("REQUIRE") {
            options.require = Some(self.tls_requirement()?);
        }
        if self.accept_word("WITH") {
            loop {
                if self.accept_words(&["GRANT", "OPTION"]) {
                    grant_option = true;
                } else if let Some(name) = self.accept_any_word(&[
                    "MAX_QUERIES_PER_HOUR",
                    "MAX_UPDATES_PER_HOUR",
                    "MAX_CONNECTIONS_PER_HOUR",
                    "MAX_STATEMENT_TIME",
                ]) {
                    let limit = match name {
                        "MAX_STATEMENT_TIME" => self.seconds_in_micros()?,
                        _ => self.number()?,
                    };
                    options.limits.push((name.to_owned(), limit));
                } else if self.accept_word("MAX_USER_CONNECTIONS") {
                    options.user_connections = Some(self.signed_int()?);
                } else {
                    break;
                }
            }
            if !grant_option && options.limits.is_empty() && options.user_connections.is_none() {
                return Err(self.error());
            }
        }
        loop {
            if self.accept_word("ACCOUNT") {
                let Some(word) = self.accept_any_word(&["LOCK", "UNLOCK"]) else {
                    return Err(self.error());
                };
                options.locked = Some(word == "LOCK");
            } else if self.accept_words(&["PASSWORD", "EXPIRE"]) {
                options.password_expire = Some(if self.accept_word("NEVER") {
                    PasswordExpire::Never
                } else if self.accept_word("DEFAULT") {
                    PasswordExpire::Default
                } else if self.accept_word("INTERVAL") {
                    PasswordExpire::Days(self.days()?)
                } else {
                    PasswordExpire::Now
                });
            } else {
                return Ok(grant_option);
            }
        }
    }

    /// Parses a number of seconds, which may have a fraction. Returns microseconds.
    fn seconds_in_micros(&mut self) -> Result<u64> {
        if !matches!(self.peek(), Token::Integer | Token::Decimal | Token::Float) {
            return Err(self.error());
        }
        let text = String::from_utf8_lossy(self.current_text()).into_owned();
        let seconds: f64 = text.parse().map_err(|_| self.error())?;
        self.advance();
        Ok((seconds * 1e6).round() as u64)
    }

    /// Parses `n DAY`. 0 is error 1525.
    fn days(&mut self) -> Result<u32> {
        let days = self.number()?;
        self.expect_word("DAY")?;
        match u32::try_from(days) {
            Ok(days) if days > 0 => Ok(days),
            _ => Err(Error::new(ER_WRONG_VALUE, &[&"DAY", &days])),
        }
    }

    fn tls_requirement(&mut self) -> Result<TlsRequirement> {
        if self.accept_word("NONE") {
            return Ok(TlsRequirement::None);
        }
        if self.accept_word("SSL") {
            return Ok(TlsRequirement::Ssl);
        }
        if self.accept_word("X509") {
            return Ok(TlsRequirement::X509);
        }
        let (mut subject, mut issuer, mut cipher) = (None, None, None);
        loop {
            let (name, slot) = match self.accept_any_word(&["SUBJECT", "ISSUER", "CIPHER"]) {
                Some("SUBJECT") => ("SUBJECT", &mut subject),
                Some("ISSUER") => ("ISSUER", &mut issuer),
                Some(_) => ("CIPHER", &mut cipher),
                None => return Err(self.error()),
            };
            if slot.replace(self.text()?).is_some() {
                return Err(Error::new(ER_DUP_ARGUMENT, &[&name]));
            }
            self.accept_word("AND");
            if !self.is_any_word(&["SUBJECT", "ISSUER", "CIPHER"]) {
                return Ok(TlsRequirement::Specified {
                    subject,
                    issuer,
                    cipher,
                });
            }
        }
    }

    /// Parses the rest of `CREATE [OR REPLACE] USER`.
    pub(super) fn create_user(&mut self, or_replace: bool) -> Result<Statement> {
        let if_not_exists = self.if_not_exists(or_replace)?;
        let accounts = self.comma_separated(Self::account_spec)?;
        let mut options = AccountOptions::default();
        if self.account_options(&mut options)? {
            return Err(self.error());
        }
        Ok(Statement::Account(AccountStatement::Create {
            or_replace,
            if_not_exists,
            accounts,
            options,
        }))
    }

    /// Parses the rest of `ALTER USER`.
    pub(super) fn alter_user(&mut self) -> Result<Statement> {
        let if_exists = self.accept_phrase(&["IF", "EXISTS"])?;
        let accounts = self.comma_separated(Self::account_spec)?;
        let mut options = AccountOptions::default();
        if self.account_options(&mut options)? {
            return Err(self.error());
        }
        Ok(Statement::Account(AccountStatement::Alter {
            if_exists,
            accounts,
            options,
        }))
    }

    /// Parses the rest of `DROP USER`.
    pub(super) fn drop_user(&mut self) -> Result<Statement> {
        let if_exists = self.accept_phrase(&["IF", "EXISTS"])?;
        let accounts = self.comma_separated(Self::account_name)?;
        Ok(Statement::Account(AccountStatement::Drop { if_exists, accounts }))
    }

    /// Parses the rest of `RENAME USER`.
    pub(super) fn rename_user(&mut self) -> Result<Statement> {
        let renames = self.comma_separated(|parser| {
            let from = parser.account_name()?;
            parser.expect_word("TO")?;
            Ok((from, parser.account_name()?))
        })?;
        Ok(Statement::Account(AccountStatement::Rename(renames)))
    }

    /// Parses GRANT or REVOKE.
    pub(super) fn grant_or_revoke(&mut self) -> Result<Statement> {
        let grant = self.is_word("GRANT");
        self.advance();
        if self.accept_words(&["PROXY", "ON"]) {
            return self.grant_or_revoke_proxy(grant);
        }
        if self.names_role(grant) {
            return self.grant_or_revoke_role(grant);
        }
        let privileges = self.comma_separated(Self::privilege)?;
        if !self.is_word("ON") {
            if !grant
                && privileges.len() == 2
                && privileges[0].privilege == "ALL PRIVILEGES"
                && privileges[1].privilege == "GRANT OPTION"
            {
                self.expect_word("FROM")?;
                let accounts = self.comma_separated(Self::grantee)?;
                return Ok(Statement::Account(AccountStatement::RevokeAll(accounts)));
            }
            return Err(self.error());
        }
        if privileges
            .iter()
            .any(|privilege| !is_privilege(&privilege.privilege))
        {
            return Err(self.error());
        }
        self.advance();
        let level = self.privilege_level()?;
        if !grant {
            self.expect_word("FROM")?;
            let accounts = self.comma_separated(Self::grantee)?;
            return Ok(Statement::Account(AccountStatement::Revoke {
                privileges,
                level,
                accounts,
            }));
        }
        self.expect_word("TO")?;
        let accounts = self.comma_separated(Self::grantee_spec)?;
        let mut options = AccountOptions::default();
        let grant_option = self.account_options(&mut options)?;
        Ok(Statement::Account(AccountStatement::Grant {
            privileges,
            level,
            accounts,
            options,
            grant_option,
        }))
    }

    /// Parses the rest of `GRANT PROXY ON` or `REVOKE PROXY ON`.
    fn grant_or_revoke_proxy(&mut self, grant: bool) -> Result<Statement> {
        let proxied = self.account_name()?;
        if !grant {
            self.expect_word("FROM")?;
            let accounts = self.comma_separated(Self::account_name)?;
            return Ok(Statement::Account(AccountStatement::RevokeProxy {
                proxied,
                accounts,
            }));
        }
        self.expect_word("TO")?;
        let accounts = self.comma_separated(Self::account_spec)?;
        let grant_option = self.accept_phrase(&["WITH", "GRANT", "OPTION"])?;
        Ok(Statement::Account(AccountStatement::GrantProxy {
            proxied,
            accounts,
            grant_option,
        }))
    }

    fn privilege(&mut self) -> Result<PrivilegeSpec> {
        let mut words: Vec<String> = Vec::new();
        while matches!(self.peek(), Token::Word { .. }) && !self.is_any_word(&["ON", "TO", "FROM"]) {
            let token = self.advance();
            words.push(self.word_text(&token).to_ascii_uppercase());
        }
        if words.is_empty() {
            return Err(self.error());
        }
        let mut privilege = words.join(" ");
        if privilege == "ALL" {
            privilege = "ALL PRIVILEGES".to_owned();
        }
        let columns = if self.is(&Token::LeftParen) && OF_COLUMNS.contains(&privilege.as_str()) {
            self.parenthesized(Self::identifier)?
        } else {
            Vec::new()
        };
        Ok(PrivilegeSpec { privilege, columns })
    }

    /// Returns whether a role is granted or revoked: one name, and then TO or FROM.
    fn names_role(&mut self, grant: bool) -> bool {
        match grant {
            true => self.is_word_at(1, "TO"),
            false => {
                self.is_word_at(1, "FROM")
                    || self.is_word("ADMIN") && self.is_word_at(1, "OPTION") && self.is_word_at(2, "FOR")
            }
        }
    }

    /// Parses an integer with a sign. Greater ones are the greatest that there is.
    fn signed_int(&mut self) -> Result<i32> {
        let is_negative = self.accept(&Token::Minus);
        let number = i32::try_from(self.number()?).unwrap_or(i32::MAX);
        Ok(if is_negative { -number } else { number })
    }

    fn privilege_level(&mut self) -> Result<PrivilegeLevel> {
        if self.accept(&Token::Star) {
            if self.accept(&Token::Dot) {
                self.expect_token(&Token::Star)?;
                return Ok(PrivilegeLevel::Global);
            }
            return Ok(PrivilegeLevel::Database(None));
        }
        let routine = match self.accept_any_word(&["FUNCTION", "PROCEDURE", "PACKAGE"]) {
            Some("FUNCTION") => Some(RoutineType::Function),
            Some("PROCEDURE") => Some(RoutineType::Procedure),
            Some(_) => return Err(Error::unsupported("PACKAGE")),
            None => None,
        };
        if routine.is_none() {
            self.accept_word("TABLE");
        }
        let first = self.identifier()?;
        if self.accept(&Token::Dot) {
            if routine.is_none() && self.accept(&Token::Star) {
                return Ok(PrivilegeLevel::Database(Some(first)));
            }
            let name = TableName::qualified(first, self.identifier_after_dot()?);
            return Ok(privilege_level(routine, checked_qualified_name(name)?));
        }
        Ok(privilege_level(
            routine,
            checked_qualified_name(TableName::new(first))?,
        ))
    }
}

fn privilege_level(routine: Option<RoutineType>, name: TableName) -> PrivilegeLevel {
    match routine {
        Some(kind) => PrivilegeLevel::Routine(kind, name),
        None => PrivilegeLevel::Table(name),
    }
}

/// Privileges that can be granted on columns.
const OF_COLUMNS: &[&str] = &["SELECT", "INSERT", "UPDATE", "REFERENCES"];

/// Every privilege of MariaDB 10.11 by its name in GRANT. `REPLICATION CLIENT` and some others are synonyms.
const PRIVILEGES: &[&str] = &[
    "ALL PRIVILEGES",
    "ALTER",
    "ALTER ROUTINE",
    "BINLOG ADMIN",
    "BINLOG MONITOR",
    "BINLOG REPLAY",
    "CONNECTION ADMIN",
    "CREATE",
    "CREATE ROUTINE",
    "CREATE TABLESPACE",
    "CREATE TEMPORARY TABLES",
    "CREATE USER",
    "CREATE VIEW",
    "DELETE",
    "DELETE HISTORY",
    "DELETE VERSIONING ROWS",
    "DROP",
    "EVENT",
    "EXECUTE",
    "FEDERATED ADMIN",
    "FILE",
    "GRANT OPTION",
    "INDEX",
    "INSERT",
    "LOCK TABLES",
    "PROCESS",
    "READ ONLY ADMIN",
    "READ_ONLY ADMIN",
    "REFERENCES",
    "RELOAD",
    "REPLICATION CLIENT",
    "REPLICATION MASTER ADMIN",
    "REPLICATION REPLICA",
    "REPLICATION REPLICA ADMIN",
    "REPLICATION SLAVE",
    "REPLICATION SLAVE ADMIN",
    "REPLICA MONITOR",
    "SELECT",
    "SET USER",
    "SHOW DATABASES",
    "SHOW VIEW",
    "SHUTDOWN",
    "SLAVE MONITOR",
    "SUPER",
    "TRIGGER",
    "UPDATE",
    "USAGE",
];

fn is_privilege(name: &str) -> bool {
    PRIVILEGES.contains(&name)
}

//! What names mean within a view's query: the tables of each SELECT, and the common table expressions around it.

use sqlparser::ast::{Expr, Ident, ObjectName, ObjectNamePart};

use crate::catalog::same_name;

/// A table that columns can be of.
#[derive(Debug, Clone)]
pub(super) struct Table {
    /// The database, of a table of the catalog.
    pub database: Option<String>,
    /// Its alias, or its name.
    pub name: String,
    /// Whether its columns are written with the database.
    pub is_qualified: bool,
    pub columns: Vec<Column>,
}

#[derive(Debug, Clone)]
pub(super) struct Column {
    pub name: String,
    pub invisible: bool,
}

/// A column of [`Scope::tables`], by numbers.
pub(super) type Place = (usize, usize);

/// What names mean in one SELECT.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    pub tables: Vec<Table>,
    /// What bare names and `*` see.
    pub visible: Vec<Place>,
}

/// A common table expression.
#[derive(Debug, Clone)]
pub(super) struct Common {
    pub name: String,
    pub columns: Vec<String>,
}

/// What a query stands in: the SELECTs around it, innermost last, and the common table expressions that it sees.
#[derive(Debug, Clone, Default)]
pub(super) struct Surroundings {
    pub scopes: Vec<Scope>,
    pub common: Vec<Common>,
}

pub(super) fn ident(name: &str) -> Ident {
    Ident::with_quote('`', name)
}

impl Table {
    pub fn reference(&self, column: usize) -> Expr {
        let mut parts = Vec::with_capacity(3);
        if let Some(database) = self.database.as_deref().filter(|_| self.is_qualified) {
            parts.push(ident(database));
        }
        parts.push(ident(&self.name));
        parts.push(ident(&self.columns[column].name));
        Expr::CompoundIdentifier(parts)
    }

    pub fn find(&self, column: &str) -> Option<usize> {
        self.columns
            .iter()
            .position(|known| same_name(&known.name, column))
    }
}

impl Scope {
    /// The column of a name of one to three parts.
    pub fn find(&self, parts: &[Ident]) -> Option<Expr> {
        let (column, qualifier) = parts.split_last()?;
        let found =
            match qualifier {
                [] => self.visible.iter().copied().find(|(table, place)| {
                    same_name(&self.tables[*table].columns[*place].name, &column.value)
                }),
                [.., table] => {
                    let database = (qualifier.len() > 1).then(|| qualifier[0].value.as_str());
                    self.tables.iter().enumerate().find_map(|(number, known)| {
                        let fits = known.name == table.value
                            && database.is_none_or(|database| known.database.as_deref() == Some(database));
                        let place = fits.then(|| known.find(&column.value)).flatten();
                        place.map(|place| (number, place))
                    })
                }
            };
        found.map(|(table, place)| self.tables[table].reference(place))
    }
}

pub(super) fn visible_column(name: String) -> Column {
    Column {
        name,
        invisible: false,
    }
}

pub(super) fn object_name(parts: &[&str]) -> ObjectName {
    ObjectName::from(parts.iter().map(|part| ident(part)).collect::<Vec<_>>())
}

pub(super) fn last_part(name: &ObjectName) -> Option<String> {
    let part = name.0.last().and_then(ObjectNamePart::as_ident)?;
    Some(part.value.clone())
}

//! The teacher's list of students, and the search for the row of a submission.

use crate::csv::Table;
use crate::names;
use std::collections::BTreeMap;

/// Names of columns that can have a number or an account name of a student. The number or name of a
/// submission is searched in all of these columns.
const ID_COLUMNS: [&str; 9] = [
    "identifier",
    "id",
    "id number",
    "student id",
    "sis user id",
    "sis login id",
    "username",
    "email address",
    "email",
];
const NAME_COLUMNS: [&str; 4] = ["full name", "name", "student", "student name"];
const FIRST_COLUMNS: [&str; 3] = ["first name", "firstname", "given name"];
const LAST_COLUMNS: [&str; 4] = ["last name", "lastname", "surname", "family name"];

/// The rows of a roster, ready to be searched.
#[derive(Debug, Clone, Default)]
pub struct Roster {
    /// The table of the teacher, without Canvas's row "Points Possible".
    pub table: Table,
    by_id: BTreeMap<String, Vec<usize>>,
    by_name: BTreeMap<String, Vec<usize>>,
}

/// The result of a search in the roster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// The submission belongs to this row.
    Row(usize),
    /// No row fits.
    None,
    /// Several rows fit, so the student is unknown.
    Several,
}

impl Roster {
    /// Prepares a roster. Fails if the table has neither a column with whole names, nor two columns
    /// with first and last names.
    pub fn new(mut table: Table) -> Result<Roster, String> {
        let name = table.column(&NAME_COLUMNS);
        let parts = (table.column(&FIRST_COLUMNS), table.column(&LAST_COLUMNS));
        if name.is_none() && (parts.0.is_none() || parts.1.is_none()) {
            return Err("the roster needs a column \"name\", or \"first name\" and \"last name\"".to_owned());
        }
        // Canvas writes the highest possible score of each assignment into a row of its own.
        if let Some(name) = name {
            table.rows.retain(|row| row[name].trim() != "Points Possible");
        }
        let mut roster = Roster { table, ..Roster::default() };
        for (i, row) in roster.table.rows.iter().enumerate() {
            for column in ID_COLUMNS.iter().filter_map(|column| roster.table.column(&[column])) {
                let id = id_of(&row[column]);
                if !id.is_empty() {
                    push_once(roster.by_id.entry(id).or_default(), i);
                }
            }
            for form in forms(&roster.name_of(i)) {
                push_once(roster.by_name.entry(form).or_default(), i);
            }
        }
        Ok(roster)
    }

    /// The name of the student in a row.
    pub fn name_of(&self, row: usize) -> String {
        let cells = &self.table.rows[row];
        let cell = |names: &[&str]| self.table.column(names).map(|column| cells[column].trim());
        let whole = cell(&NAME_COLUMNS).filter(|name| !name.is_empty()).map(str::to_owned);
        let joined = || {
            format!(
                "{} {}",
                cell(&FIRST_COLUMNS).unwrap_or_default(),
                cell(&LAST_COLUMNS).unwrap_or_default()
            )
        };
        names::clean(&whole.unwrap_or_else(joined))
    }

    /// A cell of a row by the name of its column; empty if there is no such column.
    pub fn cell(&self, row: usize, columns: &[&str]) -> &str {
        self.table.column(columns).map_or("", |column| self.table.rows[row][column].trim())
    }

    /// Finds the row of a student: by the number, else by the name, else by an account that is
    /// given as the name.
    pub fn find(&self, name: &str, id: Option<&str>) -> Match {
        let by_id = id.and_then(|id| self.by_id.get(&id_of(id)));
        let by_account = || self.by_id.get(&id_of(name));
        let by_name = || self.by_name.get(&names::normal(name));
        // A value that several rows share does not identify a student.
        let of = |rows: &Vec<usize>| (rows.len() == 1).then(|| rows[0]);
        if let Some(row) = by_id.and_then(of) {
            // The number of the submission may be of another kind than the numbers in the roster.
            // Moodle, for example, writes its own number of the participant. If the name fits
            // another row, the result is therefore [`Match::Several`].
            let is_other = by_name().and_then(of).is_some_and(|named| named != row);
            return if is_other { Match::Several } else { Match::Row(row) };
        }
        match by_name().or_else(by_account) {
            None => Match::None,
            Some(rows) => of(rows).map_or(Match::Several, Match::Row),
        }
    }
}

fn push_once(rows: &mut Vec<usize>, row: usize) {
    if rows.last() != Some(&row) {
        rows.push(row);
    }
}

/// A number or an account in a form that can be compared. Moodle writes `Participant 123`, so this
/// prefix is removed.
fn id_of(text: &str) -> String {
    let text = text.trim().to_lowercase();
    text.strip_prefix("participant ").map(str::to_owned).unwrap_or(text)
}

/// The forms in which platforms write a name: in the given order, and with the first and the last
/// name exchanged.
fn forms(name: &str) -> Vec<String> {
    let given = names::normal(name);
    let turned = match name.split_once(',') {
        Some((last, first)) => names::normal(first) + &names::normal(last),
        None => match name.rsplit_once(' ') {
            Some((first, last)) => names::normal(last) + &names::normal(first),
            None => return if given.is_empty() { Vec::new() } else { vec![given] },
        },
    };
    vec![given, turned]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv;

    fn roster(text: &str) -> Roster {
        Roster::new(csv::parse(text).expect("a table")).expect("a roster")
    }

    #[test]
    fn students_are_found_by_number_account_and_name() {
        let roster = roster(
            "Identifier,Full name,Email address\nParticipant 12,Ada Lovelace,ada@x.org\n\
             Participant 13,\"Doe, Jane\",jane@x.org\nParticipant 14,Bo Li,a@x\nParticipant 15,Bo Li,b@x\n",
        );
        assert_eq!(roster.find("whoever", Some("12")), Match::Row(0));
        assert_eq!(roster.find("lovelaceada", Some("999")), Match::Row(0));
        assert_eq!(roster.find("doejane", None), Match::Row(1));
        assert_eq!(roster.find("Jane Doe", None), Match::Row(1));
        assert_eq!(roster.find("jane@x.org", None), Match::Row(1));
        assert_eq!(roster.find("Bo Li", None), Match::Several);
        assert_eq!(roster.find("Bo Li", Some("15")), Match::Row(3));
        assert_eq!(roster.find("Grace Hopper", None), Match::None);
    }

    #[test]
    fn a_number_of_another_kind_swapped_two_students() {
        // The submission has Moodle's number of the participant, and the roster has numbers of the
        // university.
        let roster = roster("name,id\nAda Lovelace,2\nBob Li,1\n");
        assert_eq!(roster.find("Ada Lovelace", Some("1")), Match::Several);
        assert_eq!(roster.find("Bob Li", Some("2")), Match::Several);
        assert_eq!(roster.find("Bob Li", Some("1")), Match::Row(1));
    }

    #[test]
    fn other_columns_are_understood() {
        let canvas = roster("Student,ID,Section\n    Points Possible,,\n\"Doe, Jane\",7,A\n\"Li, Bo\",8,A\n");
        assert_eq!(canvas.table.rows.len(), 2);
        assert_eq!(canvas.find("doejane", Some("7")), Match::Row(0));
        let parts = roster("First name,Surname\nAda,Lovelace\n");
        assert_eq!(
            (parts.name_of(0).as_str(), parts.find("ada lovelace", None)),
            ("Ada Lovelace", Match::Row(0))
        );
        assert!(Roster::new(csv::parse("a,b\n1,2\n").expect("a table")).is_err());
    }
}

//! Names of submissions, as learning platforms and students write them.

/// Longest name of a student, in characters. The record of a run has the same limit.
pub const MAX_NAME: usize = 200;
/// Longest key of a student in bytes, without the suffix that makes the key unique.
const MAX_KEY: usize = 80;

/// What can be read from the name of an uploaded file or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadName {
    /// Name of the student.
    pub student: String,
    /// Number of the student in the learning platform.
    pub id: Option<String>,
    /// Whether the platform marked the submission as late.
    pub late: bool,
    /// Name of the file that the student uploaded, if the platform put other parts before it.
    pub file: Option<String>,
    /// Whether a learning platform made this name.
    pub of_platform: bool,
}

impl UploadName {
    /// Reads the name of a file or a folder.
    pub fn parse(name: &str, is_folder: bool) -> UploadName {
        // The Canvas format is tried first. Otherwise a student on Canvas could choose a file name
        // that makes the upload look like another student's submission in Moodle.
        canvas(name).or_else(|| moodle(name)).unwrap_or_else(|| {
            let stem = match name.rsplit_once('.') {
                Some((stem, _)) if !is_folder && !stem.is_empty() => stem,
                _ => name,
            };
            let student = clean(&stem.replace('_', " "));
            UploadName { student, id: None, late: false, file: None, of_platform: false }
        })
    }
}

/// Reads a name that Moodle made, such as `Ada Lovelace_12345_assignsubmission_file_`. The name of
/// the file follows if the teacher downloaded the submissions without folders. `None` if the name
/// does not have this form.
fn moodle(name: &str) -> Option<UploadName> {
    let (student, rest) = name.split_once("_assignsubmission_")?;
    let (student, id) = student.rsplit_once('_').filter(|(_, id)| is_number(id))?;
    let (_, file) = rest.split_once('_').unwrap_or((rest, ""));
    Some(UploadName {
        student: clean(student),
        id: Some(id.to_owned()),
        late: false,
        file: (!file.is_empty()).then(|| file.to_owned()),
        of_platform: true,
    })
}

/// Reads a name that Canvas made, such as `lovelaceada_12345_67890_race.zip`, with `_LATE` after
/// the student's name if the upload was late. `None` if the name does not have this form.
fn canvas(name: &str) -> Option<UploadName> {
    let (student, rest) = name.split_once('_')?;
    let (late, rest) = rest.strip_prefix("LATE_").map_or((false, rest), |rest| (true, rest));
    let (id, rest) = rest.split_once('_').filter(|(id, _)| is_number(id))?;
    let (_, file) = rest.split_once('_').filter(|(number, _)| is_number(number))?;
    if student.is_empty() || file.is_empty() {
        return None;
    }
    let id = Some(id.to_owned());
    let file = Some(without_count(file));
    Some(UploadName { student: clean(student), id, late, file, of_platform: true })
}

/// Removes the count that the platform adds when a student uploads a file again, as in `main-1.py`.
/// The count is removed only from the names `main.py` and `run.toml`, because the student may have
/// chosen a name such as `part-2.py`.
fn without_count(file: &str) -> String {
    for (stem, extension) in [("main", ".py"), ("run", ".toml")] {
        let count = file.strip_prefix(stem).and_then(|rest| rest.strip_suffix(extension));
        if count.and_then(|count| count.strip_prefix('-')).is_some_and(is_number) {
            return format!("{stem}{extension}");
        }
    }
    file.to_owned()
}

fn is_number(text: &str) -> bool {
    (1..=20).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
}

/// A name without control characters, with single blanks between words, shortened to [`MAX_NAME`].
pub fn clean(name: &str) -> String {
    let visible: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let name = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    name.chars().take(MAX_NAME).collect()
}

/// The letters and digits of a name in lower case, for comparisons.
pub fn normal(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The name of a student as part of a file name: letters and digits in lower case, and hyphens.
/// Returns `student` if the name has no letter and no digit.
pub fn key(name: &str) -> String {
    let mut key = String::new();
    for c in name.chars().flat_map(char::to_lowercase) {
        if key.len() + c.len_utf8() > MAX_KEY {
            break;
        }
        if c.is_alphanumeric() {
            key.push(c);
        } else if !key.is_empty() && !key.ends_with('-') {
            key.push('-');
        }
    }
    let key = key.trim_end_matches('-');
    if key.is_empty() { "student".to_owned() } else { key.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(name: &str, is_folder: bool) -> (String, Option<String>, bool, Option<String>) {
        let UploadName { student, id, late, file, .. } = UploadName::parse(name, is_folder);
        (student, id, late, file)
    }

    #[test]
    fn a_file_name_made_an_upload_look_like_one_of_another_student() {
        let name = "mallory_20_345_x_99_assignsubmission_file_main.py";
        let (student, id, _, file) = parts(name, false);
        assert_eq!((student.as_str(), id.as_deref()), ("mallory", Some("20")));
        assert_eq!(file.as_deref(), Some("x_99_assignsubmission_file_main.py"));
    }

    #[test]
    fn names_of_learning_platforms_are_read() {
        let some = |text: &str| Some(text.to_owned());
        for (name, is_folder, expected) in [
            (
                "Ada Lovelace_12345_assignsubmission_file_",
                true,
                ("Ada Lovelace".to_owned(), some("12345"), false, None),
            ),
            (
                "Ada Lovelace_12345_assignsubmission_file_my_race.zip",
                false,
                ("Ada Lovelace".to_owned(), some("12345"), false, some("my_race.zip")),
            ),
            (
                "lovelaceada_12_345_main-1.py",
                false,
                ("lovelaceada".to_owned(), some("12"), false, some("main.py")),
            ),
            (
                "lovelaceada_LATE_12_345_part-2.py",
                false,
                ("lovelaceada".to_owned(), some("12"), true, some("part-2.py")),
            ),
            ("李雷_7_assignsubmission_file_", true, ("李雷".to_owned(), some("7"), false, None)),
            ("ada_lovelace.zip", false, ("ada lovelace".to_owned(), None, false, None)),
            ("v1.2", true, ("v1.2".to_owned(), None, false, None)),
            ("a\u{7}b", true, ("a b".to_owned(), None, false, None)),
        ] {
            assert_eq!(parts(name, is_folder), expected, "{name}");
        }
    }

    #[test]
    fn a_key_is_a_safe_file_name() {
        for (name, expected) in [
            ("Ada Lovelace", "ada-lovelace"),
            ("../../etc/passwd", "etc-passwd"),
            ("Ünïcödé  Ñame", "ünïcödé-ñame"),
            ("李雷", "李雷"),
            ("🏎️", "student"),
            ("a\u{202e}b/c", "a-b-c"),
        ] {
            assert_eq!(key(name), expected);
        }
        assert!(key(&"é".repeat(500)).len() <= MAX_KEY);
        assert_eq!(normal("Doe, Jane-Ann"), "doejaneann");
    }
}

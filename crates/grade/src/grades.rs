//! The grades: computed from the plan and the results of its units.
//!
//! The grades contain no wall-clock time, no name of a machine and no random id, and every list has
//! a fixed order. If the units have the same results, `grades.json` therefore has the same bytes
//! with any number of jobs, and also after a run that was interrupted.

use crate::folder::ResultsFolder;
use crate::formula::{Combine, Formula, rounded};
use crate::plan::{Plan, PlannedStudent, PlannedWorld, Unit};
use crate::planning::NO_SUBMISSION;
use crate::unit_result::UnitResult;
use chicane_wire::{Better, ProgramVersion};
use serde::Serialize;
use std::collections::BTreeMap;

/// The results of units, by the hash of the unit.
pub type Results = BTreeMap<String, UnitResult>;

/// The grades of a class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Grades {
    /// The version of the format.
    pub format: u32,
    /// Name of the assignment.
    pub assignment: String,
    /// The version of the simulator.
    pub chicane: ProgramVersion,
    /// SHA-256 of the car's profile.
    pub profile_sha256: String,
    /// The worlds.
    pub worlds: Vec<GradedWorld>,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// How results become a grade.
    pub grading: Formula,
    /// The formula in sentences.
    pub formula: Vec<String>,
    /// Number of units.
    pub units: usize,
    /// Number of units that were not judged: they were not run yet, the simulator or the judging
    /// script failed, or the simulator does not support the evaluation.
    pub not_judged: usize,
    /// The students by rank, and with the same rank by name. Students without a rank come last:
    /// first the graded and incomplete ones, then the rejected ones, then those without a
    /// submission. Each of these groups is sorted by name.
    pub students: Vec<StudentGrade>,
}

/// A world.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GradedWorld {
    /// Name of the world.
    pub name: String,
    /// Display name.
    pub display: String,
    /// Whether a lower or a higher result is better.
    pub better: Better,
    /// SHA-256 of the world's files.
    pub sha256: String,
    /// SHA-256 of the judging script.
    pub judge_sha256: String,
}

/// What the grade is based on, or why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// All units were judged.
    Graded,
    /// The submission can't be run. The grade is 0.
    Rejected,
    /// There is no submission, and no grade.
    NoSubmission,
    /// Some units were not judged: they were not run yet, the simulator or the judging script
    /// failed, or the simulator does not support the evaluation. There is no grade.
    Incomplete,
}

/// A student with the grade.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StudentGrade {
    /// Key of the student: the name of the student in paths and links.
    pub key: String,
    /// Name of the student.
    pub name: String,
    /// Number in the learning platform or in the list of submissions; null if there is none.
    pub id: Option<String>,
    /// What the grade is based on, or why there is none.
    pub status: Status,
    /// Rank in the class. Students share a rank if they have the same grade, the same number of
    /// runs with a result, and the same sum of places in the worlds. Null unless the submission is
    /// graded and a run has a result.
    pub rank: Option<usize>,
    /// The grade; null if there is none.
    pub grade: Option<f64>,
    /// Name of the uploaded file or folder.
    pub submission: Option<String>,
    /// Whether the submission was late.
    pub late: bool,
    /// SHA-256 of the program.
    pub program_sha256: Option<String>,
    /// The command that starts the program.
    pub command: Option<String>,
    /// Why there is no program.
    pub problem: Option<String>,
    /// A remark for the teacher.
    pub remark: Option<String>,
    /// The results in each world; empty without a program.
    pub worlds: Vec<WorldGrade>,
}

/// The results of a student in one world.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorldGrade {
    /// Name of the world.
    pub world: String,
    /// The points of the world: the points of its runs, combined as the formula says.
    pub points: f64,
    /// The results of the seeds, combined in the same way as the points. Null if a seed has no
    /// result. With [`Combine::Best`], null only if no seed has a result.
    pub result: Option<f64>,
    /// The best result of a run; null if no run has a result.
    pub best: Option<f64>,
    /// The difference between the best and the worst result; null with fewer than two results.
    pub spread: Option<f64>,
    /// The units of the student in this world, one for each seed.
    pub seeds: Vec<UnitGrade>,
}

/// The result of one unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnitGrade {
    /// The seed.
    pub seed: u64,
    /// Hash of the unit.
    pub hash: String,
    /// How the run ended; `not judged` if there is no stored result.
    pub verdict: String,
    /// Why the run ended, why its result does not count, or why the unit was not run, in one line;
    /// null for a finished run with a result.
    pub reason: Option<String>,
    /// The number that the script recorded; null if it does not count.
    pub result: Option<f64>,
    /// The points of the run.
    pub points: f64,
    /// Simulated seconds of the run; null if there is no stored result, or if the time depends on
    /// the speed of the machine.
    pub elapsed_s: Option<f64>,
    /// Number of penalties of the judging script, at most 200; 0 if the run was stopped.
    pub penalties: usize,
    /// Number of commands of the program that were not allowed; 0 if the run was stopped.
    pub refused: u64,
    /// Number of commands that other clients sent during the run; 0 if the run was stopped.
    pub interference: u64,
    /// SHA-256 of the journal; null if there is no journal, or if it depends on the speed of the
    /// machine.
    pub journal_sha256: Option<String>,
    /// The file of the run; null if there is none.
    pub run: Option<String>,
}

/// Loads the results of all units that have one.
pub fn load_results(plan: &Plan, folder: &ResultsFolder) -> Results {
    let load = |unit: &Unit| Some((unit.hash.clone(), UnitResult::load(&folder.unit(&unit.hash), unit)?));
    plan.units.iter().filter_map(load).collect()
}

impl Grades {
    /// Computes the grades. `failures` has the reasons why units have no result, by the hash of the
    /// unit.
    pub fn new(plan: &Plan, results: &Results, failures: &BTreeMap<String, String>) -> Grades {
        let mut units: BTreeMap<&str, Vec<&Unit>> = BTreeMap::new();
        for unit in &plan.units {
            units.entry(&unit.student).or_default().push(unit);
        }
        let grade = |student: &PlannedStudent| {
            let units = units.get(student.key.as_str()).map_or(&[][..], Vec::as_slice);
            grade_student(plan, student, units, results, failures)
        };
        let mut students: Vec<StudentGrade> = plan.students.iter().map(grade).collect();
        rank(&mut students, plan);
        let worlds: Vec<(&str, Better)> = plan.worlds.iter().map(|w| (w.name.as_str(), w.better)).collect();
        let units = students.iter().flat_map(|s| &s.worlds).flat_map(|w| &w.seeds);
        Grades {
            format: crate::plan::FORMAT,
            assignment: plan.assignment.clone(),
            chicane: plan.chicane.clone(),
            profile_sha256: plan.profile.sha256.clone(),
            formula: plan.grading.sentences(&worlds),
            worlds: plan.worlds.iter().map(graded_world).collect(),
            seeds: plan.seeds.clone(),
            grading: plan.grading.clone(),
            units: plan.units.len(),
            not_judged: units.filter(|unit| !unit.is_judged()).count(),
            students,
        }
    }

    /// The text of `grades.json`.
    pub fn json(&self) -> Vec<u8> {
        // All map keys are text, so the value can always be written as JSON.
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        text
    }

    /// The grades of all students that have one.
    pub fn grades(&self) -> Vec<f64> {
        self.students.iter().filter_map(|student| student.grade).collect()
    }
}

impl UnitGrade {
    /// Whether the run was judged. Otherwise the run has not taken place yet, the simulator or the
    /// judging script failed, or the simulator does not support the evaluation. A run that was not
    /// judged does not count against the student.
    pub fn is_judged(&self) -> bool {
        !matches!(self.verdict.as_str(), NOT_JUDGED | "script error" | "unsupported" | "fault")
    }
}

/// The verdict of a unit without a stored result.
const NOT_JUDGED: &str = "not judged";

fn graded_world(world: &PlannedWorld) -> GradedWorld {
    GradedWorld {
        name: world.name.clone(),
        display: world.display.clone(),
        better: world.better,
        sha256: world.sha256.clone(),
        judge_sha256: world.judge_sha256.clone(),
    }
}

fn grade_student(
    plan: &Plan,
    student: &PlannedStudent,
    units: &[&Unit],
    results: &Results,
    failures: &BTreeMap<String, String>,
) -> StudentGrade {
    let worlds: Vec<WorldGrade> = plan
        .worlds
        .iter()
        .filter(|_| student.program.is_some())
        .map(|world| {
            let units = units.iter().filter(|unit| unit.world == world.name);
            let seeds = units.map(|unit| grade_unit(plan, world, unit, results, failures)).collect();
            grade_world(plan, world, seeds)
        })
        .collect();
    let is_complete = worlds.iter().flat_map(|world| &world.seeds).all(UnitGrade::is_judged);
    let status = match &student.problem {
        Some(problem) if problem == NO_SUBMISSION => Status::NoSubmission,
        Some(_) => Status::Rejected,
        None if is_complete => Status::Graded,
        None => Status::Incomplete,
    };
    let points: Vec<f64> = worlds.iter().map(|world| world.points).collect();
    let grade = match status {
        Status::Graded => Some(plan.grading.grade(&points, student.late)),
        Status::Rejected => Some(0.0),
        Status::NoSubmission | Status::Incomplete => None,
    };
    StudentGrade {
        key: student.key.clone(),
        name: student.name.clone(),
        id: student.id.clone(),
        status,
        rank: None,
        grade,
        submission: student.submission.clone(),
        late: student.late,
        program_sha256: student.program.as_ref().map(|program| program.identity.sha256.clone()),
        command: student.program.as_ref().map(|program| program.command.clone()),
        problem: student.problem.clone(),
        remark: student.remark.clone(),
        worlds,
    }
}

fn grade_world(plan: &Plan, world: &PlannedWorld, seeds: Vec<UnitGrade>) -> WorldGrade {
    let combine = plan.grading.seeds;
    let points: Vec<f64> = seeds.iter().map(|unit| unit.points).collect();
    let results: Vec<f64> = seeds.iter().filter_map(|unit| unit.result).collect();
    let is_complete = results.len() == seeds.len() || combine == Combine::Best;
    let worst = Combine::Worst.of(&results, world.better);
    let best = Combine::Best.of(&results, world.better);
    let spread = worst.zip(best).filter(|_| results.len() > 1).map(|(worst, best)| (worst - best).abs());
    WorldGrade {
        world: world.name.clone(),
        points: rounded(combine.of(&points, Better::Higher).unwrap_or(0.0), 6),
        result: combine.of(&results, world.better).filter(|_| is_complete).map(|result| rounded(result, 6)),
        best,
        spread: spread.map(|spread| rounded(spread, 6)),
        seeds,
    }
}

fn grade_unit(
    plan: &Plan,
    world: &PlannedWorld,
    unit: &Unit,
    results: &Results,
    failures: &BTreeMap<String, String>,
) -> UnitGrade {
    let Some(result) = results.get(&unit.hash) else {
        let why = failures.get(&unit.hash).cloned();
        return UnitGrade {
            seed: unit.seed,
            hash: unit.hash.clone(),
            verdict: NOT_JUDGED.to_owned(),
            reason: Some(why.unwrap_or_else(|| "this unit has not been run yet".to_owned())),
            result: None,
            points: 0.0,
            elapsed_s: None,
            penalties: 0,
            refused: 0,
            interference: 0,
            journal_sha256: None,
            run: None,
        };
    };
    let record = &result.record;
    let verdict = result.verdict.as_str();
    let counts = verdict == "finished" || (verdict == "timeout" && plan.grading.count_timeouts);
    let number = result.number().filter(|_| counts).map(|number| rounded(number, 6));
    let count = |key: &str| record[key]["count"].as_u64().unwrap_or(0);
    // If the wall-clock limit stopped the run, the simulated time and the counts depend on the
    // speed of the machine. They are then stored as null or 0, so that the same plan gives the same
    // grades on every machine.
    let was_stopped = verdict == "stopped";
    let repeats = !was_stopped && record["pace"] == "virtual";
    let repeated = |count: u64| if was_stopped { 0 } else { count };
    let no_number = (counts && number.is_none()).then(|| "the record is not a number".to_owned());
    let reason = match verdict {
        "finished" => no_number,
        "stopped" => record["reason"].as_str().map(str::to_owned),
        _ => Some(result.line.clone()),
    };
    UnitGrade {
        seed: unit.seed,
        hash: unit.hash.clone(),
        verdict: result.verdict.clone(),
        reason,
        result: number,
        points: number.map_or(0.0, |number| {
            rounded(plan.grading.points(&world.name, world.better, number, count("refused") > 0), 6)
        }),
        elapsed_s: record["elapsed_s"].as_f64().filter(|_| repeats).map(|time| rounded(time, 6)),
        penalties: if was_stopped { 0 } else { result.penalties.len() },
        refused: repeated(count("refused")),
        interference: repeated(count("interference")),
        journal_sha256: record["journal"]["sha256"].as_str().filter(|_| repeats).map(str::to_owned),
        run: result.run.as_ref().map(|_| unit.run_file()),
    }
}

/// Sorts the students and sets their ranks. The order is by grade, then by the number of runs with
/// a result, then by the sum of the student's places in the worlds. The place in a world is the
/// number of students with a better result there. Any result counts as better than none.
fn rank(students: &mut [StudentGrade], plan: &Plan) {
    let places = |student: &StudentGrade| -> usize {
        let place = |(i, world): (usize, &PlannedWorld)| {
            let own = student.worlds.get(i).and_then(|world| world.result);
            students
                .iter()
                .filter_map(|other| other.worlds.get(i)?.result)
                .filter(|other| match (own, world.better) {
                    (None, _) => true,
                    (Some(own), Better::Lower) => *other < own,
                    (Some(own), Better::Higher) => *other > own,
                })
                .count()
        };
        plan.worlds.iter().enumerate().map(place).sum()
    };
    let finished = |student: &StudentGrade| {
        student.worlds.iter().flat_map(|world| &world.seeds).filter(|unit| unit.result.is_some()).count()
    };
    let keys: Vec<_> = students
        .iter()
        .map(|student| {
            let is_ranked = student.status == Status::Graded && finished(student) > 0;
            let grade = student.grade.map(|grade| -rounded(grade * 100.0, 0) as i64);
            (!is_ranked, grade.unwrap_or(i64::MAX), usize::MAX - finished(student), places(student))
        })
        .collect();
    for (student, own) in students.iter_mut().zip(&keys) {
        student.rank = (!own.0).then(|| 1 + keys.iter().filter(|other| *other < own).count());
    }
    students.sort_by(|a, b| {
        let key = |student: &StudentGrade| {
            let group = match student.status {
                Status::Graded | Status::Incomplete => 0,
                Status::Rejected => 1,
                Status::NoSubmission => 2,
            };
            (student.rank.unwrap_or(usize::MAX), group)
        };
        (key(a), crate::names::normal(&a.name), &a.key).cmp(&(key(b), crate::names::normal(&b.name), &b.key))
    });
}

//! The commands of the program. Each command is one module. A module does not import the module of
//! another command, with one exception: `repeat` and `judge_run` call `evaluate::job`, because they
//! take the arguments of `chicane evaluate`.

pub(crate) mod backup;
pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod doctor;
pub(crate) mod evaluate;
pub(crate) mod explain;
pub(crate) mod grade;
pub(crate) mod grade_unit;
pub(crate) mod judge;
pub(crate) mod judge_run;
pub(crate) mod lap;
pub(crate) mod new;
pub(crate) mod package;
pub(crate) mod print;
pub(crate) mod publish;
pub(crate) mod records;
pub(crate) mod rejudge;
pub(crate) mod repeat;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod serve;
pub(crate) mod setup;
pub(crate) mod submit;
pub(crate) mod verify;
pub(crate) mod worlds;

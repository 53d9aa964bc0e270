use super::*;
use crate::outcome::Unsupported;
use chicane_wire::Outcome;

const NOT_FINISHED: Input = Input::Answered { finish: false };

/// A machine that has handled these inputs.
fn after(with_student: bool, inputs: &[Input]) -> Machine {
    let (mut machine, _) = Machine::begin(with_student);
    for input in inputs {
        machine.handle(input.clone());
    }
    machine
}

fn running(with_student: bool) -> Machine {
    let mut inputs = vec![Input::Placed, Input::JudgeUp, NOT_FINISHED, NOT_FINISHED];
    if with_student {
        inputs.push(Input::StudentUp);
    }
    let machine = after(with_student, &inputs);
    assert_eq!(machine.phase, Phase::Running);
    machine
}

#[test]
fn a_session_without_a_student_runs_from_begin_to_end() {
    let (mut m, first) = Machine::begin(false);
    assert_eq!(first, [Action::Enter(Phase::Initializing), Action::Place]);
    assert_eq!(m.handle(Input::Placed), [Action::StartJudge]);
    assert_eq!(m.handle(Input::JudgeUp), [Action::Call(Call::Load)]);
    assert_eq!(m.handle(NOT_FINISHED), [Action::Call(Call::Initialize)]);
    let go = [Action::Enter(Phase::Starting), Action::Run, Action::Enter(Phase::Running)];
    assert_eq!(m.handle(NOT_FINISHED), go);
    assert_eq!(m.handle(Input::Observed), [Action::Call(Call::Evaluate)]);
    assert_eq!(m.handle(Input::Observed), [], "one observation at a time");
    assert_eq!(m.handle(NOT_FINISHED), [Action::Go]);
    assert_eq!(m.handle(Input::Observed), [Action::Call(Call::Evaluate)]);
    assert_eq!(m.handle(Input::Answered { finish: true }), [Action::Halt, Action::EndJudge]);
    assert_eq!(m.handle(Input::JudgeGone), [Action::Enter(Phase::Ended), Action::Close]);
    assert_eq!(m.ending(), Some(&Ending::Finished));
}

#[test]
fn the_student_starts_before_time_runs_and_ends_before_the_session_is_closed() {
    let mut m = after(true, &[Input::Placed, Input::JudgeUp, NOT_FINISHED]);
    assert_eq!(m.handle(NOT_FINISHED), [Action::Enter(Phase::Starting), Action::StartStudent]);
    assert_eq!(m.handle(Input::StudentUp), [Action::Run, Action::Enter(Phase::Running)]);
    let stop = m.handle(Input::Stop(StopCause::Asked));
    assert_eq!(stop, [Action::Halt, Action::EndStudent, Action::EndJudge]);
    assert_eq!(m.handle(Input::JudgeGone), []);
    assert_ne!(m.phase, Phase::Ended);
    assert_eq!(m.handle(Input::StudentGone), [Action::Enter(Phase::Ended), Action::Close]);
}

#[test]
fn every_phase_can_be_stopped_and_fail() {
    let places: Vec<(&str, Vec<Input>)> = vec![
        ("before the world is ready", vec![]),
        ("before the container is up", vec![Input::Placed]),
        ("while it loads", vec![Input::Placed, Input::JudgeUp]),
        ("while it initialises", vec![Input::Placed, Input::JudgeUp, NOT_FINISHED]),
        ("while the program starts", vec![Input::Placed, Input::JudgeUp, NOT_FINISHED, NOT_FINISHED]),
        (
            "between observations",
            vec![Input::Placed, Input::JudgeUp, NOT_FINISHED, NOT_FINISHED, Input::StudentUp],
        ),
        (
            "while it judges",
            vec![
                Input::Placed,
                Input::JudgeUp,
                NOT_FINISHED,
                NOT_FINISHED,
                Input::StudentUp,
                Input::Observed,
            ],
        ),
    ];
    let endings = [
        (Input::Stop(StopCause::Asked), Ending::Stopped(StopCause::Asked)),
        (Input::Stop(StopCause::Shutdown), Ending::Stopped(StopCause::Shutdown)),
        (Input::Stop(StopCause::WorldLost), Ending::Stopped(StopCause::WorldLost)),
        (Input::Fault(ScriptFault::CpuTime), Ending::Script(ScriptFault::CpuTime)),
        (Input::NotPlaced("x".into()), Ending::Stopped(StopCause::NotPlaced("x".into()))),
        (Input::JudgeNotUp("x".into()), Ending::Stopped(StopCause::NoJudge("x".into()))),
        (Input::StudentNotUp("x".into()), Ending::Stopped(StopCause::NoStudent("x".into()))),
    ];
    for (name, inputs) in &places {
        for (input, ending) in &endings {
            let mut m = after(true, inputs);
            let mut actions = m.handle(input.clone());
            assert_eq!(actions[0], Action::Halt, "{name}");
            actions.extend(m.handle(Input::StudentGone));
            actions.extend(m.handle(Input::JudgeGone));
            assert_eq!(m.phase, Phase::Ended, "{name}: {input:?}");
            assert_eq!(m.ending(), Some(ending), "{name}");
            assert_eq!(actions.iter().filter(|a| **a == Action::Close).count(), 1, "{name}: closed once");
        }
    }
}

#[test]
fn the_first_reason_for_an_ending_counts() {
    let mut m = running(true);
    m.handle(Input::LimitPassed);
    for later in [
        Input::Stop(StopCause::Asked),
        Input::Fault(ScriptFault::Output),
        Input::Answered { finish: true },
        Input::Observed,
        Input::LimitPassed,
    ] {
        assert_eq!(m.handle(later), []);
    }
    assert_eq!(m.ending(), Some(&Ending::TimedOut));
}

#[test]
fn finish_in_initialize_ends_the_session_before_the_student_starts() {
    let mut m = after(true, &[Input::Placed, Input::JudgeUp, NOT_FINISHED]);
    assert_eq!(m.handle(Input::Answered { finish: true }), [Action::Halt, Action::EndJudge]);
    assert_eq!(m.ending(), Some(&Ending::Finished));
}

#[test]
fn a_judge_that_comes_up_after_the_end_changes_nothing() {
    let mut m = after(false, &[Input::Placed]);
    assert_eq!(
        m.handle(Input::Stop(StopCause::Asked)),
        [Action::Halt, Action::Enter(Phase::Ended), Action::Close]
    );
    // The supervisor itself ends a judge that comes up too late. The machine stays in its phase.
    assert_eq!(m.handle(Input::JudgeUp), []);
    assert_eq!(m.handle(Input::JudgeGone), []);
    assert_eq!(m.phase, Phase::Ended);
}

#[test]
fn an_answer_without_a_call_is_a_fault() {
    let mut m = running(false);
    m.handle(NOT_FINISHED);
    assert!(matches!(m.ending(), Some(Ending::Script(ScriptFault::Channel(_)))));
}

#[test]
fn the_time_limit_counts_only_in_phase_running() {
    let mut m = after(true, &[Input::Placed, Input::JudgeUp, NOT_FINISHED, NOT_FINISHED]);
    assert_eq!(m.phase, Phase::Starting);
    assert_eq!(m.handle(Input::LimitPassed), []);
    m.handle(Input::StudentUp);
    assert_eq!(m.handle(Input::LimitPassed), [Action::Halt, Action::EndStudent, Action::EndJudge]);
}

#[test]
fn an_unsupported_evaluation_starts_nothing() {
    let why = Ending::Unsupported(Unsupported::Version(2));
    let (m, actions) = Machine::refuse(why.clone());
    assert_eq!((actions, m.phase), (vec![Action::Close], Phase::Ended));
    assert_eq!(m.ending(), Some(&why));
}

#[test]
fn every_ending_has_an_outcome_and_a_distinct_reason_of_one_line() {
    let faults = [
        ScriptFault::Raised("ValueError: x".into()),
        ScriptFault::Exited("SystemExit: 3".into()),
        ScriptFault::Ended(3),
        ScriptFault::Ended(-9),
        ScriptFault::CpuTime,
        ScriptFault::WallTime,
        ScriptFault::Memory(None),
        ScriptFault::Processes(Some("OSError: x".into())),
        ScriptFault::Files(None),
        ScriptFault::Output,
        ScriptFault::Channel(ChannelFault::Closed),
    ];
    let mut reasons: Vec<String> = Vec::new();
    for fault in faults {
        let ending = Ending::Script(fault);
        assert_eq!(ending.outcome(), Outcome::ScriptError);
        reasons.extend(ending.reason(180.0));
    }
    for cause in [StopCause::Asked, StopCause::Shutdown, StopCause::Restarted, StopCause::WorldLost] {
        let ending = Ending::Stopped(cause);
        assert_eq!(ending.outcome(), Outcome::Stopped);
        reasons.extend(ending.reason(180.0));
    }
    assert_eq!(Ending::Finished.reason(180.0), None);
    assert_eq!(Ending::TimedOut.reason(180.0).as_deref(), Some("the time limit of 180 s passed"));
    let all = reasons.len();
    reasons.sort();
    reasons.dedup();
    assert_eq!(reasons.len(), all, "every reason is distinct");
    assert!(reasons.iter().all(|r| !r.contains('\n') && !r.is_empty()));
}

use super::*;
use chicane_jail::wake::notes;

/// A host that panics in `place`, and in `halt` if `halt_panics`.
#[derive(Default)]
struct PanickingHost {
    halt_panics: bool,
    halted: u32,
}

impl SessionHost for PanickingHost {
    fn place(&mut self) -> Result<(Statics, Observation), SessionHostError> {
        panic!("panic in place")
    }
    fn run(&mut self) {}
    fn resume(&mut self) {}
    fn halt(&mut self) -> f64 {
        self.halted += 1;
        assert!(!self.halt_panics, "panic in halt");
        1.5
    }
    fn act(&mut self, _: JudgeAct) -> Result<(), SessionHostError> {
        Ok(())
    }
    fn enter(&mut self, _: Phase) {}
    fn publish(&mut self, _: f64, _: EvaluationKind) {}
    fn time(&mut self, _: f64) {}
    fn record(&mut self, _: &Value) {}
    fn publish_run(&mut self, _: f64, _: RunEvent) {}
    fn show_run(&mut self, _: RunState) {}
    fn serve_student(&mut self, _: Vec<TcpListener>) {}
    fn pace_student(&mut self, _: PacedProgram) -> Result<(), SessionHostError> {
        Ok(())
    }
    fn show_program(&mut self, _: &ProgramIdentity) {}
    fn take_clock(&mut self) {}
    fn note(&mut self, _: &Step) {}
}

#[test]
fn a_panic_of_the_host_ends_the_session() {
    let (_send, receive) = notes().expect("notes");
    let spec = SessionSpec {
        student: None,
        unsupported: None,
        wall_limit_s: 120.0,
        student_command: None,
        steps: None,
    };
    for (halt_panics, time_s) in [(false, 1.5), (true, 0.0)] {
        let mut host = PanickingHost { halt_panics, halted: 0 };
        let end = supervise(&spec, None, &mut host, &receive);
        assert_eq!(end.ending, Ending::Stopped(StopCause::Unsupervised));
        assert_eq!((end.time_s, end.record, host.halted), (time_s, Value::Null, 1));
    }
}

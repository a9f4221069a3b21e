//! The state that sessions keep from run to run.

mod support;

use mnn_c::{ElementType, ErrorKind, Format, Interpreter, InterpreterOptions, ScheduleConfig, Session};
use support::*;

fn open_kept() -> Session {
    let net = Interpreter::from_file(net_of_tests("kept.mnn")).unwrap();
    net.create_session(&ScheduleConfig::new()).unwrap()
}

/// Runs one token after `past` others and returns the results of the causal attention.
fn token(session: &mut Session, number: f32, past: usize) -> Vec<f32> {
    let keys = (past + 1) as i32;
    for (name, shape) in [
        ("q", [1, 1, 4, 8]),
        ("k", [1, 1, 2, 8]),
        ("v", [1, 1, 2, 5]),
        ("mask", [2, 1, 1, keys]),
    ] {
        session.input_mut(name).unwrap().resize(&shape).unwrap();
    }
    session.resize().unwrap();
    for (name, count) in [("q", 32), ("k", 16), ("v", 10)] {
        let values: Vec<f32> = (0..count).map(|i| (number * (i + 1) as f32).sin()).collect();
        session
            .input_mut(name)
            .unwrap()
            .write(&values, Format::Nchw)
            .unwrap();
    }
    session.run().unwrap();
    session.output("causal").unwrap().read(Format::Nchw).unwrap()
}

#[test]
fn a_conversation_goes_on_in_another_session() {
    let (mut one, mut other) = (open_kept(), open_kept());
    assert_eq!(one.state().unwrap().operators, 3);
    one.set_state_type(ElementType::Float32).unwrap();
    for past in 0..3 {
        token(&mut one, 0.3 + past as f32, past);
    }
    let state = one.state().unwrap();
    assert_eq!(
        (state.length, state.capacity, state.element_type),
        (3, 256, ElementType::Float32)
    );
    assert!(state.erasable && state.bytes > 0);
    let saved = one.save_state().unwrap();
    let expected = token(&mut one, 7.0, 3);

    token(&mut other, 9.0, 0); // plans the session; load_state() replaces its state
    other.load_state(&saved).unwrap();
    assert_eq!(token(&mut other, 7.0, 3), expected);
    other.erase_state(3..4).unwrap();
    assert_eq!(token(&mut other, 7.0, 3), expected);
    other.reset_state().unwrap();
    assert_eq!(other.state().unwrap().length, 0);
    one.copy_state_to(&mut other).unwrap();
    assert_eq!(token(&mut other, 5.0, 4), token(&mut one, 5.0, 4));
    other.reserve_state(1000).unwrap();
    assert_eq!(other.state().unwrap().capacity, 1024);

    let kind = |result: mnn_c::Result<()>| result.unwrap_err().kind();
    assert_eq!(kind(other.load_state(&saved[..10])), ErrorKind::Truncated);
    assert_eq!(kind(other.erase_state(0..99)), ErrorKind::BadRange);
    assert_eq!(
        kind(other.set_state_type(ElementType::Float16)),
        ErrorKind::BadState
    );
    assert_eq!(other.state().unwrap().length, 5);
}

#[test]
fn the_factor_of_scores_is_given_with_the_net() {
    let load = |factor: f32| {
        InterpreterOptions::new()
            .attention_scale(factor)
            .load_file(net_of_tests("kept.mnn"))
    };
    let results = |mut session: Session| -> Vec<Vec<f32>> {
        (0..3)
            .map(|past| token(&mut session, 0.3 + past as f32, past))
            .collect()
    };
    let of = |factor: f32| {
        let net = load(factor).unwrap();
        results(net.create_session(&ScheduleConfig::new()).unwrap())
    };
    assert_eq!(of(0.0), results(open_kept()));
    // Scores without a difference give the mean of the values.
    let first = &of(1e-9)[2][..5];
    for (i, got) in first.iter().enumerate() {
        let value = |past: i32| ((0.3 + past as f32) * (i + 1) as f32).sin();
        let mean = (value(0) + value(1) + value(2)) / 3.0;
        assert!((got - mean).abs() < 1e-6, "{got}, wanted {mean}");
    }
    assert_eq!(load(f32::NAN).unwrap_err().kind(), ErrorKind::BadRange);
}

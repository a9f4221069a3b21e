//! Threads: sessions that run at the same time, one session that many threads read.

mod support;

use mnn_c::{ErrorKind, Format, Interpreter, Mapped, MappedMut, ScheduleConfig, Session, Tensor, TensorMut};
use support::*;

#[test]
fn what_crosses_threads() {
    fn crosses<T: Send + Sync>() {}
    crosses::<Interpreter>();
    crosses::<Session>();
    crosses::<mnn_c::CancelToken>();
    crosses::<mnn_c::ResizeOptions>();
    crosses::<Tensor<'_>>();
    crosses::<TensorMut<'_>>();
    crosses::<Mapped<'_, f32>>();
    crosses::<MappedMut<'_, f32>>();
    crosses::<ScheduleConfig>();
    crosses::<mnn_c::InterpreterOptions>();
    crosses::<mnn_c::Error>();
}

#[test]
fn sessions_run_at_the_same_time() {
    let net = open();
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let net = &net;
            scope.spawn(move || {
                let config = ScheduleConfig::new().threads(1 + worker % 2);
                for round in 0..5 {
                    let mut session = net.create_session(&config).unwrap();
                    let seed = 100 * worker + round;
                    assert_eq!(
                        classify(&mut session, &pixels(PIXELS, seed)).unwrap(),
                        reference(seed)
                    );
                }
            });
        }
    });
}

#[test]
fn a_session_moves_between_threads() {
    let mut session = open_session();
    for seed in 0..3 {
        let run = move || {
            let scores = classify(&mut session, &pixels(PIXELS, seed)).unwrap();
            (session, scores)
        };
        let (back, scores) = std::thread::spawn(run).join().unwrap();
        session = back;
        assert_eq!(scores, reference(seed));
    }
}

#[test]
fn many_threads_ask_one_session() {
    let net = open();
    let mut session = net.create_session(&ScheduleConfig::new()).unwrap();
    let wanted = classify(&mut session, &pixels(PIXELS, 30)).unwrap();
    let output = session.output("scores").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..50 {
                    assert_eq!(output.read::<f32>(Format::Nchw).unwrap(), wanted);
                    assert_eq!(session.output_at(0).unwrap().name().unwrap(), "scores");
                    assert!(session.op(session.op_count().unwrap() - 1).is_ok());
                    assert!(session.statistics().is_ok() && session.flops().is_ok());
                    assert!(!session.needs_resize().unwrap());
                    assert_eq!(net.inputs().unwrap()[0].name, "image");
                    assert_fails(session.input("no"), ErrorKind::NotFound);
                }
            });
        }
    });
}

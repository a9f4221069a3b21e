//! Threads: sessions side by side, one session asked by many, interrupts.

mod support;

use mnn_c::{
    ErrorKind, Format, Interpreter, InterruptHandle, Mapped, MappedMut, ScheduleConfig, Session, Tensor,
    TensorMut,
};
use std::sync::atomic::{AtomicBool, Ordering};
use support::*;

#[test]
fn what_crosses_threads() {
    fn crosses<T: Send + Sync>() {}
    crosses::<Interpreter>();
    crosses::<Session>();
    crosses::<InterruptHandle>();
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
                    assert!(session.memory().is_ok() && session.flops().is_ok());
                    assert!(!session.needs_resize().unwrap());
                    assert_eq!(net.inputs().unwrap()[0].name, "image");
                    assert_fails(session.input("no"), ErrorKind::NotFound);
                }
            });
        }
    });
}

/// Runs, while another thread interrupts without a pause.
fn run_until_cancelled(session: &mut Session) -> mnn_c::Result<()> {
    let handle = session.interrupt_handle();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                handle.interrupt().unwrap();
            }
        });
        let mut last = Ok(());
        for _ in 0..5000 {
            last = session.run();
            if last.is_err() {
                break;
            }
        }
        done.store(true, Ordering::Relaxed);
        last
    })
}

#[test]
fn an_interrupt_from_another_thread() {
    const BATCH: usize = 64;
    let mut session = open_session();
    session
        .input_mut("image")
        .unwrap()
        .resize(&[BATCH as i32, 1, 8, 8])
        .unwrap();
    session.resize().unwrap();
    let wanted = classify(&mut session, &pixels(BATCH * PIXELS, 40)).unwrap();
    assert_fails(run_until_cancelled(&mut session), ErrorKind::Cancelled);
    assert_fails(
        session.output("scores").unwrap().read::<f32>(Format::Nchw),
        ErrorKind::BadState,
    );
    session.run().unwrap();
    assert_eq!(
        session
            .output("scores")
            .unwrap()
            .read::<f32>(Format::Nchw)
            .unwrap(),
        wanted
    );
}

#[test]
fn interrupts_while_the_session_goes() {
    for _ in 0..20 {
        let session = open_session();
        let handles = [session.interrupt_handle(), session.interrupt_handle()];
        let gone = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for handle in &handles {
                scope.spawn(|| {
                    while !gone.load(Ordering::Relaxed) {
                        handle.interrupt().unwrap();
                    }
                });
            }
            drop(session);
            gone.store(true, Ordering::Relaxed);
        });
        handles[0].interrupt().unwrap();
    }
}

#[test]
fn an_interrupt_without_a_run_changes_nothing() {
    let mut session = open_session();
    session.interrupt_handle().interrupt().unwrap();
    assert_eq!(
        classify(&mut session, &pixels(PIXELS, 41)).unwrap(),
        reference(41)
    );
}

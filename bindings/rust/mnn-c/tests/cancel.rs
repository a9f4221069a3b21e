//! Tokens are never lost, and are accepted by loading, creation, resizing and running.

mod support;

use mnn_c::{
    CancelToken, ErrorKind, Format, InterpreterOptions, LogLevel, OpAction, ResizeOptions, RunOptions,
    ScheduleConfig,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use support::*;

#[test]
fn a_trigger_before_the_call_lasts_until_it_is_reset() {
    let bytes = model_bytes();
    let net = open();
    let mut session = open_session();
    let token = CancelToken::new().unwrap();
    let load = || InterpreterOptions::new().cancel(&token);
    let config = ScheduleConfig::new().cancel(&token);
    let resize = ResizeOptions::new().cancel(&token);
    for seed in 0..3 {
        token.trigger();
        token.trigger();
        for _ in 0..2 {
            assert_fails(load().load_file(digits("digits.mnn")), ErrorKind::Cancelled);
            assert_fails(load().load_bytes(&bytes), ErrorKind::Cancelled);
            assert_fails(load().load_owner(bytes.clone()), ErrorKind::Cancelled);
            assert_fails(net.create_session(&config), ErrorKind::Cancelled);
            assert_fails(session.resize_with(&resize), ErrorKind::Cancelled);
            assert_fails(
                session.run_with(RunOptions::new().cancel(&token)),
                ErrorKind::Cancelled,
            );
        }
        // Calls without the token are not affected.
        assert_eq!(
            classify(&mut session, &pixels(PIXELS, seed)).unwrap(),
            reference(seed)
        );
        token.reset();
        token.reset();
        session.resize_with(&resize).unwrap();
        session.run_with(RunOptions::new().cancel(&token)).unwrap();
        let net = load().load_file(digits("digits.mnn")).unwrap();
        let mut other = net.create_session(&config).unwrap();
        assert_eq!(
            classify(&mut other, &pixels(PIXELS, seed)).unwrap(),
            reference(seed)
        );
    }
}

#[test]
fn a_cancelled_load_keeps_no_closure() {
    let token = CancelToken::new().unwrap();
    token.trigger();
    let kept = Arc::new(());
    let inside = kept.clone();
    let options = InterpreterOptions::new()
        .cancel(&token)
        .log(LogLevel::Debug, move |_, _| {
            let _ = &inside;
        });
    assert_fails(options.load_file(digits("digits.mnn")), ErrorKind::Cancelled);
    assert_eq!(Arc::strong_count(&kept), 1);
}

#[test]
fn a_cancelled_resize_can_be_made_up_for() {
    let mut session = open_session();
    let token = CancelToken::new().unwrap();
    let options = ResizeOptions::new().cancel(&token);
    session.input_mut("image").unwrap().resize(&[3, 1, 8, 8]).unwrap();
    token.trigger();
    assert_fails(session.resize_with(&options), ErrorKind::Cancelled);
    assert!(session.needs_resize().unwrap());
    token.reset();
    session.resize_with(&options).unwrap();
    assert_eq!(
        classify(&mut session, &pixels(3 * PIXELS, 1)).unwrap().len(),
        3 * CLASSES
    );
}

#[test]
fn a_reset_does_not_save_the_run_under_way() {
    let mut session = open_session();
    let token = CancelToken::new().unwrap();
    for reset in [false, true] {
        let mut calls = 0;
        let options = RunOptions::new().cancel(&token).before(|_| {
            calls += 1;
            token.trigger();
            if reset {
                token.reset();
            }
            OpAction::Run
        });
        assert_fails(session.run_with(options), ErrorKind::Cancelled);
        assert_eq!(calls, 1);
        token.reset();
    }
    assert_fails(
        session.output("scores").unwrap().read::<f32>(Format::Nchw),
        ErrorKind::BadState,
    );
    session.run_with(RunOptions::new().cancel(&token)).unwrap();
}

#[test]
fn a_call_keeps_its_token() {
    let mut session = open_session();
    let token = CancelToken::new().unwrap();
    let options = RunOptions::new().cancel(&token);
    let mut last = Some(token);
    let mut calls = 0;
    let options = options.before(|_| {
        calls += 1;
        drop(last.take());
        OpAction::Run
    });
    session.run_with(options).unwrap();
    assert!(calls > 1);
    // The options hold the only token, and the call destroys it.
    for trigger in [false, true] {
        let token = CancelToken::new().unwrap();
        let options = RunOptions::new().cancel(&token);
        if trigger {
            token.trigger();
        }
        drop(token);
        assert_eq!(session.run_with(options).is_err(), trigger);
    }
}

#[test]
fn clones_are_one_token() {
    let mut session = open_session();
    let token = CancelToken::new().unwrap();
    let clone = token.clone();
    let options = || RunOptions::new().cancel(&clone);
    token.trigger();
    drop(token);
    assert_fails(session.run_with(options()), ErrorKind::Cancelled);
    clone.clone().reset();
    session.run_with(options()).unwrap();
}

/// A single trigger ends the run at any moment around its begin; without it the runs would take hours.
#[test]
fn one_trigger_from_another_thread_is_enough() {
    let mut session = open_loop(0, i32::MAX);
    let token = CancelToken::new().unwrap();
    for round in 0..200 {
        let barrier = Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                barrier.wait();
                for _ in 0..round * 20 {
                    std::hint::spin_loop();
                }
                token.trigger();
            });
            barrier.wait();
            assert_fails(
                session.run_with(RunOptions::new().cancel(&token)),
                ErrorKind::Cancelled,
            );
        });
        token.reset();
    }
}

#[test]
fn one_token_ends_many_runs() {
    let token = CancelToken::new().unwrap();
    let begun = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut session = open_loop(1, i32::MAX);
                let mut first = true;
                let options = RunOptions::new().cancel(&token).before(|_| {
                    if std::mem::take(&mut first) {
                        begun.fetch_add(1, Ordering::SeqCst);
                    }
                    OpAction::Run
                });
                assert_fails(session.run_with(options), ErrorKind::Cancelled);
            });
        }
        while begun.load(Ordering::SeqCst) < 3 {
            std::thread::yield_now();
        }
        token.trigger();
    });
}

#[test]
fn handles_are_printed_not_followed() {
    let token = CancelToken::new().unwrap();
    let config = ScheduleConfig::new().cancel(&token);
    let net = open();
    let mut session = net.create_session(&config).unwrap();
    let options = RunOptions::new().cancel(&token).before(|_| OpAction::Run);
    let load = InterpreterOptions::new().cancel(&token);
    let texts = [
        format!("{token:?}"),
        format!("{config:?}"),
        format!("{net:?}"),
        format!("{options:?}"),
        format!("{load:?}"),
        format!("{:?}", session.input_at(0).unwrap()),
        format!("{:?}", session.input_at_mut(0).unwrap()),
        format!("{session:?}"),
    ];
    assert!(texts.iter().all(|text| text.contains("handle: 0x")), "{texts:?}");
}

//! Closures that the library calls: their arguments, their results, and their panics.

mod support;

use mnn_c::{
    ErrorKind, Format, Interpreter, InterpreterOptions, LogLevel, OpAction, OpCall, RunOptions,
    RuntimeConfig, ScheduleConfig, Session,
};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use support::*;

fn written(seed: u32) -> Session {
    let mut session = open_session();
    session
        .input_mut("image")
        .unwrap()
        .write(&pixels(PIXELS, seed), Format::Nchw)
        .unwrap();
    session
}

fn scores(session: &Session) -> Vec<f32> {
    session.output("scores").unwrap().read(Format::Nchw).unwrap()
}

#[test]
fn closures_see_every_operator() {
    let mut session = written(1);
    let caller = std::thread::current().id();
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut last = Vec::new();
    let options = RunOptions::new()
        .before(|call| {
            assert_eq!(std::thread::current().id(), caller);
            assert!(call.session().op_count().unwrap() > 0);
            if call.op().type_name != "Copy" {
                before.push(call.op().name.into_owned());
            }
            OpAction::Run
        })
        .after(|call| {
            if call.op().type_name != "Copy" {
                after.push(call.op().name.into_owned());
            }
            for tensor in call.tensors() {
                assert!(tensor.name().is_ok());
                if tensor.element_count().unwrap() == CLASSES {
                    last = tensor.read::<f32>(Format::Nchw).unwrap();
                }
            }
            OpAction::Run
        });
    session.run_with(options).unwrap();
    let count = session.op_count().unwrap();
    let names: Vec<_> = (0..count)
        .map(|i| session.op(i).unwrap().name.into_owned())
        .collect();
    assert_eq!(before, names);
    assert_eq!(after, names);
    assert_eq!(scores(&session), reference(1));
    assert_eq!(last, reference(1));
}

#[test]
fn without_closures_it_is_a_run() {
    let mut session = written(2);
    session.run_with(RunOptions::new()).unwrap();
    assert_eq!(scores(&session), reference(2));
}

#[test]
fn answers() {
    let mut session = written(3);
    let mut skipped = 0;
    let skip = |_: &OpCall<'_>| {
        skipped += 1;
        OpAction::Skip
    };
    session.run_with(RunOptions::new().before(skip)).unwrap();
    assert!(skipped > 0);
    let mut calls = 0;
    let mut stop = |_: &OpCall<'_>| {
        calls += 1;
        OpAction::Stop
    };
    assert_fails(
        session.run_with(RunOptions::new().before(&mut stop)),
        ErrorKind::CallbackStop,
    );
    assert_fails(
        session.run_with(RunOptions::new().after(&mut stop)),
        ErrorKind::CallbackStop,
    );
    assert_eq!(calls, 2);
    assert_fails(
        session.run_with(RunOptions::new().after(|_| OpAction::Skip)),
        ErrorKind::InvalidValue,
    );
    let sentence = assert_fails(
        session.run_with(RunOptions::new().before(|_| OpAction::Other(77))),
        ErrorKind::InvalidValue,
    );
    assert!(sentence.contains("77"), "{sentence}");
    session.run().unwrap();
    assert_eq!(scores(&session), reference(3));
}

#[test]
fn a_panic_of_a_closure_goes_on_behind_the_run() {
    let mut session = written(4);
    for after in [false, true] {
        let mut calls = 0;
        let mut closure = |_: &OpCall<'_>| -> OpAction {
            calls += 1;
            panic!("out of the run");
        };
        let result = catch_unwind(AssertUnwindSafe(|| match after {
            false => session.run_with(RunOptions::new().before(&mut closure)),
            true => session.run_with(RunOptions::new().after(&mut closure)),
        }));
        assert_eq!(panic_text(result), "out of the run");
        assert_eq!(calls, 1);
        session.run().unwrap();
        assert_eq!(scores(&session), reference(4));
    }
}

#[test]
fn runs_inside_of_closures_of_runs() {
    let mut outer = written(5);
    let mut inner = written(6);
    let mut rounds = 0;
    let mut closure = |_: &OpCall<'_>| {
        let result = catch_unwind(AssertUnwindSafe(|| {
            inner.run_with(RunOptions::new().before(|_| panic!("inner")))
        }));
        assert_eq!(panic_text(result), "inner");
        inner.run().unwrap();
        rounds += 1;
        OpAction::Run
    };
    outer.run_with(RunOptions::new().before(&mut closure)).unwrap();
    assert!(rounds > 0);
    assert_eq!(scores(&outer), reference(5));
    assert_eq!(scores(&inner), reference(6));
}

/// A panic that waits for the end of its run is not raised by calls in the closures of the run.
#[test]
fn calls_in_closures_do_not_raise_the_panics_of_the_run() {
    let panics = Arc::new(AtomicBool::new(false));
    let raises = panics.clone();
    let runtime = RuntimeConfig::new()
        .threads(2)
        .parallel_for(move |_, _| assert!(!raises.load(Ordering::SeqCst), "no threads today"))
        .create()
        .unwrap();
    let config = ScheduleConfig::new().runtime(&runtime);
    let mut outer = open().create_session(&config).unwrap();
    outer.input_mut("image").unwrap().resize(&[48, 1, 8, 8]).unwrap();
    outer.resize().unwrap();
    let mut inner = written(1);
    let (begun, over) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let before = |_: &OpCall<'_>| {
        begun.fetch_add(1, Ordering::SeqCst);
        OpAction::Run
    };
    let after = |_: &OpCall<'_>| {
        inner
            .bind_input("image", pixels(PIXELS, 6), Format::Nchw)
            .unwrap();
        over.fetch_add(1, Ordering::SeqCst);
        OpAction::Run
    };
    panics.store(true, Ordering::SeqCst);
    let result = catch_unwind(AssertUnwindSafe(|| {
        outer.run_with(RunOptions::new().before(before).after(after))
    }));
    assert_eq!(panic_text(result), "no threads today");
    let begun = begun.load(Ordering::SeqCst);
    assert!(begun > 1);
    assert_eq!(over.load(Ordering::SeqCst), begun);
    inner.run().unwrap();
    assert_eq!(scores(&inner), reference(6));
}

/// During the run only the thread of the closure reads the session; functions that never wait work on every thread.
#[test]
fn other_threads_find_a_running_session_busy() {
    let mut session = written(7);
    let mut calls = 0;
    let closure = |call: &OpCall<'_>| {
        calls += 1;
        let session = call.session();
        let tensors = call.tensors();
        assert!(session.op(0).is_ok() && session.flops().is_ok() && session.cache().is_ok());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert_fails(session.op_count(), ErrorKind::Busy);
                assert_fails(session.op(0), ErrorKind::Busy);
                assert_fails(session.flops(), ErrorKind::Busy);
                assert_fails(session.cache(), ErrorKind::Busy);
                assert_fails(session.output_at(0).unwrap().shape(), ErrorKind::Busy);
                let read = session.input_at(0).unwrap().read::<f32>(Format::Nchw);
                let sentence = assert_fails(read, ErrorKind::Busy);
                assert!(sentence.contains("mnn_session_run_with_options"), "{sentence}");
                for tensor in &tensors {
                    assert_fails(tensor.byte_size(Format::Nchw), ErrorKind::Busy);
                }
                assert_eq!(session.output_at(0).unwrap().name().unwrap(), "scores");
                assert!(!session.needs_resize().unwrap());
                assert!(session.statistics().is_ok() && session.properties().is_ok());
            });
        });
        OpAction::Run
    };
    session.run_with(RunOptions::new().before(closure)).unwrap();
    assert!(calls > 0);
    assert_eq!(scores(&session), reference(7));
}

/// Counts when it is dropped.
struct Token(Arc<AtomicUsize>);

impl Drop for Token {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn messages() {
    let bytes = model_bytes();
    let book = Arc::new(Mutex::new(Vec::new()));
    let writer = book.clone();
    let log = move |level, message: &str| writer.lock().unwrap().push((level, message.to_string()));
    let net = InterpreterOptions::new()
        .log(LogLevel::Debug, log)
        .load_bytes(&bytes)
        .unwrap();
    drop(net);
    let book = Arc::try_unwrap(book)
        .expect("the closure is gone")
        .into_inner()
        .unwrap();
    assert!(!book.is_empty());
    assert!(book.iter().all(|(_, message)| !message.is_empty()));
    // One message is about the load and its time.
    let loads = book.iter().filter(|(level, _)| *level == LogLevel::Info);
    assert_eq!(loads.count(), 1, "{book:?}");
    let log = |level, message: &str| panic!("{level:?} {message}");
    InterpreterOptions::new()
        .log(LogLevel::Error, log)
        .load_bytes(&bytes)
        .unwrap();
}

#[test]
fn a_log_closure_may_run_sessions() {
    let seen = Arc::new(AtomicUsize::new(0));
    let count = seen.clone();
    let net = InterpreterOptions::new()
        .log(LogLevel::Debug, move |_, _| {
            let scores = classify(&mut open_session(), &pixels(PIXELS, 8)).unwrap();
            assert_eq!(scores.len(), CLASSES);
            count.fetch_add(1, Ordering::SeqCst);
        })
        .load_file(digits("digits.mnn"))
        .unwrap();
    let loaded = seen.load(Ordering::SeqCst);
    assert!(loaded > 0);
    let mut session = net.create_session(&ScheduleConfig::new()).unwrap();
    assert!(seen.load(Ordering::SeqCst) > loaded);
    assert_eq!(classify(&mut session, &pixels(PIXELS, 8)).unwrap(), reference(8));
}

#[test]
fn a_log_closure_lives_as_long_as_it_is_needed() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let options = |dropped: &Arc<AtomicUsize>| {
        let token = Token(dropped.clone());
        InterpreterOptions::new().log(LogLevel::Debug, move |_, _| {
            let _ = &token;
        })
    };
    let net = options(&dropped).load_file(digits("digits.mnn")).unwrap();
    let session = net.create_session(&ScheduleConfig::new()).unwrap();
    drop(net);
    assert_eq!(dropped.load(Ordering::SeqCst), 0);
    drop(session);
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
    assert_fails(
        options(&dropped).load_file("no/such/file.mnn"),
        ErrorKind::FileNotExist,
    );
    assert_fails(options(&dropped).load_file("zero\0byte"), ErrorKind::InvalidValue);
    assert_eq!(dropped.load(Ordering::SeqCst), 3);
    drop(options(&dropped));
    assert_eq!(dropped.load(Ordering::SeqCst), 4);
    let log = InterpreterOptions::new().log(LogLevel::Other(77), |_, _| {});
    assert_fails(log.load_bytes(&model_bytes()), ErrorKind::InvalidValue);
}

#[test]
fn a_panic_of_a_log_closure_goes_on_behind_the_call() {
    let bytes = model_bytes();
    let dropped = Arc::new(AtomicUsize::new(0));
    let token = Token(dropped.clone());
    let options = InterpreterOptions::new().log(LogLevel::Debug, move |_, _| {
        let _ = &token;
        panic!("out of the log");
    });
    let result = catch_unwind(AssertUnwindSafe(|| options.load_bytes(&bytes)));
    assert_eq!(panic_text(result), "out of the log");
    // The interpreter that was created is dropped, and its closure, too.
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
    // No panic is left for the next call.
    assert!(Interpreter::from_bytes(&bytes).is_ok());
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("out of the drop");
        }
    }
}

#[test]
fn a_panic_while_a_log_closure_is_dropped() {
    let bomb = Bomb;
    let options = InterpreterOptions::new().log(LogLevel::Debug, move |_, _| {
        let _ = &bomb;
    });
    let net = options.load_file(digits("digits.mnn")).unwrap();
    let session = net.create_session(&ScheduleConfig::new()).unwrap();
    drop(net);
    let result = catch_unwind(AssertUnwindSafe(|| drop(session)));
    assert_eq!(panic_text(result), "out of the drop");
}

#[test]
fn dropping_while_panicking() {
    let result = catch_unwind(AssertUnwindSafe(|| {
        let bomb = Bomb;
        let options = InterpreterOptions::new().log(LogLevel::Debug, move |_, _| {
            let _ = &bomb;
        });
        let _net = options.load_file(digits("digits.mnn")).unwrap();
        panic!("out of the body");
    }));
    assert_eq!(panic_text(result), "out of the body");
}

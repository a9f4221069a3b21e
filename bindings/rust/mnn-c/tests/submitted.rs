//! Runs that are begun and waited for later.

mod support;

use mnn_c::{CancelToken, ErrorKind, Format, Pending, RuntimeConfig, ScheduleConfig, Session, SubmitOptions};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::Mutex;
use std::time::Duration;
use support::*;

fn written(session: &mut Session, seed: u32) {
    let pixels = pixels(PIXELS, seed);
    session
        .input_mut("image")
        .unwrap()
        .write(&pixels, Format::Nchw)
        .unwrap();
}

fn scores(session: &Session) -> Vec<f32> {
    session.output("scores").unwrap().read(Format::Nchw).unwrap()
}

/// Blocks the thread of submitted runs, in the closure at the end of a run, until the sender is dropped.
fn blocked(session: &mut Session) -> (Pending<'_>, Sender<()>) {
    let (open, gate): (Sender<()>, Receiver<()>) = channel();
    let gate = Mutex::new(gate);
    let options = SubmitOptions::new().done(move |_| {
        let _ = gate.lock().unwrap().recv(); // an error: the sender is dropped
    });
    (session.submit(options).unwrap(), open)
}

#[test]
fn gives_what_a_run_gives() {
    let mut session = open_session();
    for seed in 0..3 {
        written(&mut session, seed);
        session.submit(SubmitOptions::new()).unwrap().wait().unwrap();
        assert_eq!(scores(&session), reference(seed));
    }
}

#[test]
fn dropping_waits() {
    let mut session = open_session();
    written(&mut session, 4);
    drop(session.submit(SubmitOptions::new()).unwrap());
    assert_eq!(scores(&session), reference(4));
}

#[test]
fn waits_end_in_time() {
    let mut session = open_session();
    written(&mut session, 5);
    let (mut pending, open) = blocked(&mut session);
    for time in [Duration::ZERO, Duration::from_millis(1)] {
        pending = pending.wait_timeout(time).expect_err("the closure holds the run");
    }
    drop(open);
    let result = pending.wait_timeout(Duration::MAX).expect("the run ends");
    result.unwrap();
    assert_eq!(scores(&session), reference(5));
}

#[test]
fn one_thread_for_the_sessions_of_a_runtime() {
    let runtime = RuntimeConfig::new().create().unwrap();
    let net = open();
    let config = ScheduleConfig::new().runtime(&runtime);
    let mut sessions: Vec<_> = (0..3).map(|_| net.create_session(&config).unwrap()).collect();
    let (first, rest) = sessions.split_first_mut().unwrap();
    written(first, 0);
    let (sender, receiver) = channel();
    let (pending, open) = blocked(first);
    let mut queued = Vec::new();
    for (i, session) in rest.iter_mut().enumerate() {
        written(session, i as u32 + 1);
        let sender = sender.clone();
        let done = move |result| sender.send((i, result, std::thread::current().id())).unwrap();
        queued.push(session.submit(SubmitOptions::new().done(done)).unwrap());
    }
    assert!(receiver.try_recv().is_err());
    drop(open);
    for run in queued {
        run.wait().unwrap();
    }
    pending.wait().unwrap();
    let (first, second) = (receiver.recv().unwrap(), receiver.recv().unwrap());
    assert_eq!((first.0, &first.1), (0, &Ok(())));
    assert_eq!((second.0, &second.1), (1, &Ok(())));
    assert_eq!(first.2, second.2);
    assert_ne!(first.2, std::thread::current().id());
    for (i, session) in sessions.iter().enumerate() {
        assert_eq!(scores(session), reference(i as u32));
    }
}

#[test]
fn cancelled_while_it_waits_for_its_turn() {
    let runtime = RuntimeConfig::new().create().unwrap();
    let net = open();
    let config = ScheduleConfig::new().runtime(&runtime);
    let mut first = net.create_session(&config).unwrap();
    let mut second = net.create_session(&config).unwrap();
    let (pending, open) = blocked(&mut first);
    let token = CancelToken::new().unwrap();
    let (sender, receiver) = channel();
    let options = SubmitOptions::new().cancel(&token);
    let queued = second
        .submit(options.done(move |result| sender.send(result).unwrap()))
        .unwrap();
    token.trigger();
    drop(token);
    drop(open);
    let sentence = assert_fails(queued.wait(), ErrorKind::Cancelled);
    assert_eq!(
        assert_fails(receiver.recv().unwrap(), ErrorKind::Cancelled),
        sentence
    );
    pending.wait().unwrap();
    written(&mut second, 6);
    second.run().unwrap();
    assert_eq!(scores(&second), reference(6));
}

#[test]
fn what_cannot_begin_calls_nothing() {
    let mut session = open_session();
    session.input_mut("image").unwrap().resize(&[2, 1, 8, 8]).unwrap();
    let (sender, receiver) = channel::<()>();
    let options = SubmitOptions::new().done(move |_| sender.send(()).unwrap());
    assert_fails(session.submit(options), ErrorKind::BadState);
    assert!(receiver.recv().is_err()); // the closure was dropped
    session.resize().unwrap();
    session.submit(SubmitOptions::new()).unwrap().wait().unwrap();
}

#[test]
fn a_panic_at_the_end_goes_on_where_the_run_is_waited_for() {
    let mut session = open_session();
    for drops in [false, true] {
        written(&mut session, 7);
        let pending = session
            .submit(SubmitOptions::new().done(|_| panic!("out of the end")))
            .unwrap();
        let result = catch_unwind(AssertUnwindSafe(|| match drops {
            true => drop(pending),
            false => pending.wait().unwrap(),
        }));
        assert_eq!(panic_text(result), "out of the end");
        assert_eq!(scores(&session), reference(7));
    }
}

#[test]
fn a_forgotten_run_keeps_the_session_busy() {
    let mut session = open_session();
    session
        .bind_input("image", pixels(PIXELS, 8), Format::Nchw)
        .unwrap();
    session
        .bind_output("scores", vec![0f32; CLASSES], Format::Nchw)
        .unwrap();
    std::mem::forget(session.submit(SubmitOptions::new()).unwrap());
    assert_fails(session.run(), ErrorKind::Busy);
    assert_fails(session.submit(SubmitOptions::new()).map(drop), ErrorKind::Busy);
    assert_fails(session.bound_output::<f32>("scores").map(drop), ErrorKind::Busy);
    assert_fails(session.bound_input_mut::<f32>("image").map(drop), ErrorKind::Busy);
    assert_fails(session.release_output::<f32>("scores"), ErrorKind::Busy);
    drop(session); // waits
}

/// On the thread of submitted runs a run that comes later cannot be waited for: it stays under way.
#[test]
fn a_run_that_comes_later_stays_under_way() {
    let runtime = RuntimeConfig::new().create().unwrap();
    let net = open();
    let config = ScheduleConfig::new().runtime(&runtime);
    let mut first = net.create_session(&config).unwrap();
    let mut second = net.create_session(&config).unwrap();
    second
        .bind_output("scores", vec![0f32; CLASSES], Format::Nchw)
        .unwrap();
    let (sender, receiver) = channel();
    let done = move |_| {
        let waited = second.submit(SubmitOptions::new()).unwrap().wait();
        let buffer = second.bound_output::<f32>("scores").map(|_| ());
        sender.send((waited, buffer, second)).unwrap();
    };
    first
        .submit(SubmitOptions::new().done(done))
        .unwrap()
        .wait()
        .unwrap();
    let (waited, buffer, second) = receiver.recv().unwrap();
    assert_fails(waited, ErrorKind::Busy);
    assert_fails(buffer, ErrorKind::Busy);
    drop(second); // waits for the run
}

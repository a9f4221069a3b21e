//! Backends of the host: the nodes that they compute, their arguments, failures, panics, lifetimes.

mod support;

use mnn_c::{
    Error, ErrorKind, Format, ForwardType, HostBackend, HostTensor, HostTensorMut, Interpreter, Node,
    RuntimeConfig, ScheduleConfig, Session, SubmitOptions,
};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use support::assert_fails;

#[derive(Default)]
struct Counts {
    computed: AtomicUsize,
    dropped: AtomicUsize,
}

/// A backend that computes the convolutions of 1x1.
struct Products {
    counts: Arc<Counts>,
    fails: bool,
    panics: bool,
}

impl Drop for Products {
    fn drop(&mut self) {
        self.counts.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

struct State {
    weights: Vec<f32>,
    bias: Vec<f32>,
}

impl HostBackend for Products {
    type State = State;

    fn supports(
        &self,
        node: &Node<'_>,
        inputs: &[HostTensor<'_>],
        outputs: &[HostTensor<'_>],
    ) -> mnn_c::Result<()> {
        if node.type_name() != "Convolution" || inputs[0].dims()[2..] != [1, 1] {
            return Err(Error::new(ErrorKind::NotSupported, "it multiplies"));
        }
        assert_eq!(outputs[0].dims()[1], 10);
        Ok(())
    }

    fn prepare(
        &self,
        _node: &Node<'_>,
        _inputs: &[HostTensor<'_>],
        weights: &[HostTensor<'_>],
    ) -> mnn_c::Result<State> {
        assert_eq!(weights.len(), 2);
        assert_eq!(weights[0].dims(), [10, 512, 1, 1]);
        Ok(State {
            weights: weights[0].values::<f32>()?.to_vec(),
            bias: weights[1].values::<f32>()?.to_vec(),
        })
    }

    fn compute(
        &self,
        state: &mut State,
        _node: &Node<'_>,
        inputs: &[HostTensor<'_>],
        outputs: &mut [HostTensorMut<'_>],
    ) -> mnn_c::Result<()> {
        self.counts.computed.fetch_add(1, Ordering::SeqCst);
        assert!(!self.panics, "a panic of the backend");
        if self.fails {
            return Err(Error::new(ErrorKind::Driver, "a reason of its own"));
        }
        let x = inputs[0].values::<f32>()?;
        for (o, y) in outputs[0].values_mut::<f32>()?.iter_mut().enumerate() {
            let row = &state.weights[o * 512..][..512];
            *y = state.bias[o] + row.iter().zip(x).map(|(w, x)| w * x).sum::<f32>();
        }
        Ok(())
    }
}

fn open(counts: &Arc<Counts>, fails: bool, panics: bool) -> Session {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/digits");
    let net = Interpreter::from_file(folder.join("digits.mnn")).expect("the model loads");
    let runtime = RuntimeConfig::new().create().expect("a runtime");
    let backend = Products {
        counts: counts.clone(),
        fails,
        panics,
    };
    let forward = runtime.add_backend("own", backend).expect("a backend");
    assert!(matches!(forward, ForwardType::Other(number) if number >= mnn_c_sys::MNN_FORWARD_USER));
    let config = ScheduleConfig::new().runtime(&runtime).forward_type(forward);
    let mut session = net.create_session(&config).expect("a session");
    session
        .input_mut("image")
        .expect("an input")
        .write(&[0.5f32; 64], Format::Nchw)
        .expect("a write");
    session
}

#[test]
fn it_computes_what_it_takes() {
    let counts = Arc::default();
    let mut session = open(&counts, false, false);
    session.run().expect("a run");
    let scores: Vec<f32> = session.output("scores").unwrap().read(Format::Nchw).unwrap();
    assert_eq!(counts.computed.load(Ordering::SeqCst), 1);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/digits");
    let net = Interpreter::from_file(folder.join("digits.mnn")).unwrap();
    let mut plain = net.create_session(&ScheduleConfig::new()).unwrap();
    plain
        .input_mut("image")
        .unwrap()
        .write(&[0.5f32; 64], Format::Nchw)
        .unwrap();
    plain.run().unwrap();
    let wanted: Vec<f32> = plain.output("scores").unwrap().read(Format::Nchw).unwrap();
    for (score, wanted) in scores.iter().zip(&wanted) {
        assert!((score - wanted).abs() < 1e-3, "{score} is not {wanted}");
    }
    let mut own = 0;
    for i in 0..session.op_count().unwrap() {
        let op = session.op(i).unwrap();
        own += usize::from(op.backend_name == "own");
        if op.name == "c1" {
            assert!(op.reason.unwrap().contains("it multiplies"));
        }
    }
    assert_eq!(own, 1);
    assert_eq!(counts.dropped.load(Ordering::SeqCst), 0);
    drop(session);
    assert_eq!(counts.dropped.load(Ordering::SeqCst), 1);
}

#[test]
fn its_failures_and_panics_end_the_run() {
    let counts = Arc::default();
    let error = open(&counts, true, false).run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Driver);
    assert!(error.message().contains("a reason of its own"), "{error}");
    let mut session = open(&counts, false, true);
    assert!(catch_unwind(AssertUnwindSafe(|| session.run())).is_err());
}

/// A submitted run raises its own panics, and no later run of its thread does.
#[test]
fn panics_of_submitted_runs_are_raised_where_they_are_waited_for() {
    let runtime = RuntimeConfig::new().create().unwrap();
    let backend = Products {
        counts: Arc::default(),
        fails: false,
        panics: true,
    };
    let forward = runtime.add_backend("own", backend).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/digits");
    let net = Interpreter::from_file(folder.join("digits.mnn")).unwrap();
    let config = ScheduleConfig::new().runtime(&runtime);
    let mut plain = net.create_session(&config).unwrap();
    let mut own = net.create_session(&config.forward_type(forward)).unwrap();
    let wait = |session: &mut Session| {
        catch_unwind(AssertUnwindSafe(|| session.submit(SubmitOptions::new())?.wait()))
    };
    assert!(wait(&mut own).is_err());
    wait(&mut plain).expect("no panic").expect("a run");
}

#[test]
fn names_are_checked() {
    let counts: Arc<Counts> = Arc::default();
    let runtime = RuntimeConfig::new().create().unwrap();
    let make = || Products {
        counts: counts.clone(),
        fails: false,
        panics: false,
    };
    assert_fails(runtime.add_backend("", make()), ErrorKind::InvalidValue);
    assert_fails(runtime.add_backend("cpu", make()), ErrorKind::InvalidValue);
    assert_eq!(counts.dropped.load(Ordering::SeqCst), 2);
    drop(runtime);
}

//! Parts of the demo: inputs in the middle, parts chosen by operators, and several paths of one session.

mod support;

use mnn_c::{Error, ErrorKind, Format, ForwardType, ScheduleConfig, Session, MAX_PATHS};
use support::*;

fn config() -> ScheduleConfig {
    ScheduleConfig::new()
}

fn failure(result: Result<Session, Error>) -> Error {
    match result {
        Ok(_) => panic!("this is not refused"),
        Err(error) => error,
    }
}

/// The result of the demo's pooling.
fn pooled(image: &[f32]) -> Vec<f32> {
    let mut session = open().create_session(&config().outputs(["m"])).unwrap();
    session
        .input_mut("image")
        .unwrap()
        .write(image, Format::Nchw)
        .unwrap();
    session.run().unwrap();
    session.output("m").unwrap().read(Format::Nchw).unwrap()
}

#[test]
fn a_tensor_in_the_middle_is_fed() {
    let inner = pooled(&pixels(PIXELS, 6));
    let mut session = open().create_session(&config().inputs(["m"])).unwrap();
    assert_eq!(session.input_at(0).unwrap().name().unwrap(), "m");
    assert_eq!(session.input_at(0).unwrap().shape().unwrap(), [1, 32, 4, 4]);
    assert!(!session.input("image").unwrap().properties().unwrap().used);
    session
        .input_mut("m")
        .unwrap()
        .write(&inner, Format::Nchw)
        .unwrap();
    session.run().unwrap();
    assert_eq!(
        session
            .output("scores")
            .unwrap()
            .read::<f32>(Format::Nchw)
            .unwrap(),
        reference(6)
    );
}

#[test]
fn operators_are_chosen() {
    let net = open();
    let mut session = net.create_session(&config().operators(["m", "c2"])).unwrap();
    assert_eq!(session.input_at(0).unwrap().name().unwrap(), "r1");
    assert_eq!(session.output_count().unwrap(), 1);
    session.run().unwrap();
    assert_eq!(session.output_at(0).unwrap().name().unwrap(), "m");
    let ways = config().source_operators(["c2"]).sink_operators(["m"]);
    let session = net.create_session(&ways).unwrap();
    assert_eq!(session.input_at(0).unwrap().name().unwrap(), "r1");
    assert_eq!(session.output_at(0).unwrap().name().unwrap(), "m");
    let backwards = config().source_operators(["m"]).sink_operators(["c2"]);
    assert_eq!(
        failure(net.create_session(&backwards)).kind(),
        ErrorKind::InvalidValue
    );
    let low = config().precision(mnn_c::Precision::Low);
    net.create_session(&low.clone().fp32_operators(["c1", "c2"]))
        .unwrap()
        .run()
        .unwrap();
    let refused = failure(net.create_session(&low.fp32_operators(["nothing"])));
    assert_eq!(refused.kind(), ErrorKind::NotFound);
    let refused = failure(net.create_session(&config().operator_backends([ForwardType::Vulkan])));
    assert_eq!(refused.kind(), ErrorKind::InvalidValue);
    let refused = failure(net.create_session(&config().operators(["m", "nothing"])));
    assert_eq!(refused.kind(), ErrorKind::NotFound);
    let refused = failure(net.create_session(&config().operators(["m"]).inputs(["r1"])));
    assert_eq!(refused.kind(), ErrorKind::InvalidValue);
    let refused = failure(net.create_session(&config().inputs(["zero\0byte"])));
    assert_eq!(refused.kind(), ErrorKind::InvalidValue);
}

#[test]
fn paths_run_one_after_another() {
    let net = open();
    let mut session = net
        .create_session_paths(&[
            config().outputs(["r1"]),
            config().threads(2).outputs(["m"]),
            config(),
        ])
        .unwrap();
    assert_eq!(session.output_count().unwrap(), 3);
    assert_eq!(session.properties().unwrap().wanted_threads, 1);
    assert_eq!(session.path_properties(1).unwrap().wanted_threads, 2);
    assert!(session.path_properties(3).is_err());
    let image = pixels(PIXELS, 2);
    session
        .input_mut("image")
        .unwrap()
        .write(&image, Format::Nchw)
        .unwrap();
    session.run().unwrap();
    assert_eq!(
        session.output("m").unwrap().read::<f32>(Format::Nchw).unwrap(),
        pooled(&image)
    );
    assert_eq!(
        session
            .output("scores")
            .unwrap()
            .read::<f32>(Format::Nchw)
            .unwrap(),
        reference(2)
    );

    assert_eq!(failure(net.create_session_paths(&[])).kind(), ErrorKind::BadRange);
    let many = vec![config(); MAX_PATHS + 1];
    assert_eq!(
        failure(net.create_session_paths(&many)).kind(),
        ErrorKind::BadRange
    );
    let refused = failure(net.create_session_paths(&[config().outputs(["m"]), config().inputs(["absent"])]));
    assert_eq!(refused.kind(), ErrorKind::NotFound);
    assert!(refused.to_string().contains("path 1"), "{refused}");
}

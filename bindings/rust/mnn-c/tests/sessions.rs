//! Sessions: configurations, descriptions, and the whole demo.

mod support;

use mnn_c::{
    ErrorKind, Format, ForwardType, GpuMode, MemoryMode, PowerMode, Precision, ScheduleConfig, MAX_THREADS,
};
use support::*;

#[test]
fn the_demo_is_right() {
    let images = std::fs::read(digits("test_images.bin")).unwrap();
    let labels = std::fs::read(digits("test_labels.bin")).unwrap();
    let mut session = open_session();
    let mut right = 0;
    for (image, &label) in images.chunks(PIXELS).zip(&labels) {
        let pixels: Vec<f32> = image.iter().map(|&pixel| f32::from(pixel) / 16.0).collect();
        let scores = classify(&mut session, &pixels).unwrap();
        let best = scores.iter().cloned().fold(f32::MIN, f32::max);
        right += usize::from(scores[usize::from(label)] == best);
    }
    assert_eq!((right, labels.len()), (533, 540));
}

#[test]
fn every_field_of_a_configuration_is_taken() {
    let config = ScheduleConfig::new()
        .forward_type(ForwardType::Auto)
        .fallback(ForwardType::Cpu)
        .threads(MAX_THREADS)
        .precision(Precision::High)
        .memory(MemoryMode::High)
        .power(PowerMode::High)
        .gpu_mode(GpuMode::TUNING_FAST | GpuMode::MEMORY_BUFFER | GpuMode::RECORD_OP)
        .tuning_operators(3)
        .cpu_isa(lowest_isa())
        .max_memory_bytes(1 << 30)
        .max_loop_iterations(10);
    let mut session = open().create_session(&config).unwrap();
    let scores = classify(&mut session, &pixels(PIXELS, 2)).unwrap();
    for (a, b) in scores.iter().zip(reference(2)) {
        assert!((a - b).abs() <= 1e-3 * (1.0 + b.abs()), "{a} {b}");
    }
}

#[test]
fn plans_are_deferred_kept_and_given_up() {
    let net = open();
    let config = ScheduleConfig::new().defer_planning(true).plan_cache(3);
    let mut session = net.create_session(&config).unwrap();
    assert!(session.needs_resize().unwrap());
    assert_fails(session.run(), ErrorKind::BadState);
    session.resize().unwrap();
    assert_eq!(classify(&mut session, &pixels(PIXELS, 3)).unwrap(), reference(3));
    // A run repeats the reason why a resize failed; with the former shapes it succeeds.
    session.input_mut("image").unwrap().resize(&[1, 2, 8, 8]).unwrap();
    let failure = session.resize().unwrap_err();
    let repeated = session.run().unwrap_err();
    assert_eq!(
        (repeated.kind(), repeated.to_string()),
        (failure.kind(), failure.to_string())
    );
    session.input_mut("image").unwrap().resize(&[1, 1, 8, 8]).unwrap();
    session.run().unwrap();
    session
        .input_mut("image")
        .unwrap()
        .resize(&[50, 1, 8, 8])
        .unwrap();
    session.resize().unwrap();
    session.input_mut("image").unwrap().resize(&[1, 1, 8, 8]).unwrap();
    session.resize().unwrap();
    let large = session.statistics().unwrap().memory_bytes;
    session.trim().unwrap();
    assert!(session.statistics().unwrap().memory_bytes < large);
    assert_eq!(classify(&mut session, &pixels(PIXELS, 4)).unwrap(), reference(4));
    assert_fails(
        net.create_session(&ScheduleConfig::new().plan_cache(65)),
        ErrorKind::InvalidValue,
    );
}

#[test]
fn every_field_of_a_configuration_is_checked() {
    let net = open();
    let fails = |config: ScheduleConfig, kind| {
        assert_fails(net.create_session(&config), kind);
    };
    let config = ScheduleConfig::new;
    let other = ErrorKind::InvalidValue;
    fails(config().forward_type(ForwardType::Other(99)), other);
    fails(config().fallback(ForwardType::Other(-1)), other);
    fails(config().threads(MAX_THREADS + 1), ErrorKind::BadRange);
    fails(config().threads(u32::MAX), ErrorKind::BadRange);
    fails(config().precision(Precision::Other(9)), other);
    fails(config().memory(MemoryMode::Other(9)), other);
    fails(config().power(PowerMode::Other(9)), other);
    fails(
        config().gpu_mode(GpuMode::TUNING_FAST | GpuMode::TUNING_HEAVY),
        other,
    );
    fails(config().gpu_mode(GpuMode::from_bits(1 << 20)), other);
    fails(config().cpu_isa("no such set"), ErrorKind::NotFound);
    fails(config().cpu_isa("zero\0byte"), other);
    fails(config().device("zero\0byte"), other);
    fails(config().device("0"), other);
    fails(config().outputs(["scores", "nothing"]), ErrorKind::NotFound);
    fails(config().outputs(["zero\0byte"]), other);
    fails(config().save_tensors(["nothing"]), ErrorKind::NotFound);
    fails(config().max_memory_bytes(1), ErrorKind::LimitExceeded);
}

#[test]
fn tensors_inside_of_the_net() {
    let net = open();
    let name = (0..net.op_count().unwrap())
        .map(|index| net.op(index).unwrap())
        .find(|op| op.type_name == "Pooling")
        .map(|op| op.outputs[0].clone().into_owned())
        .expect("the demo pools");
    let mut saving = net
        .create_session(&ScheduleConfig::new().save_tensors([&name]))
        .unwrap();
    assert_eq!(saving.output_count().unwrap(), 2);
    assert_eq!(classify(&mut saving, &pixels(PIXELS, 3)).unwrap(), reference(3));
    let inner: Vec<f32> = saving.output(&name).unwrap().read(Format::Nchw).unwrap();

    let mut only = net
        .create_session(&ScheduleConfig::new().outputs([&name]))
        .unwrap();
    assert_eq!(
        (only.input_count().unwrap(), only.output_count().unwrap()),
        (1, 1)
    );
    only.input_at_mut(0)
        .unwrap()
        .write(&pixels(PIXELS, 3), Format::Nchw)
        .unwrap();
    only.run().unwrap();
    assert_eq!(
        only.output_at(0).unwrap().read::<f32>(Format::Nchw).unwrap(),
        inner
    );
}

#[test]
fn what_a_session_tells() {
    let session = open_session();
    let memory = session.statistics().unwrap();
    assert!(memory.arena_bytes > 0 && memory.weight_bytes > 0);
    assert!(memory.memory_bytes >= memory.arena_bytes + memory.weight_bytes);
    assert!(memory.peak_memory_bytes >= memory.memory_bytes);
    let flops = session.flops().unwrap();
    assert!(flops.complete && flops.count > 100e3);
    let count = session.op_count().unwrap();
    let ops: Vec<_> = (0..count).map(|index| session.op(index).unwrap()).collect();
    assert!(ops
        .iter()
        .any(|op| op.type_name == "Convolution" && op.algorithm.is_some()));
    assert!(ops
        .iter()
        .all(|op| op.backend_name == "cpu" && op.reason.is_none()));
    let net = open();
    for op in &ops {
        assert_eq!(net.op(op.op_index.unwrap()).unwrap().name, op.name);
    }
    let sum: f64 = ops.iter().filter_map(|op| op.flops).sum();
    assert_eq!(sum, flops.count);
    assert_fails(session.op(count), ErrorKind::BadIndex);
}

#[test]
fn reports() {
    let net = open();
    let session = net
        .create_session(&ScheduleConfig::new().record_plan(true))
        .unwrap();
    let passes = session.report("passes").unwrap();
    let whole = session.report("plan").unwrap();
    assert!(passes.lines().count() > 1);
    for pass in passes.lines() {
        let part = session.report(&format!("plan after:{pass}")).unwrap();
        assert!(part.starts_with("main graph") && whole.contains(&part));
    }
    assert!(session.report("graph").unwrap().contains("\"Convolution\""));
    assert!(net.report("graph").unwrap().contains("\"Convolution\""));
    assert_fails(net.report("plan"), ErrorKind::NotFound);
    assert_fails(session.report("plan after:nothing"), ErrorKind::NotFound);
    assert_fails(open_session().report("plan"), ErrorKind::BadState);
}

#[test]
fn where_it_runs() {
    let session = open_session();
    assert_eq!(session.properties().unwrap().forward_type, ForwardType::Cpu);
    assert_eq!(session.properties().unwrap().reason, None);
    let missing = ScheduleConfig::new()
        .forward_type(ForwardType::Vulkan)
        .device("no GPU has this name");
    assert!(open().create_session(&missing).is_err());
    let session = open()
        .create_session(&missing.fallback(ForwardType::Cpu))
        .unwrap();
    assert_eq!(session.properties().unwrap().forward_type, ForwardType::Cpu);
    let reason = session.properties().unwrap().reason.expect("a reason");
    assert!(!reason.is_empty());
}

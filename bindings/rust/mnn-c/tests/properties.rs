//! Properties of sessions, their statistics, tensors as text, constants.

mod support;

use mnn_c::{ErrorKind, Format, ForwardType, MemoryMode, ModelUsage, Precision, ScheduleConfig, TensorKind};
use support::*;

#[test]
fn versions_agree() {
    let (major, minor, patch) = mnn_c::version_numbers().unwrap();
    assert_eq!(format!("{major}.{minor}.{patch}"), mnn_c::version());
}

#[test]
fn the_processor_names_its_instruction_sets() {
    let cpu = mnn_c::cpu().unwrap();
    assert!(cpu.logical_cores >= 1);
    for isa in &cpu.isas {
        let config = ScheduleConfig::new().cpu_isa(isa);
        let session = open().create_session(&config).unwrap();
        assert_eq!(
            session.properties().unwrap().cpu_isa.as_deref(),
            Some(isa.as_str())
        );
    }
}

#[test]
fn a_session_says_what_holds() {
    let config = ScheduleConfig::new()
        .threads(2)
        .memory(MemoryMode::High)
        .precision(Precision::Low)
        .cpu_isa(lowest_isa());
    let session = open().create_session(&config).unwrap();
    let info = session.properties().unwrap();
    assert_eq!(info.forward_type, ForwardType::Cpu);
    assert_eq!(info.wanted_forward_type, ForwardType::Cpu);
    assert_eq!((info.threads, info.wanted_threads), (2, 2));
    assert_eq!(
        (info.precision, info.wanted_precision),
        (Precision::Normal, Precision::Low)
    );
    assert!(info.precision_reason.is_some() && info.memory_reason.is_some());
    assert_eq!(
        (info.memory, info.wanted_memory),
        (MemoryMode::Normal, MemoryMode::High)
    );
    assert!(info.reason.is_none() && info.device.is_none());
    assert_eq!(info.gpu_mode.bits(), 0);
}

#[test]
fn statistics_count_runs_and_plans() {
    let mut session = open_session();
    classify(&mut session, &pixels(PIXELS, 1)).unwrap();
    classify(&mut session, &pixels(PIXELS, 2)).unwrap();
    session.input_mut("image").unwrap().resize(&[2, 1, 8, 8]).unwrap();
    session.resize().unwrap();
    let now = session.statistics().unwrap();
    assert_eq!(
        (now.runs, now.failed_runs, now.plans, now.failed_plans),
        (2, 0, 2, 0)
    );
    assert!(now.total_run >= now.last_run && now.last_run.as_nanos() > 0);
    assert!(now.total_plan > now.last_plan);
    assert!(now.peak_memory_bytes >= now.memory_bytes);
    assert!(now.memory_bytes >= now.arena_bytes + now.weight_bytes);
}

#[test]
fn a_model_and_its_tensors_describe_themselves() {
    let net = open();
    let model = net.properties().unwrap();
    assert_eq!(model.usage, ModelUsage::Inference);
    assert_eq!(model.byte_size, model_bytes().len() as u64);
    net.metadata().unwrap();
    let mut session = net.create_session(&ScheduleConfig::new()).unwrap();
    session
        .input_mut("image")
        .unwrap()
        .write(&[0.5f32; PIXELS], Format::Nchw)
        .unwrap();
    let input = session.input("image").unwrap();
    let info = input.properties().unwrap();
    assert_eq!(
        (info.kind, info.channel_block, info.used),
        (TensorKind::Input, 1, true)
    );
    assert_eq!(info.forward_type, ForwardType::Cpu);
    assert_eq!(input.nchw().unwrap(), [1, 1, 8, 8]);
    assert_fails(session.output("scores").unwrap().nchw(), ErrorKind::BadState);
    let wanted = "image float32 [1, 1, 8, 8] NCHW\n[[[[0.5 ... 0.5]\n   ...\n   [0.5 ... 0.5]]]]\n";
    assert_eq!(input.print(1).unwrap(), wanted);
}

#[test]
fn constants_are_written_and_saved() {
    let path = std::env::temp_dir().join(format!("mnn-c-constants-{}.mnn", std::process::id()));
    let net = mnn_c::Interpreter::from_file(source_types()).unwrap();
    let mut session = net.create_session(&ScheduleConfig::new()).unwrap();
    let names: Vec<String> = session
        .constant_names()
        .unwrap()
        .iter()
        .map(|name| name.to_string())
        .collect();
    assert_eq!(names.len(), 7);
    let written = [3.0f32, -1.0, 4.0, 1.0, -5.0, 9.0];
    session
        .constant(&names[5])
        .unwrap()
        .write(&written, Format::Nchw)
        .unwrap();
    assert!(session.needs_resize().unwrap());
    assert_fails(net.update_constants(&session), ErrorKind::BadState);
    session.resize().unwrap();
    session.run().unwrap();
    let sum = |session: &mnn_c::Session| -> Vec<f32> {
        session.output("sum_float").unwrap().read(Format::Nchw).unwrap()
    };
    assert_eq!(sum(&session), written);
    net.update_constants(&session).unwrap();
    net.save(&path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), net.model_bytes().unwrap());
    let saved = mnn_c::Interpreter::from_file(&path).unwrap();
    let mut reader = saved.create_session(&ScheduleConfig::new()).unwrap();
    reader.run().unwrap();
    assert_eq!(sum(&reader), written);
    assert_fails(reader.constant("nothing").map(|_| ()), ErrorKind::NotFound);
    let mut unplanned = saved
        .create_session(&ScheduleConfig::new().defer_planning(true))
        .unwrap();
    saved.release_model_keeping_weights().unwrap();
    unplanned.resize().unwrap();
    saved.release_model().unwrap();
    reader.run().unwrap();
    assert_eq!(sum(&reader), written);
    assert_fails(
        saved.create_session(&ScheduleConfig::new()).map(|_| ()),
        ErrorKind::BadState,
    );
    assert_fails(saved.model_bytes().map(|_| ()), ErrorKind::BadState);
    std::fs::remove_file(path).unwrap();
}

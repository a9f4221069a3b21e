//! Vulkan, where there is a device. On other machines the tests print that they were skipped.

mod support;

use mnn_c::{
    devices, CancelToken, DeviceInfo, ErrorKind, Format, ForwardType, GpuMode, Interpreter,
    InterpreterOptions, LogLevel, OpAction, Precision, RunOptions, ScheduleConfig,
};
#[cfg(unix)]
use mnn_c::{BufferKind, DeviceBuffer};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use support::*;

/// The devices, or `None` with a message.
fn vulkan() -> Option<Vec<DeviceInfo>> {
    match devices(ForwardType::Vulkan) {
        Ok(devices) => Some(devices),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::BackendMissing, "{error}");
            eprintln!("skipped: {error}");
            None
        }
    }
}

fn on_vulkan() -> ScheduleConfig {
    ScheduleConfig::new().forward_type(ForwardType::Vulkan)
}

fn assert_close(got: &[f32], wanted: &[f32], tolerance: f32) {
    assert_eq!(got.len(), wanted.len());
    for (a, b) in got.iter().zip(wanted) {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{a} {b}");
    }
}

fn temporary(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&path);
    path
}

#[test]
fn without_a_device_it_is_refused_or_replaced() {
    let missing = on_vulkan().device("no such device");
    assert_fails(open().create_session(&missing), ErrorKind::BackendMissing);
    let mut session = open()
        .create_session(&missing.fallback(ForwardType::Cpu))
        .unwrap();
    assert_eq!(classify(&mut session, &pixels(PIXELS, 1)).unwrap(), reference(1));
}

#[test]
fn devices_tell_who_they_are() {
    for device in vulkan().unwrap_or_default() {
        assert!(!device.name.is_empty());
        assert!(["discrete", "integrated", "virtual", "cpu", "other"].contains(&&device.kind[..]));
        assert_ne!(device.uuid, [0; 16]);
        assert!(device.memory_bytes > 0);
        assert!(device.api_version >= 1 << 22 | 1 << 12);
        let uuid: String = device.uuid.iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(open().create_session(&on_vulkan().device(uuid)).is_ok());
        assert!(open().create_session(&on_vulkan().device(device.name)).is_ok());
    }
}

#[test]
fn scores_are_those_of_the_cpu() {
    if vulkan().is_none() {
        return;
    }
    for (mode, precision, tolerance) in [
        (GpuMode::RECORD_BATCH, Precision::Normal, 1e-4),
        (GpuMode::RECORD_OP, Precision::Normal, 1e-4),
        (GpuMode::RECORD_BATCH, Precision::Low, 3e-2),
    ] {
        let config = on_vulkan().gpu_mode(mode).precision(precision);
        let mut session = open().create_session(&config).unwrap();
        for seed in 0..3 {
            let scores = classify(&mut session, &pixels(PIXELS, seed)).unwrap();
            assert_close(&scores, &reference(seed), tolerance);
        }
        let count = session.op_count().unwrap();
        assert!((0..count).any(|index| session.op(index).unwrap().backend_name == "vulkan"));
        session
            .input_mut("image")
            .unwrap()
            .map_mut::<f32>()
            .unwrap()
            .copy_from_slice(&pixels(PIXELS, 9));
        session.run().unwrap();
        let mut output = session.output_mut("scores").unwrap();
        assert_close(&output.map::<f32>().unwrap(), &reference(9), tolerance);
    }
}

#[test]
fn callbacks_on_a_device() {
    if vulkan().is_none() {
        return;
    }
    let mut session = open().create_session(&on_vulkan()).unwrap();
    session
        .input_mut("image")
        .unwrap()
        .write(&pixels(PIXELS, 2), Format::Nchw)
        .unwrap();
    let mut seen = 0;
    let options = RunOptions::new().after(|call| {
        seen += usize::from(call.op().backend_name == "vulkan");
        for tensor in call.tensors() {
            if let Err(error) = tensor.read::<f32>(Format::Nchw) {
                assert_eq!(error.kind(), ErrorKind::BadState, "{error}");
            }
        }
        OpAction::Run
    });
    session.run_with(options).unwrap();
    assert!(seen > 0);
    let scores: Vec<f32> = session.output("scores").unwrap().read(Format::Nchw).unwrap();
    assert_close(&scores, &reference(2), 1e-4);
    let skip = RunOptions::new().before(|call| match call.op().backend_name.as_ref() {
        "vulkan" => OpAction::Skip,
        _ => OpAction::Run,
    });
    assert_fails(session.run_with(skip), ErrorKind::NotSupported);
    let mut single = open()
        .create_session(&on_vulkan().gpu_mode(mnn_c::GpuMode::RECORD_OP))
        .unwrap();
    let mut read = 0;
    let each = RunOptions::new().before(|_| OpAction::Skip).after(|call| {
        for tensor in call.tensors() {
            tensor.read::<f32>(Format::Nchw).unwrap();
            read += 1;
        }
        OpAction::Run
    });
    single.run_with(each).unwrap();
    assert!(read >= seen);
}

#[test]
fn a_token_ends_calls_on_a_device() {
    if vulkan().is_none() {
        return;
    }
    let token = CancelToken::new().unwrap();
    let config = on_vulkan().cancel(&token);
    let net = open();
    let mut session = net.create_session(&config).unwrap();
    assert_eq!(session.properties().unwrap().forward_type, ForwardType::Vulkan);
    assert_eq!(session.properties().unwrap().reason, None);
    token.trigger();
    assert_fails(net.create_session(&config), ErrorKind::Cancelled);
    assert_fails(
        session.run_with(RunOptions::new().cancel(&token)),
        ErrorKind::Cancelled,
    );
    token.reset();
    let scores = classify(&mut session, &pixels(PIXELS, 2)).unwrap();
    assert_close(&scores, &reference(2), 1e-4);
}

#[test]
fn sessions_run_at_the_same_time() {
    if vulkan().is_none() {
        return;
    }
    let net = open();
    std::thread::scope(|scope| {
        for seed in 0..3 {
            let net = &net;
            scope.spawn(move || {
                let mut session = net.create_session(&on_vulkan()).unwrap();
                let scores = classify(&mut session, &pixels(PIXELS, seed)).unwrap();
                assert_close(&scores, &reference(seed), 1e-4);
            });
        }
    });
}

#[test]
fn caches() {
    if vulkan().is_none() {
        return;
    }
    let net = open();
    let session = net.create_session(&on_vulkan()).unwrap();
    assert!(!session.cache_accepted().unwrap());
    let bytes = session.cache().unwrap();
    assert!(!bytes.is_empty());
    net.set_cache(&bytes).unwrap();
    assert!(net
        .create_session(&on_vulkan())
        .unwrap()
        .cache_accepted()
        .unwrap());
    net.set_cache(&[1; 100]).unwrap();
    assert!(!net
        .create_session(&on_vulkan())
        .unwrap()
        .cache_accepted()
        .unwrap());

    let path = temporary("vulkan.cache");
    let net = open();
    net.set_cache_file(Some(&path)).unwrap();
    let session = net.create_session(&on_vulkan()).unwrap();
    assert!(!session.cache_accepted().unwrap());
    assert!(path.exists());
    assert!(net
        .create_session(&on_vulkan())
        .unwrap()
        .cache_accepted()
        .unwrap());
    net.update_cache_file(&session).unwrap();
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_cache_that_cannot_be_written_is_a_message() {
    if vulkan().is_none() {
        return;
    }
    let messages = Arc::new(AtomicUsize::new(0));
    let count = messages.clone();
    let log = move |level, _: &str| {
        assert_eq!(level, LogLevel::Warning);
        count.fetch_add(1, Ordering::SeqCst);
    };
    let options = InterpreterOptions::new().log(LogLevel::Default, log);
    let net: Interpreter = options.load_file(digits("digits.mnn")).unwrap();
    let path = temporary("no such folder").join("vulkan.cache");
    net.set_cache_file(Some(&path)).unwrap();
    let session = net.create_session(&on_vulkan()).unwrap();
    assert_eq!(messages.load(Ordering::SeqCst), 1);
    assert_fails(net.update_cache_file(&session), ErrorKind::FileOpenFailed);
}

/// Windows has no memory that a descriptor names.
#[cfg(unix)]
#[test]
fn memory_that_two_sessions_share() {
    if vulkan().is_none() {
        return;
    }
    let net = open();
    let mut head = net.create_session(&on_vulkan().outputs(["m"])).unwrap();
    let mut tail = net.create_session(&on_vulkan().inputs(["m"])).unwrap();
    let made = DeviceBuffer::to_make(BufferKind::OpaqueFd);
    // SAFETY: the session makes the memory.
    match unsafe { head.bind_output_buffer("m", Some(&made)) } {
        Err(error) if error.kind() == ErrorKind::NotSupported => return eprintln!("skipped: {error}"),
        result => result.unwrap(),
    }
    let shared = head
        .output("m")
        .unwrap()
        .device_buffer(BufferKind::OpaqueFd)
        .unwrap();
    assert!(shared.fd >= 0 && shared.buffer == 0 && !shared.allocate);
    // SAFETY: the numbers are those of the memory.
    unsafe {
        assert_fails(
            tail.bind_input_buffer(
                "m",
                Some(&DeviceBuffer {
                    bytes: shared.bytes - 1,
                    ..shared
                }),
            ),
            ErrorKind::BufferTooSmall,
        );
        tail.bind_input_buffer("m", Some(&shared)).unwrap();
    }
    // SAFETY: the descriptor is the caller's.
    drop(unsafe { <std::fs::File as std::os::unix::io::FromRawFd>::from_raw_fd(shared.fd) });
    for seed in 0..3 {
        head.input_mut("image")
            .unwrap()
            .write(&pixels(PIXELS, seed), Format::Nchw)
            .unwrap();
        head.run().unwrap();
        tail.run().unwrap();
        let scores: Vec<f32> = tail.output("scores").unwrap().read(Format::Nchw).unwrap();
        assert_close(&scores, &reference(seed), 1e-4);
    }
    // SAFETY: no memory is passed; the VkDevice is the library's own.
    unsafe {
        let foreign = DeviceBuffer::vulkan(1, 0, 1 << 20);
        assert_fails(
            head.bind_input_buffer("image", Some(&foreign)),
            ErrorKind::NotSupported,
        );
        head.bind_output_buffer("m", None).unwrap();
    }
    assert_fails(
        head.output("m").unwrap().device_buffer(BufferKind::Vulkan),
        ErrorKind::NotSupported,
    );
}

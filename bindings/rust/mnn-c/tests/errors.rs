//! Errors, and statuses with unknown numbers.

mod support;

use mnn_c::{ElementType, Error, ErrorKind, Format, Interpreter, LogLevel};
use std::io;
use support::*;

#[test]
fn an_error_tells_everything() {
    let error = Interpreter::from_file("no/such/file.mnn").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileNotExist);
    assert_eq!(error.code(), 36);
    assert!(error.message().contains("no/such/file.mnn"));
    let text = error.to_string();
    assert!(
        text.contains(error.message()) && text.contains("MNN_ERROR_FILE_NOT_EXIST"),
        "{text}"
    );
    let boxed: Box<dyn std::error::Error + Send + Sync> = error.clone().into();
    assert_eq!(boxed.to_string(), text);
}

#[test]
fn errors_are_errors_of_io() {
    let error = Interpreter::from_file("no/such/file.mnn").unwrap_err();
    let converted = io::Error::from(error.clone());
    assert_eq!(converted.kind(), io::ErrorKind::NotFound);
    assert_eq!(converted.to_string(), error.to_string());
    let inner = converted.into_inner().unwrap();
    assert_eq!(*inner.downcast::<Error>().unwrap(), error);

    let folder = Interpreter::from_file("tests").unwrap_err();
    assert_eq!(io::Error::from(folder).kind(), io::ErrorKind::PermissionDenied);
    let cut = Interpreter::from_bytes(&model_bytes()[..100]).unwrap_err();
    assert_eq!(io::Error::from(cut).kind(), io::ErrorKind::UnexpectedEof);
    let session = open_session();
    let absent = session.input("absent").map(drop).unwrap_err();
    assert_eq!(io::Error::from(absent).kind(), io::ErrorKind::NotFound);

    for (kind, wanted) in [
        (ErrorKind::OutOfMemory, io::ErrorKind::OutOfMemory),
        (ErrorKind::Truncated, io::ErrorKind::UnexpectedEof),
        (ErrorKind::BadWeights, io::ErrorKind::InvalidData),
        (ErrorKind::FileChanged, io::ErrorKind::InvalidData),
        (ErrorKind::InvalidValue, io::ErrorKind::InvalidInput),
        (ErrorKind::InputData, io::ErrorKind::InvalidInput),
        (ErrorKind::Cancelled, io::ErrorKind::Interrupted),
        (ErrorKind::Timeout, io::ErrorKind::TimedOut),
        (ErrorKind::Busy, io::ErrorKind::WouldBlock),
        (ErrorKind::NotSupported, io::ErrorKind::Unsupported),
        (ErrorKind::BackendMissing, io::ErrorKind::Unsupported),
        (ErrorKind::Internal, io::ErrorKind::Other),
        (ErrorKind::Other(4711), io::ErrorKind::Other),
    ] {
        assert_eq!(io::ErrorKind::from(kind), wanted, "{kind:?}");
    }
}

#[test]
fn every_kind_has_its_name() {
    for code in 1..200 {
        let kind = ErrorKind::from_code(code);
        assert_eq!(kind.code(), code);
        // The library and this crate know the same statuses.
        let known = !matches!(kind, ErrorKind::Other(_));
        assert_eq!(kind.name() != "unknown status", known, "{code}");
    }
    assert_eq!(ErrorKind::Cancelled.name(), "MNN_ERROR_CANCELLED");
}

#[test]
fn unknown_numbers_stay_themselves() {
    for code in [-1, 7, 4711, i32::MAX, i32::MIN] {
        assert_eq!(ErrorKind::from_code(code), ErrorKind::Other(code));
        assert_eq!(ErrorKind::Other(code).code(), code);
        assert_eq!(ErrorKind::Other(code).name(), "unknown status");
        assert_eq!(ElementType::from_code(code).code(), code);
        assert_eq!(Format::from_code(code).code(), code);
    }
    assert_eq!(ElementType::from_code(1), ElementType::Float32);
    assert_eq!(LogLevel::from_code(0), LogLevel::Default);
}

#[test]
fn each_thread_has_its_own_sentence() {
    let session = open_session();
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let session = &session;
            scope.spawn(move || {
                for round in 0..100 {
                    let name = format!("worker {worker} round {round}");
                    let sentence = assert_fails(session.input(&name), ErrorKind::NotFound);
                    assert!(sentence.contains(&name), "{sentence}");
                }
            });
        }
    });
}

#[test]
fn the_library() {
    assert!(mnn_c::version().starts_with("0."), "{}", mnn_c::version());
    assert_eq!(mnn_c::abi_version().0, 0);
    let backends = mnn_c::backends().unwrap();
    assert!(backends.iter().any(|backend| backend.name == "cpu"));
    assert!(mnn_c::devices(mnn_c::ForwardType::Cpu).unwrap().is_empty());
    assert_fails(mnn_c::devices(mnn_c::ForwardType::Auto), ErrorKind::InvalidValue);
    assert_fails(
        mnn_c::devices(mnn_c::ForwardType::Other(5)),
        ErrorKind::InvalidValue,
    );
}

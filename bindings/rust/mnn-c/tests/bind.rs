//! Inputs and outputs in buffers of the caller.

mod support;

use mnn_c::{ErrorKind, Format};
use support::*;

#[test]
fn runs_use_the_buffers() {
    let mut session = open_session();
    session
        .bind_input("image", pixels(PIXELS, 5), Format::Nchw)
        .unwrap();
    session
        .bind_output("scores", vec![7f32; CLASSES + 1], Format::Nchw)
        .unwrap();
    for seed in 5..8 {
        session
            .bound_input_mut::<f32>("image")
            .unwrap()
            .copy_from_slice(&pixels(PIXELS, seed));
        session.run().unwrap();
        let scores = session.bound_output::<f32>("scores").unwrap();
        assert_eq!(scores[..CLASSES], reference(seed));
        assert_eq!(scores[CLASSES], 7.0);
    }
    let image = session.input("image").unwrap().read::<f32>(Format::Nhwc).unwrap();
    assert_eq!(image, pixels(PIXELS, 7));
    assert_eq!(
        session.release_input::<f32>("image").unwrap().unwrap(),
        pixels(PIXELS, 7)
    );
    assert_eq!(
        session.release_output::<f32>("scores").unwrap().unwrap().len(),
        CLASSES + 1
    );
    assert!(session.release_output::<f32>("scores").unwrap().is_none());
    assert_fails(
        session.output("scores").unwrap().read::<f32>(Format::Nchw),
        ErrorKind::BadState,
    );
    assert_eq!(classify(&mut session, &pixels(PIXELS, 9)).unwrap(), reference(9));
}

#[test]
fn buffers_that_do_not_fit() {
    let mut session = open_session();
    let few = vec![0f32; PIXELS - 1];
    assert_fails(
        session.bind_input("image", few, Format::Nchw),
        ErrorKind::InputData,
    );
    let ints = vec![0i32; PIXELS];
    assert_fails(
        session.bind_input("image", ints, Format::Nchw),
        ErrorKind::BadType,
    );
    let small = vec![0f32; CLASSES - 1];
    assert_fails(
        session.bind_output("scores", small, Format::Nchw),
        ErrorKind::BufferTooSmall,
    );
    assert_fails(
        session.bind_input("scores", vec![0f32], Format::Nchw),
        ErrorKind::NotFound,
    );
    assert_fails(session.bound_input_mut::<f32>("image"), ErrorKind::BadState);
    assert_fails(session.bound_output::<f32>("scores"), ErrorKind::BadState);
    session
        .bind_input("image", vec![0f32; PIXELS], Format::Nchw)
        .unwrap();
    assert_fails(session.bound_input_mut::<i32>("image"), ErrorKind::BadType);
    assert_fails(session.release_input::<u8>("image"), ErrorKind::BadType);
    assert_fails(
        session
            .input_mut("image")
            .unwrap()
            .write(&[0f32; PIXELS], Format::Nchw),
        ErrorKind::BadState,
    );
    session.run().unwrap();
}

#[test]
fn a_resize_ends_bindings() {
    let mut session = open_session();
    session
        .bind_input("image", vec![0f32; PIXELS], Format::Nchw)
        .unwrap();
    session.input_mut("image").unwrap().resize(&[2, 1, 8, 8]).unwrap();
    let early = vec![0f32; 2 * PIXELS];
    assert_fails(
        session.bind_input("image", early, Format::Nchw),
        ErrorKind::BadState,
    );
    session.resize().unwrap();
    assert_fails(session.run(), ErrorKind::BadState);
    let mut both = pixels(PIXELS, 1);
    both.extend(pixels(PIXELS, 2));
    session.bind_input("image", both, Format::Nchw).unwrap();
    session.run().unwrap();
    let scores: Vec<f32> = session.output("scores").unwrap().read(Format::Nchw).unwrap();
    // A batch of two images may use another algorithm than one image.
    for (score, alone) in scores.iter().zip(reference(1)) {
        assert!((score - alone).abs() <= 1e-4, "{score} is not {alone}");
    }
}

#[test]
fn memory_of_something_else() {
    let image = pixels(PIXELS, 12);
    let mut scores = [0f32; CLASSES];
    let mut session = open_session();
    // SAFETY: both arrays outlive the session and are left alone while it runs.
    unsafe {
        session
            .bind_input_raw("image", image.as_ptr(), image.len(), Format::Nchw)
            .unwrap();
        session
            .bind_output_raw("scores", scores.as_mut_ptr(), CLASSES, Format::Nchw)
            .unwrap();
        let overlap = image.as_ptr() as *mut f32;
        assert_fails(
            session.bind_output_raw("scores", overlap, CLASSES, Format::Nchw),
            ErrorKind::InvalidValue,
        );
        assert_fails(
            session.bind_input_raw("image", image.as_ptr(), usize::MAX, Format::Nchw),
            ErrorKind::InvalidValue,
        );
    }
    session.run().unwrap();
    drop(session);
    assert_eq!(scores[..], reference(12));
}

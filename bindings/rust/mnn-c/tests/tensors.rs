//! Tensors: descriptions, copies, mappings, and refused arguments.

mod support;

use mnn_c::{Bf16, ElementType, ErrorKind, Format, F16, MAX_RANK};
use support::*;

#[test]
fn what_a_tensor_tells() {
    let mut session = open_session();
    let input = session.input("image").unwrap();
    assert_eq!(input.name().unwrap(), "image");
    assert_eq!(input.shape().unwrap(), [1, 1, 8, 8]);
    assert_eq!(input.element_type().unwrap(), ElementType::Float32);
    assert_eq!(input.format().unwrap(), Format::Nchw);
    assert_eq!(input.element_count().unwrap(), PIXELS);
    assert_eq!(input.byte_size(Format::Nchw).unwrap(), 4 * PIXELS);
    assert_eq!(input.byte_size(Format::Nc4hw4).unwrap(), 4 * 4 * PIXELS);
    assert_eq!(session.input_at(0).unwrap().name().unwrap(), "image");
    assert_eq!(session.output_at(0).unwrap().name().unwrap(), "scores");
    assert_eq!(session.input_mut("image").unwrap().name().unwrap(), "image");
    assert_eq!(
        session.output_at_mut(0).unwrap().shape().unwrap(),
        [1, CLASSES as i32]
    );
}

#[test]
fn names_and_indices_that_are_not_there() {
    let mut session = open_session();
    let sentence = assert_fails(session.input("picture"), ErrorKind::NotFound);
    assert!(
        sentence.contains("picture") && sentence.contains("image"),
        "{sentence}"
    );
    assert_fails(session.output("image"), ErrorKind::NotFound);
    assert_fails(session.input_mut("scores"), ErrorKind::NotFound);
    assert_fails(session.output_mut("image"), ErrorKind::NotFound);
    assert_fails(session.input("ima\0ge"), ErrorKind::InvalidValue);
    assert_fails(session.output("ima\0ge"), ErrorKind::InvalidValue);
    assert_fails(session.input_at(1), ErrorKind::BadIndex);
    assert_fails(session.output_at(1), ErrorKind::BadIndex);
    assert_fails(session.input_at_mut(usize::MAX), ErrorKind::BadIndex);
    assert_fails(session.output_at_mut(1), ErrorKind::BadIndex);
}

#[test]
fn written_elements_are_read_in_every_format() {
    let mut session = open_session();
    session.input_mut("image").unwrap().resize(&[1, 1, 8, 8]).unwrap();
    let image = pixels(PIXELS, 5);
    session
        .input_mut("image")
        .unwrap()
        .write(&image, Format::Nhwc)
        .unwrap();
    let input = session.input("image").unwrap();
    assert_eq!(input.read::<f32>(Format::Nchw).unwrap(), image);
    let packed: Vec<f32> = input.read(Format::Nc4hw4).unwrap();
    assert_eq!(packed.len(), 4 * PIXELS);
    for (group, wanted) in packed.chunks(4).zip(&image) {
        assert_eq!(group, [*wanted, 0.0, 0.0, 0.0]);
    }
}

#[test]
fn a_larger_buffer_keeps_its_rest() {
    let mut session = open_session();
    let wanted = classify(&mut session, &pixels(PIXELS, 6)).unwrap();
    let mut buffer = [-7f32; CLASSES + 3];
    let output = session.output("scores").unwrap();
    output.read_into(&mut buffer, Format::Nchw).unwrap();
    assert_eq!(buffer[..CLASSES], wanted);
    assert_eq!(buffer[CLASSES..], [-7.0; 3]);
    let mut small = [0f32; CLASSES - 1];
    assert_fails(
        output.read_into(&mut small, Format::Nchw),
        ErrorKind::BufferTooSmall,
    );
    assert_fails(output.read::<f32>(Format::Other(9)), ErrorKind::InvalidValue);
}

#[test]
fn other_element_types_are_refused() {
    let mut session = open_session();
    let mut input = session.input_mut("image").unwrap();
    let sentence = assert_fails(input.write(&[0i32; PIXELS], Format::Nchw), ErrorKind::BadType);
    assert!(
        sentence.contains("image") && sentence.contains("Float32"),
        "{sentence}"
    );
    assert_fails(input.write(&[0u8; 4 * PIXELS], Format::Nchw), ErrorKind::BadType);
    assert_fails(
        input.write(&[F16(0); 2 * PIXELS], Format::Nchw),
        ErrorKind::BadType,
    );
    assert_fails(input.map::<i8>(), ErrorKind::BadType);
    assert_fails(input.map_mut::<u16>(), ErrorKind::BadType);
    assert_fails(input.map_write::<i16>(), ErrorKind::BadType);
    assert_fails(input.read::<Bf16>(Format::Nchw), ErrorKind::BadType);
    assert_fails(
        input.read_into(&mut [0i32; PIXELS], Format::Nchw),
        ErrorKind::BadType,
    );
}

#[test]
fn other_sizes_are_refused() {
    let mut session = open_session();
    let mut input = session.input_mut("image").unwrap();
    assert_fails(
        input.write(&[0f32; PIXELS - 1], Format::Nchw),
        ErrorKind::InputData,
    );
    assert_fails(
        input.write(&[0f32; PIXELS + 1], Format::Nchw),
        ErrorKind::InputData,
    );
    assert_fails(input.write::<f32>(&[], Format::Nchw), ErrorKind::InputData);
    assert_fails(
        input.write(&[0f32; PIXELS], Format::Other(-1)),
        ErrorKind::InvalidValue,
    );
    assert_fails(input.byte_size(Format::Other(3)), ErrorKind::InvalidValue);
}

#[test]
fn outputs_come_from_a_run_alone() {
    let mut session = open_session();
    assert_fails(
        session.output("scores").unwrap().read::<f32>(Format::Nchw),
        ErrorKind::BadState,
    );
    let mut output = session.output_mut("scores").unwrap();
    assert_fails(output.map::<f32>(), ErrorKind::BadState);
    assert_fails(output.write(&[0f32; CLASSES], Format::Nchw), ErrorKind::BadState);
    assert_fails(output.map_mut::<f32>(), ErrorKind::BadState);
    assert_fails(output.map_write::<f32>(), ErrorKind::BadState);
    assert_fails(output.resize(&[1, 10]), ErrorKind::BadHandle);
}

#[test]
fn resizing() {
    let mut session = open_session();
    let images = pixels(3 * PIXELS, 7);
    session.input_mut("image").unwrap().resize(&[3, 1, 8, 8]).unwrap();
    assert!(session.needs_resize().unwrap());
    assert_eq!(session.input("image").unwrap().shape().unwrap(), [3, 1, 8, 8]);
    assert_fails(session.output("scores").unwrap().shape(), ErrorKind::BadState);
    assert_fails(session.run(), ErrorKind::BadState);
    assert_fails(session.flops(), ErrorKind::BadState);
    assert_fails(session.op_count(), ErrorKind::BadState);
    assert_fails(session.op(0), ErrorKind::BadState);
    assert_fails(
        session.input_mut("image").unwrap().write(&images, Format::Nchw),
        ErrorKind::BadState,
    );
    session.resize().unwrap();
    assert!(!session.needs_resize().unwrap());
    let together = classify(&mut session, &images).unwrap();
    for (image, scores) in images.chunks(PIXELS).zip(together.chunks(CLASSES)) {
        let alone = classify(&mut open_session(), image).unwrap();
        for (a, b) in alone.iter().zip(scores) {
            assert!((a - b).abs() <= 1e-4 * (1.0 + a.abs()), "{a} {b}");
        }
    }
}

#[test]
fn shapes_that_are_refused() {
    let mut session = open_session();
    let mut input = session.input_mut("image").unwrap();
    assert_fails(input.resize(&[-1, 1, 8, 8]), ErrorKind::BadRange);
    assert_fails(input.resize(&[1; MAX_RANK + 1]), ErrorKind::BadRange);
    assert_fails(input.resize(&[i32::MAX; 4]), ErrorKind::Overflow);
    assert_eq!(input.shape().unwrap(), [1, 1, 8, 8]);
    input.resize(&[1, 5, 8, 8]).unwrap();
    assert!(session.resize().is_err());
    assert!(session.needs_resize().unwrap());
    session.input_mut("image").unwrap().resize(&[1, 1, 8, 8]).unwrap();
    session.resize().unwrap();
    assert_eq!(classify(&mut session, &pixels(PIXELS, 8)).unwrap(), reference(8));
}

#[test]
fn mappings() {
    let mut session = open_session();
    let image = pixels(PIXELS, 9);
    session
        .input_mut("image")
        .unwrap()
        .map_mut::<f32>()
        .unwrap()
        .copy_from_slice(&image);
    assert_eq!(
        *session.input_mut("image").unwrap().map::<f32>().unwrap(),
        image[..]
    );
    session.run().unwrap();
    assert_eq!(
        *session.output_mut("scores").unwrap().map::<f32>().unwrap(),
        reference(9)[..]
    );

    let mut input = session.input_mut("image").unwrap();
    let mut elements = input.map_write::<f32>().unwrap();
    assert!(elements.iter().all(|element| *element == 0.0));
    elements.copy_from_slice(&pixels(PIXELS, 10));
    elements.unmap().unwrap();
    session.run().unwrap();
    assert_eq!(
        session
            .output("scores")
            .unwrap()
            .read::<f32>(Format::Nchw)
            .unwrap(),
        reference(10)
    );
}

#[test]
fn a_forgotten_mapping_blocks_only_itself() {
    let mut session = open_session();
    std::mem::forget(session.input_mut("image").unwrap().map::<f32>().unwrap());
    assert_fails(
        session.input_mut("image").unwrap().map::<f32>(),
        ErrorKind::BadState,
    );
    assert_eq!(
        classify(&mut session, &pixels(PIXELS, 11)).unwrap(),
        reference(11)
    );
}

#[test]
fn empty_tensors() {
    let mut session = open_session();
    session.input_mut("image").unwrap().resize(&[0, 1, 8, 8]).unwrap();
    session.resize().unwrap();
    let mut input = session.input_mut("image").unwrap();
    input.write::<f32>(&[], Format::Nchw).unwrap();
    assert!(input.map_mut::<f32>().unwrap().is_empty());
    session.run().unwrap();
    assert!(session
        .output("scores")
        .unwrap()
        .read::<f32>(Format::Nchw)
        .unwrap()
        .is_empty());
}

#[test]
fn elements_of_other_types_are_converted() {
    let mut session = open_session();
    let mut input = session.input_mut("image").unwrap();
    let whole: Vec<i64> = (0..PIXELS as i64).collect();
    input.write_as(&whole, Format::Nchw).unwrap();
    assert_eq!(input.read::<f32>(Format::Nchw).unwrap()[63], 63.0);
    assert_eq!(input.read_as::<i64>(Format::Nchw).unwrap(), whole);
    assert_eq!(input.read_as::<f64>(Format::Nhwc).unwrap()[5], 5.0);
    let truths = input.read_as::<bool>(Format::Nchw).unwrap();
    assert_eq!(truths[..3], [false, true, true]);
    let mut halves = vec![F16(0xffff); PIXELS + 1];
    input.read_into_as(&mut halves, Format::Nchw).unwrap();
    assert_eq!(halves[1], F16(0x3c00));
    assert_eq!(halves[PIXELS], F16(0xffff));
    assert_fails(
        input.write_as(&[1e300f64; PIXELS], Format::Nchw),
        ErrorKind::InputData,
    );
    assert_fails(input.write_as(&[1i64], Format::Nchw), ErrorKind::InputData);
    input.write_as(&[0.5f64; PIXELS], Format::Nchw).unwrap();
    assert_fails(input.read_as::<i64>(Format::Nchw), ErrorKind::InputData);
}

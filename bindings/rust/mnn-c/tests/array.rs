//! Tensors from and to arrays.
#![cfg(feature = "ndarray")]

mod support;

use mnn_c::{ErrorKind, Format};
use ndarray::{Array, Array4, ArrayD};
use support::*;

#[test]
fn arrays_in_and_out() {
    let mut session = open_session();
    let image = Array4::from_shape_vec((1, 1, 8, 8), pixels(PIXELS, 1)).unwrap();
    session.input_mut("image").unwrap().write_array(&image).unwrap();
    let back: ArrayD<f32> = session.input("image").unwrap().read_array().unwrap();
    assert_eq!(back, image.into_dyn());
    session.run().unwrap();
    let scores: ArrayD<f32> = session.output("scores").unwrap().read_array().unwrap();
    assert_eq!(scores.shape(), [1, CLASSES]);
    assert_eq!(scores.into_raw_vec(), reference(1));
}

#[test]
fn arrays_that_do_not_lie_in_order() {
    let mut session = open_session();
    let image = Array4::from_shape_vec((1, 1, 8, 8), pixels(PIXELS, 2)).unwrap();
    let turned = image.permuted_axes([0, 1, 3, 2]);
    session.input_mut("image").unwrap().write_array(&turned).unwrap();
    let read: Vec<f32> = session.input("image").unwrap().read(Format::Nchw).unwrap();
    assert_eq!(read, turned.iter().copied().collect::<Vec<_>>());
}

#[test]
fn arrays_that_do_not_fit() {
    let mut session = open_session();
    let mut input = session.input_mut("image").unwrap();
    let sentence = assert_fails(
        input.write_array(&Array::<f32, _>::zeros(PIXELS)),
        ErrorKind::InputData,
    );
    assert!(sentence.contains("[64]"), "{sentence}");
    let other = Array::<f32, _>::zeros((1, 1, 4, 16));
    assert_fails(input.write_array(&other), ErrorKind::InputData);
    let other = Array::<i32, _>::zeros((1, 1, 8, 8));
    assert_fails(input.write_array(&other), ErrorKind::BadType);
    assert_fails(input.read_array::<i8>(), ErrorKind::BadType);
}

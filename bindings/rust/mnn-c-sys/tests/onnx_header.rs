//! Compares the declarations of the feature `onnx` with the installed mnn_c_onnx.h.
#![cfg(feature = "onnx")]

mod support;

use support::*;

const SOURCE: &str = include_str!("../src/onnx.rs");
const HEADER: &str = "mnn_c_onnx.h";

#[test]
fn prototypes_are_those_of_the_header() {
    if let Some(header) = declarations(&["mnn_c.h"], HEADER) {
        compare(declared_functions(SOURCE), prototypes(&header), 11);
        compare(declared_function_types(SOURCE), function_types(&header), 1);
    }
}

#[test]
fn constants_are_those_of_the_header() {
    if let Some(header) = declarations(&["mnn_c.h"], HEADER) {
        compare(
            declared_constants(SOURCE),
            constants_of(HEADER, &constant_names(&header)),
            4,
        );
    }
}

#[test]
fn layouts_are_those_of_the_header() {
    if let Some(header) = declarations(&["mnn_c.h"], HEADER) {
        compare(layouts::mnn_c_onnx(), layouts_of(HEADER, &header), 41);
    }
}

//! The declarations of the feature `onnx` against the installed mnn_c_onnx.h.
#![cfg(feature = "onnx")]

#[macro_use]
mod support;

use mnn_c_sys::*;
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
    let mut found = Names::new();
    layout!(found, mnn_onnx_shape_t: input dims rank);
    layout!(found, mnn_onnx_extent_t: name extent);
    layout!(found, mnn_onnx_options_t: struct_size weights weight_block shapes shape_count extents extent_count outputs
        output_count data_folder follow_links weights_beside max_memory_bytes cancel progress progress_user_data);
    layout!(found, mnn_onnx_report_t: struct_size nodes functions operators folded problems notes);
    layout!(found, mnn_onnx_problem_t: struct_size node domain op_type reason opset status reserved);
    if let Some(header) = declarations(&["mnn_c.h"], HEADER) {
        compare(found, layouts_of(HEADER, &header), 41);
    }
}

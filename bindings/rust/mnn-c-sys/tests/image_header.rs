//! The declarations of the feature `image` against the installed mnn_c_image.h.
#![cfg(feature = "image")]

#[macro_use]
mod support;

use mnn_c_sys::*;
use support::*;

const SOURCE: &str = include_str!("../src/image.rs");
const HEADER: &str = "mnn_c_image.h";

#[test]
fn prototypes_are_those_of_the_header() {
    if let Some(header) = declarations(&["mnn_c.h"], HEADER) {
        compare(declared_functions(SOURCE), prototypes(&header), 11);
        assert!(function_types(&header).is_empty() && declared_function_types(SOURCE).is_empty());
    }
}

#[test]
fn constants_are_those_of_the_header() {
    if let Some(header) = declarations(&["mnn_c.h"], HEADER) {
        let mut names = constant_names(&header);
        names.extend(macro_names(HEADER, "MNN_IMAGE_"));
        assert!(names.contains(&"MNN_IMAGE_MAX_EXTENT".to_string()), "{names:?}");
        compare(declared_constants(SOURCE), constants_of(HEADER, &names), 14);
    }
}

#[test]
fn layouts_are_those_of_the_header() {
    let mut found = Names::new();
    layout!(found, mnn_image_t: struct_size format width height reserved stride pixels bytes);
    layout!(found, mnn_image_options_t: struct_size filter wrap padding has_matrix matrix mean scale has_scale reserved);
    layout!(found, mnn_image_values_t: struct_size format width height r#type layout reserved data bytes);
    if let Some(header) = declarations(&["mnn_c.h"], HEADER) {
        compare(found, layouts_of(HEADER, &header), 29);
    }
}

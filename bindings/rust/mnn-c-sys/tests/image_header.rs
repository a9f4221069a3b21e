//! Compares the declarations of the feature `image` with the installed mnn_c_image.h.
#![cfg(feature = "image")]

mod support;

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
    if let Some(header) = declarations(&["mnn_c.h"], HEADER) {
        compare(layouts::mnn_c_image(), layouts_of(HEADER, &header), 29);
    }
}

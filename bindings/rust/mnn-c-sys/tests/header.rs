//! Compares the declarations of this crate with the installed mnn_c.h.

mod support;

use support::*;

const CONSTANTS: &str = include_str!("../src/constants.rs");
const FUNCTIONS: &str = include_str!("../src/functions.rs");
const TYPES: &str = include_str!("../src/types.rs");

const BEFORE: &[&str] = &["stdbool.h", "stddef.h", "stdint.h"];

#[test]
fn prototypes_are_those_of_the_header() {
    if let Some(header) = declarations(BEFORE, "mnn_c.h") {
        compare(declared_functions(FUNCTIONS), prototypes(&header), 65);
        compare(declared_function_types(TYPES), function_types(&header), 3);
    }
}

#[test]
fn constants_are_those_of_the_header() {
    if let Some(header) = declarations(BEFORE, "mnn_c.h") {
        let wanted = constants_of("mnn_c.h", &constant_names(&header));
        compare(declared_constants(CONSTANTS), wanted, 80);
    }
}

#[test]
fn layouts_are_those_of_the_header() {
    if let Some(header) = declarations(BEFORE, "mnn_c.h") {
        compare(layouts::mnn_c(), layouts_of("mnn_c.h", &header), 50);
    }
}

//! Compares the declarations of a crate with those of an installed header, which `compiler` gets from a C compiler.

#![allow(dead_code, unused_imports)] // each test uses a part of it

/// Adds offsets and sizes of a struct of Rust.
macro_rules! layout {
    ($result:ident, $name:ident: $($field:ident)*) => {
        $result.insert(stringify!($name).to_string(), (0, std::mem::size_of::<$name>()));
        let place = std::mem::MaybeUninit::<$name>::uninit();
        let start = place.as_ptr();
        $(
            // SAFETY: the memory exists, and only addresses in it are computed.
            let field = unsafe { std::ptr::addr_of!((*start).$field) };
            $result.insert(
                // A keyword of Rust is a name in C.
                concat!(stringify!($name), ".", stringify!($field)).replace("r#", ""),
                (field as usize - start as usize, $crate::support::size_of_target(field)),
            );
        )*
    };
}

mod compiler;
#[rustfmt::skip]
pub mod layouts;

pub use compiler::{constants_of, declarations, layouts_of, macro_names};

use std::collections::BTreeMap;

pub type Names<T> = BTreeMap<String, T>;

/// Checks that the crate declares everything that the header has: at least `fewest` entries, so that the check fails
/// where it finds none.
pub fn compare<T: PartialEq + std::fmt::Debug>(declared: Names<T>, wanted: Names<T>, fewest: usize) {
    assert!(
        wanted.len() >= fewest,
        "only {} were found in the header",
        wanted.len()
    );
    assert_eq!(declared, wanted);
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn between<'t>(text: &'t str, open: &str, close: &str) -> Vec<&'t str> {
    let parts = text.split(open).skip(1);
    parts
        .map(|part| part.split(close).next().unwrap_or_default())
        .collect()
}

/// `const char** name` as Rust writes it: `*mut *const c_char`.
fn rust_type(c: &str) -> String {
    let spaced = c.replace('*', " * ");
    let mut result = String::new();
    let mut constant = false;
    for word in spaced.split_whitespace() {
        match word {
            "const" => constant = true,
            "*" => {
                result.insert_str(0, if constant { "*const " } else { "*mut " });
                constant = false;
            }
            _ if result.is_empty() => {
                result = match word {
                    "char" => "c_char",
                    "void" => "c_void",
                    "int32_t" => "i32",
                    "uint32_t" => "u32",
                    "int64_t" => "i64",
                    "uint64_t" => "u64",
                    "size_t" => "usize",
                    "float" => "f32",
                    "double" => "f64",
                    "_Bool" => "bool",
                    other => other,
                }
                .to_string()
            }
            _ => {} // the name of an argument
        }
    }
    result
}

/// "(arguments) -> result" of C, as Rust writes it.
fn rust_signature(arguments: &str, returned: &str) -> String {
    let arguments = arguments.trim_end().trim_end_matches(')').split(',');
    let arguments: Vec<String> = arguments
        .filter(|argument| argument.trim() != "void")
        .map(rust_type)
        .collect();
    let returned = match rust_type(returned).as_str() {
        "c_void" => "()".to_string(),
        other => other.to_string(),
    };
    format!("({}) -> {returned}", arguments.join(", "))
}

/// Does the same for a Rust declaration that begins behind its opening parenthesis.
fn declared_signature(declaration: &str) -> String {
    let (arguments, returned) = declaration.split_once(')').expect("arguments");
    let arguments = arguments
        .split(',')
        .filter_map(|argument| argument.split_once(':'));
    let arguments: Vec<&str> = arguments.map(|(_, kind)| kind.trim()).collect();
    let returned = returned.trim_matches(|c: char| !is_name(c) && c != '*');
    let returned = if returned.is_empty() { "()" } else { returned };
    format!("({}) -> {returned}", arguments.join(", "))
}

/// Every function of the header and its signature.
pub fn prototypes(header: &str) -> Names<String> {
    let mut result = Names::new();
    for declaration in header
        .split(';')
        .filter(|text| !text.contains("typedef") && !text.contains('{'))
    {
        if let Some((head, arguments)) = declaration.split_once('(') {
            let name = head.rsplit(|c| !is_name(c)).next().unwrap_or_default();
            let returned = &head[..head.len() - name.len()];
            result.insert(name.into(), rust_signature(arguments, returned));
        }
    }
    result
}

/// Every function of a Rust source and its signature.
pub fn declared_functions(source: &'static str) -> Names<String> {
    let split = |text: &'static str| text.split_once('(').expect("arguments");
    let functions = between(source, "pub fn ", ";").into_iter().map(split);
    functions
        .map(|(name, rest)| (name.into(), declared_signature(rest)))
        .collect()
}

/// Every function type of the header and its signature.
pub fn function_types(header: &str) -> Names<String> {
    let mut result = Names::new();
    for definition in between(header, "typedef ", ";") {
        if let Some((returned, rest)) = definition.split_once("(*") {
            let (name, arguments) = rest.split_once(")(").expect("arguments");
            result.insert(name.into(), rust_signature(arguments, returned));
        }
    }
    result
}

/// Every function type of a Rust source and its signature.
pub fn declared_function_types(source: &str) -> Names<String> {
    let mut result = Names::new();
    for definition in between(source, "pub type ", ";") {
        let (name, definition) = definition.split_once('=').expect("a type");
        if let Some((_, rest)) = definition.split_once("fn(") {
            result.insert(name.trim().into(), declared_signature(rest));
        }
    }
    result
}

/// Every constant of a Rust source.
pub fn declared_constants(source: &str) -> Names<i64> {
    let mut result = Names::new();
    for declaration in between(source, "pub const ", ";") {
        let (name, value) = declaration.split_once(": i32 = ").expect("an i32 constant");
        result.insert(name.into(), value.parse().expect("a number"));
    }
    result
}

/// Every name of an enumeration of the header.
pub fn constant_names(header: &str) -> Vec<String> {
    between(header, "enum {", "}")
        .iter()
        .flat_map(|list| list.split(','))
        .map(|entry| entry.split('=').next().unwrap_or_default().trim().to_string())
        .filter(|name| !name.is_empty())
        .collect()
}

pub fn size_of_target<T>(_: *const T) -> usize {
    std::mem::size_of::<T>()
}

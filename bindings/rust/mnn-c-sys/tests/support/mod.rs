//! The declarations of a crate against an installed header: a C compiler prints constants and layouts, its preprocessor
//! the prototypes.

#![allow(dead_code)] // each test uses a part of it

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

pub type Names<T> = BTreeMap<String, T>;

/// `cc`, or `None` with a message where there is no C compiler.
fn compiler() -> Option<Command> {
    let name = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut words = name.split_whitespace();
    let program = words.next().unwrap_or("cc");
    if Command::new(program).arg("--version").output().is_err() {
        eprintln!("skipped: no C compiler '{name}'");
        return None;
    }
    let mut command = Command::new(program);
    command.args(words);
    for folder in env!("MNN_C_INCLUDE")
        .split(':')
        .filter(|folder| !folder.is_empty())
    {
        command.arg("-I").arg(folder);
    }
    Some(command)
}

/// Runs a command with a text on its standard input, and gives what it prints.
fn filter(command: &mut Command, text: &str) -> String {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(text.as_bytes()).expect("the command reads");
    drop(input);
    let output = child.wait_with_output().expect("the command ends");
    assert!(output.status.success(), "{command:?} failed");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// What a header declares, without comments and macros and without what the headers `before` it declare. `None` where there
/// is no C compiler.
pub fn declarations(before: &[&str], header: &str) -> Option<String> {
    const BEGIN: &str = "int the_header_begins_here;";
    let includes: String = before.iter().map(|name| include(name)).collect();
    let source = format!("{includes}{BEGIN}\n{}", include(header));
    let mut command = compiler()?;
    let text = filter(command.args(["-E", "-P", "-x", "c", "-"]), &source);
    let (_, text) = text.split_once(BEGIN).expect("the mark is there");
    Some(text.replace("__attribute__((visibility(\"default\")))", ""))
}

fn include(header: &str) -> String {
    format!("#include <{header}>\n")
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

/// The same of a Rust declaration that begins behind its opening parenthesis.
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

/// Every macro of a header that begins with `prefix`.
pub fn macro_names(header: &str, prefix: &str) -> Vec<String> {
    let mut command = compiler().expect("there is a compiler");
    let text = filter(command.args(["-E", "-dM", "-x", "c", "-"]), &include(header));
    text.lines()
        .filter_map(|line| line.strip_prefix("#define ")?.split(' ').next())
        .filter(|name| name.starts_with(prefix))
        .map(str::to_string)
        .collect()
}

/// The body of a program that prints "struct 0 size" and "struct.field offset size" for every struct.
fn layout_program(header: &str) -> String {
    let mut program = String::new();
    for part in header.split("typedef struct ").skip(1) {
        let (head, rest) = part.split_once('{').unwrap_or((part, ""));
        if head.contains(';') || rest.is_empty() {
            continue; // an opaque one
        }
        let (fields, rest) = rest.split_once('}').expect("a closed struct");
        let name = rest.split(';').next().unwrap_or_default().trim();
        program += &format!("    printf(\"{name} 0 %zu\\n\", sizeof({name}));\n");
        for field in fields.split(';').map(str::trim).filter(|field| !field.is_empty()) {
            let field = field.split('[').next().unwrap_or_default();
            let field = field.rsplit(|c| !is_name(c)).next().unwrap_or_default();
            program += &format!(
                "    printf(\"{name}.{field} %zu %zu\\n\", offsetof({name}, {field}), \
                 sizeof((({name}*)0)->{field}));\n"
            );
        }
    }
    program
}

/// Compiles and runs a C program whose main has the given body.
fn run_c(name: &str, header: &str, body: &str) -> String {
    let mut command = compiler().expect("there is a compiler");
    let program =
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let source = format!(
        "{}#include <stddef.h>\n#include <stdio.h>\nint main(void) {{\n{body}    return 0;\n}}\n",
        include(header)
    );
    filter(command.args(["-x", "c", "-", "-o"]).arg(&program), &source);
    let printed = filter(&mut Command::new(&program), "");
    std::fs::remove_file(&program).expect("the program can be removed");
    printed
}

/// The values of constants, by the C compiler.
pub fn constants_of(header: &str, names: &[String]) -> Names<i64> {
    let body: String = names
        .iter()
        .map(|name| format!("    printf(\"{name} %lld\\n\", (long long){name});\n"))
        .collect();
    run_c("constants", header, &body)
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(name, value)| (name.to_string(), value.parse().expect("a number")))
        .collect()
}

/// "struct" or "struct.field" -> offset and size, of every struct that is declared, by the C compiler.
pub fn layouts_of(header: &str, declarations: &str) -> Names<(usize, usize)> {
    run_c("layouts", header, &layout_program(declarations))
        .lines()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |i: usize| words[i].parse().expect("a number");
            (words[0].to_string(), (number(1), number(2)))
        })
        .collect()
}

pub fn size_of_target<T>(_: *const T) -> usize {
    std::mem::size_of::<T>()
}

/// Adds offsets and sizes of a struct of Rust.
macro_rules! layout {
    ($result:ident, $name:ident: $($field:ident)*) => {
        $result.insert(stringify!($name).to_string(), (0, std::mem::size_of::<$name>()));
        let place = std::mem::MaybeUninit::<$name>::uninit();
        let start = place.as_ptr();
        $(
            // SAFETY: the place is there, only its addresses are asked for.
            let field = unsafe { std::ptr::addr_of!((*start).$field) };
            $result.insert(
                // A keyword of Rust is a name in C.
                concat!(stringify!($name), ".", stringify!($field)).replace("r#", ""),
                (field as usize - start as usize, $crate::support::size_of_target(field)),
            );
        )*
    };
}

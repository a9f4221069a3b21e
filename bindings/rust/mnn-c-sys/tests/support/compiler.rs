//! Reads the declarations of a header: a C compiler prints constants and layouts, its preprocessor the prototypes and
//! macros.

use super::{is_name, Names};
use std::io::Write;
use std::process::{Command, Stdio};

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

/// Runs a command with a text on its standard input, and returns its output.
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

/// Returns the declarations of a header, without comments and macros and without those of the headers `before` it.
/// `None` where there is no C compiler.
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

/// Returns the values of constants, by the C compiler.
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

/// Returns "struct" or "struct.field" -> offset and size for every declared struct, by the C compiler.
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

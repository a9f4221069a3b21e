//! The declarations against the installed header: a C compiler prints constants and layouts, its preprocessor
//! the prototypes.

use mnn_c_sys::*;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

const CONSTANTS: &str = include_str!("../src/constants.rs");
const FUNCTIONS: &str = include_str!("../src/functions.rs");
const TYPES: &str = include_str!("../src/types.rs");

type Names<T> = BTreeMap<String, T>;

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

/// The header without comments and macros, from its first own declaration on.
fn header() -> Option<String> {
    let mut command = compiler()?;
    let text = filter(command.args(["-E", "-P", "-x", "c", "-"]), "#include <mnn_c.h>\n");
    let first = text
        .find("typedef int32_t mnn_status;")
        .expect("mnn_status is declared");
    Some(text[first..].replace("__attribute__((visibility(\"default\")))", ""))
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
fn prototypes(header: &str) -> Names<String> {
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

fn declared_functions() -> Names<String> {
    let split = |text: &'static str| text.split_once('(').expect("arguments");
    let functions = between(FUNCTIONS, "pub fn ", ";").into_iter().map(split);
    functions
        .map(|(name, rest)| (name.into(), declared_signature(rest)))
        .collect()
}

/// Every function type of the header and its signature.
fn function_types(header: &str) -> Names<String> {
    let mut result = Names::new();
    for definition in between(header, "typedef ", ";") {
        if let Some((returned, rest)) = definition.split_once("(*") {
            let (name, arguments) = rest.split_once(")(").expect("arguments");
            result.insert(name.into(), rust_signature(arguments, returned));
        }
    }
    result
}

fn declared_function_types() -> Names<String> {
    let mut result = Names::new();
    for definition in between(TYPES, "pub type ", ";") {
        let (name, definition) = definition.split_once('=').expect("a type");
        if let Some((_, rest)) = definition.split_once("fn(") {
            result.insert(name.trim().into(), declared_signature(rest));
        }
    }
    result
}

fn declared_constants() -> Names<i64> {
    let mut result = Names::new();
    for declaration in between(CONSTANTS, "pub const ", ";") {
        let (name, value) = declaration.split_once(": i32 = ").expect("an i32 constant");
        result.insert(name.into(), value.parse().expect("a number"));
    }
    result
}

/// Every name of an enumeration of the header.
fn constant_names(header: &str) -> Vec<String> {
    between(header, "enum {", "}")
        .iter()
        .flat_map(|list| list.split(','))
        .map(|entry| entry.split('=').next().unwrap_or_default().trim().to_string())
        .filter(|name| !name.is_empty())
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
fn run_c(name: &str, body: &str) -> Option<String> {
    let mut command = compiler()?;
    let program =
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let source = format!(
        "#include <mnn_c.h>\n#include <stddef.h>\n#include <stdio.h>\n\
         int main(void) {{\n{body}    return 0;\n}}\n"
    );
    filter(command.args(["-x", "c", "-", "-o"]).arg(&program), &source);
    let printed = filter(&mut Command::new(&program), "");
    std::fs::remove_file(&program).expect("the program can be removed");
    Some(printed)
}

fn size_of_target<T>(_: *const T) -> usize {
    std::mem::size_of::<T>()
}

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
                (field as usize - start as usize, size_of_target(field)),
            );
        )*
    };
}

fn rust_layout() -> Names<(usize, usize)> {
    let mut result = Names::new();
    layout!(result, mnn_device_properties_t: struct_size name driver kind uuid memory_bytes api_version
        driver_version vendor_id device_id subgroup_size subgroup_arithmetic fp16_storage fp16_arithmetic);
    layout!(result, mnn_interpreter_options_t: struct_size load_mode log_level external_weight_path
        log_callback log_user_data log_finalizer cancel bytes_finalizer bytes_user_data external_weight_data
        external_weight_reader external_weight_size external_weight_mode external_weight_user_data
        external_weight_finalizer);
    layout!(result, mnn_declaration_t: struct_size name declared_type r#type format rank dims);
    layout!(result, mnn_schedule_config_t: struct_size forward_type backup_type allow_fallback threads
        precision memory power gpu_mode cpu_isa outputs output_count save_tensors save_tensor_count
        max_memory_bytes max_loop_iterations device cancel record_plan keep_subnormals defer_planning
        plan_cache runtime inputs input_count operators operator_count);
    layout!(result, mnn_vulkan_objects_t: struct_size instance physical_device device queue queue_family
        storage_16bit lock_queue unlock_queue user_data finalizer);
    layout!(result, mnn_device_buffer_t: struct_size kind allocate buffer offset bytes memory_bytes memory_type fd
        memory memory_offset);
    layout!(result, mnn_runtime_config_t: struct_size threads power cores core_count parallel_for
        parallel_for_user_data parallel_for_finalizer allocate release allocator_user_data
        allocator_finalizer device vulkan log_callback log_user_data log_finalizer log_level
        cpu_costs);
    layout!(result, mnn_resize_options_t: struct_size cancel);
    layout!(result, mnn_run_options_t: struct_size cancel before after user_data device_times done);
    layout!(result, mnn_memory_info_t: struct_size arena_bytes weight_bytes total_bytes peak_bytes);
    layout!(result, mnn_op_info_t: struct_size name type_name backend_name reason flops host_shape
        algorithm device_ms);
    layout!(result, mnn_cpu_properties_t: struct_size isas features logical_cores int8_products
        bf16_products fp16_arithmetic l1_data_bytes l2_bytes cost_record);
    layout!(result, mnn_model_properties_t: struct_size source usage byte_size metadata_count subgraph_count
        weightless);
    layout!(result, mnn_session_properties_t: struct_size forward_type wanted_forward_type reason device
        cpu_isa threads wanted_threads precision wanted_precision precision_reason memory wanted_memory
        memory_reason gpu_mode);
    layout!(result, mnn_statistics_t: struct_size runs failed_runs last_run_ns total_run_ns plans
        failed_plans last_plan_ns total_plan_ns stage_plans device_allocations memory_bytes peak_memory_bytes
        cache_read cache_written);
    layout!(result, mnn_tensor_properties_t: struct_size kind forward_type r#type format channel_block
        used);
    layout!(result, mnn_host_tensor_t: struct_size name data bytes r#type format rank dims);
    layout!(result, mnn_attribute_t: struct_size key r#type int_value float_value bool_value text ints int_count floats
        float_count bools bool_count texts text_count tensor function attributes attribute_count);
    layout!(result, mnn_node_t: struct_size name type_name schema_type engine info info_size attributes
        attribute_count input_count output_count parameters parameter_table);
    layout!(result, mnn_operator_call_t: struct_size node inputs input_count outputs output_count state message
        message_size weights weight_count);
    layout!(result, mnn_operator_t: struct_size name content_inputs shape prepare compute release user_data
        finalizer);
    layout!(result, mnn_backend_t: struct_size name supports prepare compute release user_data finalizer);
    result
}

#[test]
fn prototypes_are_those_of_the_header() {
    let header = match header() {
        Some(header) => header,
        None => return,
    };
    let wanted = prototypes(&header);
    assert!(wanted.len() >= 65, "only {} prototypes were found", wanted.len());
    assert_eq!(declared_functions(), wanted);
    let wanted = function_types(&header);
    assert!(
        wanted.len() >= 3,
        "only {} function types were found",
        wanted.len()
    );
    assert_eq!(declared_function_types(), wanted);
}

#[test]
fn constants_are_those_of_the_header() {
    let header = match header() {
        Some(header) => header,
        None => return,
    };
    let body: String = constant_names(&header)
        .iter()
        .map(|name| format!("    printf(\"{name} %lld\\n\", (long long){name});\n"))
        .collect();
    let printed = run_c("constants", &body).expect("there is a compiler");
    let wanted: Names<i64> = printed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(name, value)| (name.to_string(), value.parse().expect("a number")))
        .collect();
    assert!(wanted.len() >= 80, "only {} constants were found", wanted.len());
    assert_eq!(declared_constants(), wanted);
}

#[test]
fn layouts_are_those_of_the_header() {
    let header = match header() {
        Some(header) => header,
        None => return,
    };
    let printed = run_c("layouts", &layout_program(&header)).expect("there is a compiler");
    let wanted: Names<(usize, usize)> = printed
        .lines()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |i: usize| words[i].parse().expect("a number");
            (words[0].to_string(), (number(1), number(2)))
        })
        .collect();
    assert!(wanted.len() >= 50, "only {} fields were found", wanted.len());
    assert_eq!(rust_layout(), wanted);
}

//! Finds libmnn_c, or compiles it with the feature `vendored`; with the features `image` and `onnx` also libmnn_c_image
//! and libmnn_c_onnx. README.md lists the variables that it reads.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{exit, Command};

/// The sources of the libraries, in their repository and in the package of this crate.
const SOURCES: [&str; 9] = [
    "CMakeLists.txt",
    "backends",
    "cmake",
    "glsl",
    "image",
    "impl",
    "include",
    "onnx",
    "schema",
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let include = if variable("DOCS_RS").is_some() {
        Vec::new() // documentation needs no library
    } else if env::var_os("CARGO_FEATURE_VENDORED").is_some() {
        vec![compile(&sources())]
    } else if let Some(prefix) = variable("MNN_C_PREFIX") {
        vec![look_into(Path::new(&prefix))]
    } else {
        ask_pkg_config()
    };
    // For the test that compares the declarations with the header; empty where the compiler finds the header itself.
    let include: Vec<String> = include.iter().map(|path| path.display().to_string()).collect();
    println!("cargo:rustc-env=MNN_C_INCLUDE={}", include.join(":"));
}

fn feature(name: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{name}")).is_some()
}

/// The libraries to link; each precedes the libraries that it needs.
fn libraries() -> Vec<&'static str> {
    let mut names = Vec::new();
    if feature("ONNX") {
        names.push("mnn_c_onnx");
    }
    names.push("mnn_c");
    if feature("IMAGE") {
        names.push("mnn_c_image");
    }
    names
}

/// A variable of the environment whose changes run this script again.
fn variable(name: &str) -> Option<String> {
    println!("cargo:rerun-if-env-changed={name}");
    env::var(name).ok().filter(|value| !value.is_empty())
}

fn fail(sentence: &str) -> ! {
    eprintln!("{sentence}");
    exit(1)
}

fn ask_pkg_config() -> Vec<PathBuf> {
    let mut include = Vec::new();
    for name in libraries() {
        let found = pkg_config::Config::new().range_version("0.2".."0.3").probe(name);
        match found {
            Ok(library) => include.extend(library.include_paths),
            Err(error) => fail(&format!(
                "{error}\nInstall lib{name} with its {name}.pc, name the folder where it is installed in MNN_C_PREFIX, \
                 or enable the feature `vendored`, which compiles it."
            )),
        }
    }
    include.dedup();
    include
}

/// The name of the file that a linker reads for a shared library of the target.
fn file_to_link(name: &str) -> String {
    let windows = env::var_os("CARGO_CFG_WINDOWS").is_some();
    match env::var("CARGO_CFG_TARGET_ENV").as_deref() {
        Ok("msvc") if windows => format!("{name}.lib"),
        _ if windows => format!("lib{name}.dll.a"),
        _ => format!("lib{name}.so"),
    }
}

/// Links the shared libraries that are installed below a folder.
fn look_into(prefix: &Path) -> PathBuf {
    let mut folders = vec![prefix.join("lib"), prefix.join("lib64")];
    if let Ok(entries) = prefix.join("lib").read_dir() {
        folders.extend(entries.flatten().map(|entry| entry.path()));
    }
    let include = prefix.join("include");
    for name in libraries() {
        let file = file_to_link(name);
        match folders.iter().find(|folder| folder.join(&file).exists()) {
            Some(folder) if include.join(format!("{name}.h")).exists() => {
                println!("cargo:rustc-link-search=native={}", folder.display());
                println!("cargo:rustc-link-lib=dylib={name}");
            }
            _ => fail(&format!(
                "MNN_C_PREFIX is '{}', which has no lib/{file} and include/{name}.h",
                prefix.display()
            )),
        }
    }
    include
}

/// Returns the sources: those of MNN_C_SOURCE, those in the package of this crate, or those of the repository around
/// it.
fn sources() -> PathBuf {
    let crate_folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let places = match variable("MNN_C_SOURCE") {
        Some(place) => vec![PathBuf::from(place)],
        None => vec![crate_folder.join("libmnn_c"), crate_folder.join("../../..")],
    };
    let complete = |place: &&PathBuf| SOURCES.iter().all(|name| place.join(name).exists());
    match places.iter().find(complete) {
        Some(place) => place.clone(),
        None => fail(&format!(
            "the feature `vendored` found no sources of libmnn_c in {places:?}; MNN_C_SOURCE names their folder"
        )),
    }
}

/// Compiles the static libraries and links them in. Returns the folder of the headers.
fn compile(source: &Path) -> PathBuf {
    for name in SOURCES {
        println!("cargo:rerun-if-changed={}", source.join(name).display());
    }
    let build = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("build");
    let cmake = variable("CMAKE").unwrap_or_else(|| "cmake".into());
    // CMake reads these by itself.
    for name in [
        "CC",
        "CFLAGS",
        "CXX",
        "CXXFLAGS",
        "LDFLAGS",
        "CMAKE_GENERATOR",
        "CMAKE_PREFIX_PATH",
        "CMAKE_TOOLCHAIN_FILE",
    ] {
        variable(name);
    }
    // The cache has the settings of an earlier build, which would outlive their variables. It may be missing.
    let _ = fs::remove_file(build.join("CMakeCache.txt"));
    let mut configure = Command::new(&cmake);
    configure.arg("-S").arg(source).arg("-B").arg(&build).args([
        "-DCMAKE_BUILD_TYPE=Release",
        "-DMNN_C_STATIC=ON",
        "-DMNN_C_TOOLS=OFF",
        "-DMNN_C_EXAMPLES=OFF",
        "-DMNN_C_TESTS=OFF",
        "-DMNN_C_INSTALL=OFF",
    ]);
    for name in ["IMAGE", "ONNX"] {
        let wanted = if feature(name) { "ON" } else { "OFF" };
        configure.arg(format!("-DMNN_C_{name}={wanted}"));
    }
    if let Some(arguments) = variable("MNN_C_CMAKE_ARGS") {
        configure.args(arguments.split_whitespace());
    }
    run(&mut configure);
    let jobs = env::var("NUM_JOBS").unwrap_or_else(|_| "1".into());
    let mut make = Command::new(&cmake);
    make.arg("--build")
        .arg(&build)
        .args(["--parallel", &jobs, "--target"]);
    make.args(libraries().iter().map(|name| format!("{name}_static")));
    run(&mut make);
    println!("cargo:rustc-link-search=native={}", build.display());
    for name in libraries() {
        println!("cargo:rustc-link-lib=static={name}");
    }
    let runtime = variable("CXXSTDLIB").unwrap_or_else(|| "stdc++".into());
    for library in [runtime.as_str(), "m", "dl", "pthread"] {
        println!("cargo:rustc-link-lib=dylib={library}");
    }
    source.join("include")
}

fn run(command: &mut Command) {
    // Cargo's own job server does not work with make.
    let status = command.env_remove("MAKEFLAGS").env_remove("MFLAGS").status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => fail(&format!("{command:?} ended with {status}")),
        Err(error) => fail(&format!(
            "{command:?} did not start: {error}. The feature `vendored` needs CMake, a C++20 compiler, flatc, and the \
             headers of FlatBuffers and Highway; `image` those of stb, too."
        )),
    }
}

//! Finds libmnn_c through pkg-config.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let found = pkg_config::Config::new()
        .range_version("0.1".."0.2")
        .probe("mnn_c");
    let library = found.unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(1);
    });
    // For the test that compares the declarations with the header; empty where the compiler finds it alone.
    let include: Vec<String> = library
        .include_paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    println!("cargo:rustc-env=MNN_C_INCLUDE={}", include.join(":"));
}

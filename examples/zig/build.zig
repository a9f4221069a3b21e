//! zig build run -- ../digits 7
//! pkg-config finds the library, or -Dmnn=PREFIX names its place.
const std = @import("std");

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const optimize = b.standardOptimizeOption(.{});

    // The module "mnn" has the declarations of mnn_c.h in Zig. A module that imports it links the library.
    const header = b.addTranslateC(.{
        .root_source_file = b.path("src/mnn.h"),
        .target = target,
        .optimize = optimize,
    });
    const prefix = b.option(std.Build.LazyPath, "mnn", "Prefix of an installed libmnn_c (default: ask pkg-config)");
    if (prefix) |path| {
        header.addIncludePath(path.path(b, "include"));
    } else {
        header.linkSystemLibrary("mnn_c", .{});
    }
    const mnn = header.createModule();
    if (prefix) |path| {
        mnn.addLibraryPath(path.path(b, "lib"));
        mnn.linkSystemLibrary("mnn_c", .{ .use_pkg_config = .no });
    }

    const exe = b.addExecutable(.{
        .name = "classify_digit",
        .root_module = b.createModule(.{
            .root_source_file = b.path("src/main.zig"),
            .target = target,
            .optimize = optimize,
            .imports = &.{.{ .name = "mnn", .module = mnn }},
        }),
    });
    b.installArtifact(exe);

    const run = b.addRunArtifact(exe);
    run.addPassthruArgs();
    b.step("run", "Classify one digit").dependOn(&run.step);
}

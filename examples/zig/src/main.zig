//! Classifies one of the held-out images of examples/digits.
//!
//!     classify_digit FOLDER [IMAGE]      IMAGE counts from 0
const std = @import("std");
const mnn = @import("mnn");

const side = 8;
const pixels = side * side;
const classes = 10;

/// Prints the library's sentence to stderr and turns its status into an error.
fn check(status: mnn.mnn_status) error{Mnn}!void {
    if (status == mnn.MNN_OK) return;
    std.debug.print("{s}: {s}\n", .{ mnn.mnn_status_name(status), mnn.mnn_last_error() });
    return error.Mnn;
}

fn classify(model: [*:0]const u8, image: *const [pixels]u8) error{Mnn}![classes]f32 {
    var interpreter: ?*mnn.mnn_interpreter_t = null;
    try check(mnn.mnn_interpreter_create_from_file(model, null, &interpreter));
    defer _ = mnn.mnn_interpreter_destroy(&interpreter);

    var session: ?*mnn.mnn_session_t = null;
    try check(mnn.mnn_session_create(interpreter, null, &session));
    defer _ = mnn.mnn_session_destroy(&session);

    var input: ?*mnn.mnn_tensor_t = null;
    var output: ?*mnn.mnn_tensor_t = null;
    try check(mnn.mnn_session_input(session, "image", &input));
    try check(mnn.mnn_session_output(session, "scores", &output));

    var values: [pixels]f32 = undefined;
    for (&values, image) |*value, pixel| value.* = @as(f32, @floatFromInt(pixel)) / 16;
    var scores: [classes]f32 = undefined;
    try check(mnn.mnn_tensor_write(input, &values, @sizeOf(@TypeOf(values)), mnn.MNN_FORMAT_NCHW));
    try check(mnn.mnn_session_run(session));
    try check(mnn.mnn_tensor_read(output, &scores, @sizeOf(@TypeOf(scores)), mnn.MNN_FORMAT_NCHW));
    return scores;
}

pub fn main(init: std.process.Init) !u8 {
    const arena = init.arena.allocator();
    const args = try init.minimal.args.toSlice(arena);
    if (args.len < 2 or args.len > 3) {
        std.debug.print("usage: classify_digit FOLDER [IMAGE]\n", .{});
        return 2;
    }
    const index = if (args.len == 3) std.fmt.parseInt(usize, args[2], 10) catch {
        std.debug.print("classify_digit: '{s}' is no number of an image\n", .{args[2]});
        return 2;
    } else 0;

    var folder = std.Io.Dir.cwd().openDir(init.io, args[1], .{}) catch |err| {
        std.debug.print("classify_digit: cannot open '{s}': {t}\n", .{ args[1], err });
        return 1;
    };
    defer folder.close(init.io);
    const images = try folder.readFileAlloc(init.io, "test_images.bin", arena, .limited(1 << 20));
    const labels = try folder.readFileAlloc(init.io, "test_labels.bin", arena, .limited(1 << 20));
    if (images.len != labels.len * pixels or index >= labels.len) {
        std.debug.print("classify_digit: there are {d} labels and {d} bytes of images, no image {d}\n", .{ labels.len, images.len, index });
        return 1;
    }

    const model = try std.fmt.allocPrintSentinel(arena, "{s}/digits.mnn", .{args[1]}, 0);
    const scores = classify(model, images[index * pixels ..][0..pixels]) catch return 1;
    var best: usize = 0;
    for (scores, 0..) |score, i| {
        if (score > scores[best]) best = i;
    }

    var buffer: [256]u8 = undefined;
    var writer: std.Io.File.Writer = .init(.stdout(), init.io, &buffer);
    try writer.interface.print("image {d}: predicted {d}, label {d}\n", .{ index, best, labels[index] });
    try writer.interface.flush();
    return if (best == labels[index]) 0 else 1;
}

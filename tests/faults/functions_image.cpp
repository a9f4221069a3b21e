// Calls of the functions of libmnn_c_image.
#include "functions.h"
#include "mnn_c_image.h"

namespace faults {
namespace {

constexpr int32_t kWidth = 7, kHeight = 5;

mnn_image_t picture(Bytes& pixels, int32_t width, int32_t height) {
    mnn_image_t image;
    if (mnn_image_init(&image, sizeof image) != MNN_OK) stop("mnn_image_init");
    image.format = MNN_IMAGE_RGB;
    image.width = width;
    image.height = height;
    image.bytes = static_cast<size_t>(width) * static_cast<size_t>(height) * 3;
    pixels.resize(image.bytes);
    image.pixels = pixels.data();
    return image;
}
// Returns a picture whose pixels lie in scene.memory.
mnn_image_t source(Scene& scene) {
    const mnn_image_t image = picture(scene.memory, kWidth, kHeight);
    for (size_t i = 0; i < scene.memory.size(); ++i) scene.memory[i] = static_cast<unsigned char>(i * 37 % 251);
    return image;
}

// Loads one of the stored pictures; there is a name for each kind of file.
void file(Scene& scene, const char* name) {
    scene.model = contentOf(std::string(MNN_C_IMAGES_FOLDER "/") + name);
}
mnn_status info(Scene& scene) {
    auto image = sized<mnn_image_t>();
    const mnn_status status = mnn_image_info(scene.model.data(), scene.model.size(), &image);
    return gives(scene, status, image.bytes);
}
mnn_status decode(Scene& scene) {
    mnn_image_t image;
    if (mnn_image_init(&image, sizeof image) != MNN_OK) stop("mnn_image_init");
    const mnn_status status = mnn_image_info(scene.model.data(), scene.model.size(), &image);
    if (status != MNN_OK) return status;
    scene.result.assign(image.bytes, 0);
    image.pixels = scene.result.data();
    return mnn_image_decode(scene.model.data(), scene.model.size(), &image);
}

mnn_status convert(Scene& scene) {
    const mnn_image_t image = source(scene);
    mnn_image_options_t options;
    mnn_image_values_t values;
    if (mnn_image_options_init(&options, sizeof options) != MNN_OK ||
        mnn_image_values_init(&values, sizeof values) != MNN_OK)
        stop("an _init function");
    const float matrix[] = {0.7F, 0.1F, 0, 0, 0.8F, -0.3F};
    std::memcpy(options.matrix, matrix, sizeof matrix);
    options.has_matrix = 1;
    options.filter = MNN_IMAGE_BICUBIC;
    values.format = MNN_IMAGE_BGR;
    values.width = values.height = 6;
    scene.result.assign(6 * 6 * 3 * sizeof(float), 0);
    values.data = scene.result.data();
    values.bytes = scene.result.size();
    return mnn_image_convert(&options, &image, &values);
}

mnn_status resize(Scene& scene) {
    const mnn_image_t from = source(scene), to = picture(scene.result, kWidth * 2, kHeight - 2);
    return mnn_image_resize(&from, &to);
}

mnn_status encode(Scene& scene) {
    const mnn_image_t image = source(scene);
    return filled<char>(scene.result, [&](char* buffer, size_t capacity, size_t* needed) {
        return mnn_image_encode_png(&image, buffer, capacity, needed);
    });
}

mnn_status boxes(Scene& scene) {
    mnn_image_detector_t detector;
    if (mnn_image_detector_init(&detector, sizeof detector) != MNN_OK) stop("mnn_image_detector_init");
    for (int32_t i = 0; i < 4; ++i) detector.columns[i] = i;
    detector.column_count = detector.boxes_dims[1] = 4;
    detector.boxes_dims[0] = detector.boxes_rank = 2;
    detector.input_width = detector.input_height = detector.picture_width = detector.picture_height = 20;
    const float values[] = {1, 2, 3, 4, 5, 6, 17, 8};
    return filled<double>(scene.result, [&](double* buffer, size_t capacity, size_t* needed) {
        return mnn_image_boxes(&detector, values, nullptr, nullptr, buffer, capacity, needed);
    });
}

template <typename Struct, mnn_status (*Init)(Struct*, size_t)>
mnn_status init(Scene&) {
    Struct made{};
    return Init(&made, sizeof made);
}

}  // namespace

std::vector<Function> imageFunctions() {
    return {
        {"mnn_image_init", "", nothing, init<mnn_image_t, mnn_image_init>},
        {"mnn_image_options_init", "", nothing, init<mnn_image_options_t, mnn_image_options_init>},
        {"mnn_image_values_init", "", nothing, init<mnn_image_values_t, mnn_image_values_init>},
        {"mnn_image_detector_init", "", nothing, init<mnn_image_detector_t, mnn_image_detector_init>},
        {"mnn_image_boxes", "", nothing, boxes},
        {"mnn_image_last_error", "", nothing, [](Scene&) { return mnn_image_last_error() ? MNN_OK : -1; }},
        {"mnn_image_byte_size", "", nothing,
         [](Scene& s) {
             const mnn_image_t image = source(s);
             size_t bytes = 0;
             const mnn_status status = mnn_image_byte_size(&image, &bytes);
             return gives(s, status, bytes);
         }},
        {"mnn_image_info", "", [](Scene& s) { file(s, "alpha.png"); }, info},
        {"mnn_image_info", "of no picture", nothing,
         [](Scene&) {
             auto image = sized<mnn_image_t>();
             return ends(mnn_image_info("nothing", 7, &image), MNN_ERROR_BAD_FORMAT);
         }},
        {"mnn_image_decode", "of alpha.png", [](Scene& s) { file(s, "alpha.png"); }, decode},
        {"mnn_image_decode", "of grey16.png", [](Scene& s) { file(s, "grey16.png"); }, decode},
        {"mnn_image_decode", "of palette.png", [](Scene& s) { file(s, "palette.png"); }, decode},
        {"mnn_image_decode", "of baseline.jpg", [](Scene& s) { file(s, "baseline.jpg"); }, decode},
        {"mnn_image_decode", "of progressive.jpg", [](Scene& s) { file(s, "progressive.jpg"); }, decode},
        {"mnn_image_decode", "of cmyk.jpg", [](Scene& s) { file(s, "cmyk.jpg"); }, decode},
        {"mnn_image_decode", "of palette.bmp", [](Scene& s) { file(s, "palette.bmp"); }, decode},
        {"mnn_image_decode", "of palette.gif", [](Scene& s) { file(s, "palette.gif"); }, decode},
        {"mnn_image_decode", "of packed.tga", [](Scene& s) { file(s, "packed.tga"); }, decode},
        {"mnn_image_decode", "of rgb.ppm", [](Scene& s) { file(s, "rgb.ppm"); }, decode},
        {"mnn_image_encode_png", "", nothing, encode},
        {"mnn_image_crop", "", nothing,
         [](Scene& s) {
             mnn_image_t image = source(s);
             const mnn_status status = mnn_image_crop(&image, 1, 1, 3, 2, &image);
             return gives(s, status, image.bytes);
         }},
        {"mnn_image_resize", "", nothing, resize},
        {"mnn_image_convert", "", nothing, convert},
    };
}

}  // namespace faults

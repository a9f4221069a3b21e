// Opens a model by its path.
#include "open_model.h"

#include "input_file.h"
#include "language_model.h"
#include "onnx_model.h"
#include "output_file.h"

namespace tool {

Interpreter openModel(const std::string& path, const InputShapes& shapes, float attentionScale) {
    if (isOnnxFile(path)) return openOnnx(path, shapes);
    if (isLanguageModel(path))
        throw UsageError(fmt::format("'{}' is the folder of a language model: 'mnn generate' runs it", path));
    mnn_interpreter_options_t options;
    check(mnn_interpreter_options_init(&options, sizeof options));
    options.attention_scale = attentionScale;
    mnn_interpreter_t* handle = nullptr;
    if (path == kStandardStream) {
        const std::string bytes = readInput(path);
        check(mnn_interpreter_create_from_memory(bytes.data(), bytes.size(), &options, &handle));
    } else {
        check(mnn_interpreter_create_from_file(path.c_str(), &options, &handle));
    }
    return Interpreter(handle);
}

}  // namespace tool

// Matches files to inputs, and reads them.
#include "inputs.h"

#include <filesystem>
#include <set>

#include "base/os/paths.h"
#include "input_file.h"
#include "output_file.h"
#include "picture.h"
#include "tensor_file.h"

namespace tool {
namespace {

// Finds the input that an argument names, and its file.
InputFile matched(const Session& session, const std::string& argument) {
    InputFile match;
    // Names may hold '=' and so may paths: take the first split whose left side is an input.
    size_t equals = argument.find('=');
    for (; equals != std::string::npos; equals = argument.find('=', equals + 1))
        if (mnn_session_input(session.get(), argument.substr(0, equals).c_str(), &match.tensor) == MNN_OK) break;
    if (match.tensor) {
        match.file = argument.substr(equals + 1);
        return match;
    }
    const std::vector<mnn_tensor_t*> inputs = inputsOf(session);
    if (inputs.size() == 1 && (argument == kStandardStream || std::filesystem::exists(mnnc::os::pathOf(argument)))) {
        match.tensor = inputs[0];
        match.file = argument;
        return match;
    }
    throw UsageError(fmt::format("--input {}: {}", argument,
                                 argument.find('=') == std::string::npos ? "write name=file" : mnn_last_error()));
}

void readContents(InputFile& file) {
    file.isPicture = isPictureName(file.file);
    file.bytes = readInput(file.file, file.isPicture ? kMaxPictureBytes : SIZE_MAX);
    if (file.file == kStandardStream) file.isPicture = isPicture(file.bytes);
    if (file.isPicture) return;
    file.array =
        parseTensor(file.bytes, file.file, {nameOf(file.tensor), shapeOf(file.tensor), elementOf(file.tensor)});
    file.bytes = {};
}

}  // namespace

std::vector<InputFile> matchInputs(const Session& session, const std::vector<std::string>& arguments,
                                   const mnn_tensor_t* elsewhere) {
    std::vector<InputFile> files;
    std::set<const mnn_tensor_t*> given;
    if (elsewhere) given.insert(elsewhere);
    for (const std::string& argument : arguments) {
        InputFile file = matched(session, argument);
        if (!given.insert(file.tensor).second)
            throw UsageError(fmt::format("the input '{}' is given twice", nameOf(file.tensor)));
        files.push_back(std::move(file));
    }
    for (const mnn_tensor_t* input : inputsOf(session))
        if (!given.count(input))
            throw UsageError(fmt::format("input '{}' ({}) is missing: give --input {}=FILE", nameOf(input),
                                         shapeText(shapeOf(input)), nameOf(input)));
    for (InputFile& file : files) forInput(file.file, file.tensor, shapeOf(file.tensor), [&] { readContents(file); });
    return files;
}

mnn_tensor_t* remainingInput(const Session& session, const std::vector<std::string>& arguments) {
    std::set<const mnn_tensor_t*> given;
    for (const std::string& argument : arguments) given.insert(matched(session, argument).tensor);
    mnn_tensor_t* remaining = nullptr;
    for (mnn_tensor_t* input : inputsOf(session)) {
        if (given.count(input)) continue;
        if (remaining)
            throw UsageError(fmt::format("--image: is it for '{}' or for '{}'? Give --input for the other one",
                                         nameOf(remaining), nameOf(input)));
        remaining = input;
    }
    if (!remaining) throw UsageError("--image: every input has a file of --input");
    return remaining;
}

void shapeInputs(const Session& session, std::vector<InputFile>& files) {
    for (const InputFile& file : files) {
        if (file.isPicture || file.array.shape == shapeOf(file.tensor)) continue;
        forInput(file.file, file.tensor, shapeOf(file.tensor), [&] {
            try {
                resizeInput(session, file.tensor, file.array.shape);
            } catch (const ToolError& error) {
                throw ToolError(fmt::format("it has the shape {}: {}", shapeText(file.array.shape), error.what()));
            }
        });
    }
    requireShapes(session);
    check(mnn_session_resize(session.get()));
}

void writeInputs(std::vector<InputFile>& files, const ImageFlags& flags) {
    for (InputFile& file : files) {
        forInput(file.file, file.tensor, shapeOf(file.tensor), [&] {
            if (file.isPicture)
                file.array = imageInput(file.bytes, imageFormOf(file.tensor, shapeOf(file.tensor)), flags);
            writeTensor(file.tensor, file.array);
        });
    }
}

ImageForm imageFormOf(const mnn_tensor_t* tensor, const std::vector<int64_t>& shape) {
    return {shape, propertiesOf(tensor).format == MNN_FORMAT_NHWC};
}

}  // namespace tool

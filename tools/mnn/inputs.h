// The inputs of a run: assigns files to inputs and writes their contents to tensors.
#pragma once
#include <string>
#include <vector>

#include "common.h"
#include "image.h"

namespace tool {

// A file for an input.
struct InputFile {
    mnn_tensor_t* tensor = nullptr;
    std::string file;   // "-": standard input
    std::string bytes;  // contents of the file
    bool isPicture = false;
    Array array;  // the contents as a tensor; for a picture, only when the shape is known
};

// Returns the files of --input ("name=file", or a file alone where the model has one input). `elsewhere` is an input
// that needs no file. Throws UsageError when an input has no file or two, and ToolError when a file cannot be read.
std::vector<InputFile> matchInputs(const Session& session, const std::vector<std::string>& arguments,
                                   const mnn_tensor_t* elsewhere = nullptr);

// Returns the input for the pictures: the only one without an argument. Throws UsageError where there is not exactly
// one.
mnn_tensor_t* remainingInput(const Session& session, const std::vector<std::string>& arguments);

// Gives inputs the shapes of their files, plans the session and writes the inputs. Errors name the file, the input and
// its shape.
void shapeInputs(const Session& session, std::vector<InputFile>& files);
void writeInputs(std::vector<InputFile>& files, const ImageFlags& flags);

// Calls `action`. Rethrows its errors as ToolError with the file, the input and the expected shape in front.
template <typename Action>
auto forInput(const std::string& file, const mnn_tensor_t* tensor, const std::vector<int64_t>& shape,
              const Action& action) {
    try {
        return action();
    } catch (const UsageError&) {
        throw;
    } catch (const std::runtime_error& error) {
        throw ToolError(fmt::format("'{}' for the input '{}' ({} {}): {}", file, nameOf(tensor), shapeText(shape),
                                    elementName(elementOf(tensor)), error.what()));
    }
}

// Returns how a picture becomes this input with this shape. Throws ToolError where the input takes no pictures.
ImageForm imageFormOf(const mnn_tensor_t* tensor, const std::vector<int64_t>& shape);

}  // namespace tool

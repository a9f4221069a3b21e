// The inputs of a run: which file is for which input, and its contents in the tensor.
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
    std::string bytes;  // its contents
    bool isPicture = false;
    Array array;  // the contents as a tensor; of a picture, when the shape is known
};

// The files of --input ("name=file", or a file alone where the model has one input). `elsewhere`: an input that needs
// none. Throws UsageError when an input has no file or two, and ToolError when a file cannot be read.
std::vector<InputFile> matchInputs(const Session& session, const std::vector<std::string>& arguments,
                                   const mnn_tensor_t* elsewhere = nullptr);

// The input that pictures are for: the only one that these arguments leave. Throws UsageError where it is not one.
mnn_tensor_t* remainingInput(const Session& session, const std::vector<std::string>& arguments);

// Gives inputs the shapes of their files, plans the session and writes the inputs. Errors name the file, the input and
// its shape.
void shapeInputs(const Session& session, std::vector<InputFile>& files);
void writeInputs(std::vector<InputFile>& files, const ImageFlags& flags);

// What throws ToolError in `action` throws it with file, input and expected shape in front.
template <typename Action>
auto forInput(const std::string& file, const mnn_tensor_t* tensor, const std::vector<int64_t>& shape,
              const Action& action) {
    try {
        return action();
    } catch (const UsageError&) {
        throw;
    } catch (const std::runtime_error& error) {
        throw ToolError(text::format("'{}' for the input '{}' ({} {}): {}", file, nameOf(tensor), shapeText(shape),
                                     elementName(elementOf(tensor)), error.what()));
    }
}

// How a picture becomes this input with this shape. Throws ToolError where it takes none.
ImageForm imageFormOf(const mnn_tensor_t* tensor, const std::vector<int64_t>& shape);

}  // namespace tool

// What 'mnn run' does with the outputs of a run: prints them, writes them to files, draws boxes.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "common.h"
#include "detections.h"
#include "json.h"

namespace tool {

// The outputs of a run, or those of one picture of it.
struct Result {
    std::string label;  // stands before the printed lines; "" where there is one result
    std::string name;   // of files and folders for this result; "" as above
    std::vector<NamedArray> outputs;
    const std::string* picture = nullptr;  // the bytes of its file, where it has one
    std::optional<ImageForm> form;         // of the picture as an input
};

class ResultWriter {
  public:
    // Throws UsageError for options that do not go together.
    ResultWriter(const Interpreter& model, const RunOptions& options);

    void write(const Result& result);
    void fail(const std::string& label, const std::string& reason);
    // Prints what is printed at the end; returns the exit code.
    int finish();

  private:
    void writeFiles(const Result& result);
    void print(const Result& result);
    // Adds to `json` where that is what is printed.
    void findBoxes(const Result& result, Json& json);

    const Interpreter& model_;
    const RunOptions& options_;
    const std::vector<std::string> names_;  // of classes
    const bool printsText_;                 // standard output is free for it
    Json results_ = Json::array();
    bool failed_ = false;
};

std::vector<NamedArray> readOutputs(const Session& session);

}  // namespace tool

// Handles the outputs of 'mnn run': prints them, writes them to files, draws boxes.
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
    std::string label;  // precedes the printed lines; "" where there is one result
    std::string name;   // name of files and folders for this result; "" as above
    std::vector<NamedArray> outputs;
    const std::string* picture = nullptr;  // the bytes of its file, if it has one
    std::optional<ImageForm> form;         // the form of the picture as an input
};

class ResultWriter {
  public:
    // Throws UsageError for options that cannot be combined.
    ResultWriter(const Interpreter& model, const RunOptions& options);

    void write(const Result& result);
    void fail(const std::string& label, const std::string& reason);
    // Prints the end of the output; returns the exit code.
    int finish();

  private:
    void writeFiles(const Result& result);
    void print(const Result& result);
    // Adds to `json` if JSON is printed.
    void findBoxes(const Result& result, Json& json);

    const Interpreter& model_;
    const RunOptions& options_;
    const std::vector<std::string> names_;  // names of classes
    const bool printsText_;                 // text may be printed to standard output
    Json results_ = Json::array();
    bool failed_ = false;
};

std::vector<NamedArray> readOutputs(const Session& session);

}  // namespace tool

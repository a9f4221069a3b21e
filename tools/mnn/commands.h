// The commands of the tool: one function for each, which prints its result and returns the exit code. Each throws
// UsageError and ToolError.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backend_list.h"
#include "box_form.h"
#include "flags.h"
#include "image.h"

namespace tool {

struct InfoOptions {
    CommonFlags flags;
    std::string model;
    bool json = false;
    std::string plan;  // the report of the plan to print instead of everything else
};
int info(const InfoOptions& options);

struct RunOptions {
    CommonFlags flags;
    ImageFlags image;
    std::string model;
    std::vector<std::string> inputs;  // name=file, or a file alone where the model has one input
    std::vector<std::string> images;  // files, folders and patterns, for one input
    size_t batch = 0;                 // pictures per run; 0: the default number
    std::string output;
    bool json = false;
    size_t top = 0;
    std::string labels;
    BoxFlags boxes;
    bool detect = false;
    std::string draw;

    bool wantsBoxes() const { return detect || !draw.empty() || !boxes.boxes.empty(); }
};
int run(const RunOptions& options);

struct GenerateOptions {
    CommonFlags flags;
    std::string model;  // a folder
    std::vector<int64_t> tokens;
    size_t count = 0;
    size_t chunk = 0;  // tokens of the prompt in one run; 0: all
    std::string logits;
    bool halves = false;
    bool asExported = false;                           // takes the settings of the folder's config.json
    bool givesPrecision = false, givesMemory = false;  // the flags have these from the command line
    bool json = false;
};
int generate(const GenerateOptions& options);

struct VerifyOptions {
    CommonFlags flags;
    std::vector<std::string> folders;
    bool json = false;
    double tolerance = 0;    // 0: the case's own tolerance
    int64_t unmatched = -1;  // below 0: the case's own number
};
int verify(const VerifyOptions& options);

struct BenchOptions {
    CommonFlags flags;
    std::string model;
    bool json = false;
    double seconds = 1.0;
    uint64_t seed = 1;
};
// residentAtStart: the bytes of the process's memory when it began.
int bench(const BenchOptions& options, uint64_t residentAtStart);

struct CompareOptions {
    CommonFlags flags;
    std::string model;
    std::vector<std::string> backends = {kBackends[0].name, kGpuBackend.name};
    bool json = false, fused = false;
    double tolerance = 1e-3;
    uint64_t seed = 1;
};
int compare(const CompareOptions& options);

struct ProfileOptions {
    CommonFlags flags;
    std::string model;
    std::string trace;
    std::string output;  // the file of a page
    bool json = false;
    bool algorithms = false;  // prints the algorithms of every operator instead of times
    int runs = 20;
    size_t top = 0;  // 0: all
    uint64_t seed = 1;
};
int profile(const ProfileOptions& options);

struct GraphOptions {
    CommonFlags flags;
    std::string model;
    std::string output = "-";
    std::string format;    // "": derived from the ending of the output
    bool json = false;     // prints the graph instead of a picture
    bool profile = false;  // runs the model and adds its times
    int runs = 20;
    uint64_t seed = 1;
};
int graph(const GraphOptions& options);

struct CalibrateOptions {
    std::vector<std::string> isas;  // empty: the best one
    std::string output = "-";
    bool json = false;
};
int calibrate(const CalibrateOptions& options);

struct ConvertOptions {
    std::string model, output;
    std::vector<std::string> shapes;   // name=1x3x224x224
    std::vector<std::string> extents;  // name=1
    std::vector<std::string> keep;     // names of values
    std::string weights = "fp32";
    int32_t block = 0;
    bool weightsBeside = false, followLinks = false;
    uint64_t maxMemory = 0;  // MiB; 0: the library's choice
    bool json = false;
};
int convert(const ConvertOptions& options);

struct DevicesOptions {
    bool json = false;
};
int devices(const DevicesOptions& options);

struct VersionOptions {
    bool json = false;
};
int version(const VersionOptions& options);

}  // namespace tool

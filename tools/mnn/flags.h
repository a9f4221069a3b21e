// The flags that several commands have, and the session configuration that they select.
#pragma once
#include <mnn_c.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tool {

// Names of inputs with their extents.
using InputShapes = std::map<std::string, std::vector<int64_t>>;

struct CommonFlags {
    int threads = 1;
    std::string backend = "cpu";
    std::string device, gpuMode, gpuTuning;  // options of a GPU; "": the library's choice
    int tuningOperators = 0;                 // operators that a GPU measures; 0: all
    std::string precision = "normal";
    std::string memory = "normal";
    std::string isa;
    std::string cpuCosts;             // a file that `mnn calibrate` wrote; "": the library's costs
    std::vector<std::string> shapes;  // name=1x3x224x224
    bool validate = false;            // the validation layer checks this process
    bool recordPlan = false;          // for mnn_session_report()
    bool measureAlgorithms = false;   // also for mnn_session_report(), with times

    // Throws UsageError for flags that cannot be combined, and for a file that cannot be read.
    void checkTogether() const;
    mnn_schedule_config_t config() const;  // points into this object
    InputShapes parsedShapes() const;
};

}  // namespace tool

// Runs of a model on many pictures, as many at once as the model allows.
#pragma once
#include "commands.h"
#include "common.h"
#include "inputs.h"
#include "results.h"

namespace tool {

// `input` gets the pictures, `others` have their files. A picture that cannot be read is reported, and the rest goes
// on.
void runPictures(const Session& session, const RunOptions& options, mnn_tensor_t* input, std::vector<InputFile>& others,
                 ResultWriter& results);

}  // namespace tool

// Runs a model on many pictures, as many at once as the model permits.
#pragma once
#include "commands.h"
#include "common.h"
#include "inputs.h"
#include "results.h"

namespace tool {

// `input` receives the pictures, `others` have their own files. A picture that cannot be read is reported, and the
// other pictures are still run.
void runPictures(const Session& session, const RunOptions& options, mnn_tensor_t* input, std::vector<InputFile>& others,
                 ResultWriter& results);

}  // namespace tool

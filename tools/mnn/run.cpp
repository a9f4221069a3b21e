// mnn run: runs a model on files.
#include <algorithm>
#include <optional>

#include "commands.h"
#include "common.h"
#include "inputs.h"
#include "loading.h"
#include "open_model.h"
#include "picture_runs.h"
#include "progress.h"
#include "results.h"

namespace tool {
namespace {

// Runs once on the files of --input.
void runOnce(const Session& session, const RunOptions& options, std::vector<InputFile>& files, ResultWriter& results) {
    shapeInputs(session, files);
    writeInputs(files, options.image);
    {
        Progress progress("runs " + options.model, 0, Progress::Drawn::ByThread);
        progress.showPart([] { return -1.0; });  // the duration of a run is not known before
        check(mnn_session_run(session.get()));
    }
    Result result;
    result.outputs = readOutputs(session);
    const auto isPicture = [](const InputFile& file) { return file.isPicture; };
    if (std::count_if(files.begin(), files.end(), isPicture) == 1) {
        const auto picture = std::find_if(files.begin(), files.end(), isPicture);
        result.picture = &picture->bytes;
        result.form = imageFormOf(picture->tensor, shapeOf(picture->tensor));
    }
    results.write(result);
}

}  // namespace

int run(const RunOptions& options) {
    options.flags.checkTogether();
    std::optional<Loading> loading(options.model);
    const Interpreter model = openModel(options.model, options.flags.parsedShapes());
    ResultWriter results(model, options);
    const Session session = createSession(model, options.flags, {}, true);
    setShapes(session, options.flags);
    mnn_tensor_t* const pictures = options.images.empty() ? nullptr : remainingInput(session, options.inputs);
    std::vector<InputFile> files = matchInputs(session, options.inputs, pictures);
    loading.reset();
    if (pictures)
        runPictures(session, options, pictures, files, results);
    else
        runOnce(session, options, files, results);
    return results.finish();
}

}  // namespace tool

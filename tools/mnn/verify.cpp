// mnn verify: runs case folders and compares the outputs with the expected ones.
#include <cstdio>

#include "case.h"
#include "commands.h"
#include "common.h"
#include "compare_outputs.h"
#include "text.h"

namespace tool {
namespace {

bool report(const std::string& where, const Verdict& verdict, double tolerance) {
    text::print("{} {:<34} error {:.2e}  tolerance {:.0e}{}{}\n", verdict.passed ? "pass" : "FAIL", where,
                verdict.error, tolerance, verdict.remark.empty() ? "" : "  ", verdict.remark);
    return verdict.passed;
}

void feed(const Session& session, const Case& item) {
    for (const CaseTensor& input : item.inputs) {
        mnn_tensor_t* tensor = nullptr;
        check(mnn_session_input(session.get(), input.name.c_str(), &tensor));
        if (shapeOf(tensor) != input.array.shape) resizeInput(session, tensor, input.array.shape);
    }
    check(mnn_session_resize(session.get()));
    for (const CaseTensor& input : item.inputs) {
        mnn_tensor_t* tensor = nullptr;
        check(mnn_session_input(session.get(), input.name.c_str(), &tensor));
        if (elementOf(tensor) != input.array.element)
            throw ToolError(text::format("input '{}' is {}, the case has {}", input.name,
                                         elementName(elementOf(tensor)), elementName(input.array.element)));
        writeTensor(tensor, input.array);
    }
}

bool runCase(const Case& item, const CommonFlags& flags) {
    const Interpreter model = openModel(item.model.string());
    const Session session = createSession(model, flags);
    if (inputsOf(session).size() != item.inputs.size())
        throw ToolError(text::format("the model has {} inputs, the case {}", inputsOf(session).size(),
                                     item.inputs.size()));
    feed(session, item);
    check(mnn_session_run(session.get()));

    bool passed = true;
    std::vector<const CaseTensor*> listed;
    std::vector<Array> listedOurs;
    std::string listName;
    for (const CaseTensor& output : item.outputs) {
        mnn_tensor_t* tensor = nullptr;
        check(mnn_session_output(session.get(), output.name.c_str(), &tensor));
        Array ours = readTensor(tensor);
        if (output.unordered) {
            listed.push_back(&output);
            listedOurs.push_back(std::move(ours));
            listName += (listName.empty() ? "" : "+") + output.name;
        } else {
            passed = report(item.name + "/" + output.name, compareOrdered(output, ours, item.tolerance),
                            item.tolerance) &&
                     passed;
        }
    }
    if (!listed.empty())
        passed =
            report(item.name + "/" + listName,
                   compareUnordered(listed, listedOurs, item.tolerance, item.maxUnmatched), item.tolerance) &&
            passed;
    return passed;
}

// Counts passes and failures; an exception is a failure with its sentence on stderr.
class Tally {
  public:
    template <typename Action>
    void attempt(const std::string& name, const Action& passes) {
        try {
            (passes() ? passed_ : failed_)++;
        } catch (const std::exception& error) {
            fail(name, error);
        }
        std::fflush(stdout);
    }

    void fail(const std::string& name, const std::exception& error) {
        failed_++;
        text::print("FAIL {}\n", name);
        std::fflush(stdout);
        text::print(stderr, "mnn verify: {}: {}\n", name, error.what());
    }

    int finish() const {
        text::print("{} passed, {} failed\n", passed_, failed_);
        return failed_ == 0 && passed_ > 0 ? 0 : 1;
    }

  private:
    size_t passed_ = 0;
    size_t failed_ = 0;
};

std::vector<std::filesystem::path> foldersOf(const std::string& argument, Tally& tally) {
    try {
        return findCases(argument);
    } catch (const std::exception& error) {
        tally.fail(argument, error);
        return {};
    }
}

}  // namespace

int verify(const VerifyOptions& options) {
    options.flags.checkTogether();
    Tally tally;
    for (const std::string& argument : options.folders) {
        for (const std::filesystem::path& folder : foldersOf(argument, tally)) {
            const std::filesystem::path plain = folder.has_filename() ? folder : folder.parent_path();
            const std::string name = plain.filename().string();
            tally.attempt(name, [&] {
                Case item = readCase(folder);
                item.name = name;
                if (options.tolerance > 0) item.tolerance = options.tolerance;
                if (options.unmatched >= 0) item.maxUnmatched = options.unmatched;
                return runCase(item, options.flags);
            });
        }
    }
    return tally.finish();
}

}  // namespace tool

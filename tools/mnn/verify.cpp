// mnn verify: runs case folders and compares the outputs with the expected ones.
#include <cstdio>

#include "case.h"
#include "common.h"
#include "compare_outputs.h"

namespace tool {
namespace {

struct Options {
    CommonFlags flags;
    std::vector<std::string> folders;
    double tolerance = 0;    // 0: the case's own
    int64_t unmatched = -1;  // below 0: the case's own
};

bool report(const std::string& where, const Verdict& verdict, double tolerance) {
    fmt::print("{} {:<34} error {:.2e}  tolerance {:.0e}{}{}\n", verdict.passed ? "pass" : "FAIL", where,
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
            throw ToolError(fmt::format("input '{}' is {}, the case has {}", input.name,
                                        elementName(elementOf(tensor)), elementName(input.array.element)));
        writeTensor(tensor, input.array);
    }
}

bool runCase(const Case& item, const CommonFlags& flags) {
    const Interpreter model = openModel(item.model.string());
    const Session session = createSession(model, flags);
    if (inputsOf(session).size() != item.inputs.size())
        throw ToolError(fmt::format("the model has {} inputs, the case {}", inputsOf(session).size(),
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
        fmt::print("FAIL {}\n", name);
        std::fflush(stdout);
        fmt::print(stderr, "mnn verify: {}: {}\n", name, error.what());
    }

    int finish() const {
        fmt::print("{} passed, {} failed\n", passed_, failed_);
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

int verify(const Options& options) {
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

}  // namespace

void addVerify(CLI::App& app, int& exitCode) {
    CLI::App* command =
        app.add_subcommand("verify", "Run case folders and compare with their expected outputs");
    auto options = std::make_shared<Options>();
    command
        ->add_option("CASE_DIR", options->folders,
                     "Folders with a case.npz or a case.json, or folders of such folders")
        ->required();
    options->flags.addBackendTo(*command);
    options->flags.addRestTo(*command);
    command
        ->add_option("--tolerance", options->tolerance,
                     "Largest error instead of the cases' own, for example 2e-2 with --precision low")
        ->check(CLI::PositiveNumber);
    command
        ->add_option("--unmatched", options->unmatched,
                     "How many rows of an unordered list may have no partner, instead of the cases' own: a\n"
                     "detector with --precision low keeps other boxes where two score almost the same")
        ->check(CLI::NonNegativeNumber);
    command->footer(
        "A case folder holds model.mnn and case.npz, a zip file without compression, which holds inputs and\n"
        "expected outputs as .npy, and case.json. These may lie in the folder as files of their own, too.\n"
        "An output passes when its shape and type are right, no element is NaN, integers are equal and\n"
        "max|ours - expected| / max|expected| is within the case's tolerance. The last line counts the "
        "cases;\n"
        "the exit code is 0 only when none failed.\n\n"
        "Examples: mnn verify models/*/ --threads 2\n"
        "          mnn verify models/*/ --backend vulkan --validate\n"
        "          mnn verify models/*/ --backend vulkan --precision low --tolerance 2e-2");
    command->callback([options, &exitCode] { exitCode = verify(*options); });
}

}  // namespace tool

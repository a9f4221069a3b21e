// mnn verify: runs case folders and compares the outputs with the expected ones.
#include <cstdio>

#include "base/os/paths.h"
#include "case.h"
#include "commands.h"
#include "common.h"
#include "compare_outputs.h"
#include "json.h"
#include "open_model.h"
#include "progress.h"
#include "text.h"

namespace tool {
namespace {

// The verdict on one output, or on the outputs of one list.
struct OutputVerdict {
    std::string name;
    Verdict verdict;
    double tolerance;
};

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
            throw ToolError(fmt::format("input '{}' is {}, the case has {}", input.name, elementName(elementOf(tensor)),
                                        elementName(input.array.element)));
        writeTensor(tensor, input.array);
    }
}

std::vector<OutputVerdict> runCase(const Case& item, const CommonFlags& flags) {
    const Interpreter model = openModel(mnnc::os::textOf(item.model));
    const Session session = createSession(model, flags, {}, true);
    if (inputsOf(session).size() != item.inputs.size())
        throw ToolError(
            fmt::format("the model has {} inputs, the case {}", inputsOf(session).size(), item.inputs.size()));
    feed(session, item);
    check(mnn_session_run(session.get()));

    std::vector<OutputVerdict> verdicts;
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
            verdicts.push_back({output.name, compareOrdered(output, ours, item.tolerance), item.tolerance});
        }
    }
    if (!listed.empty())
        verdicts.push_back(
            {listName, compareUnordered(listed, listedOurs, item.tolerance, item.maxUnmatched), item.tolerance});
    return verdicts;
}

// Counts passes and failures, and prints each result at once or all as JSON at the end.
class Tally {
  public:
    Tally(bool json, Progress& progress) : json_(json), progress_(progress) {}

    void add(const std::string& name, const std::vector<OutputVerdict>& verdicts) {
        progress_.clear();
        bool passed = true;
        Json outputs = Json::array();
        for (const auto& [output, verdict, tolerance] : verdicts) {
            passed = passed && verdict.passed;
            outputs.push_back(Json::object({{"name", output},
                                            {"passed", verdict.passed},
                                            {"error", verdict.error},
                                            {"tolerance", tolerance},
                                            {"remark", verdict.remark}}));
            if (!json_)
                text::print("{} {:<34} error {:.2e}  tolerance {:.0e}{}{}\n", verdict.passed ? "pass" : "FAIL",
                            fmt::format("{}/{}", name, output), verdict.error, tolerance,
                            verdict.remark.empty() ? "" : "  ", verdict.remark);
        }
        (passed ? passed_ : failed_)++;
        cases_.push_back(
            Json::object({{"case", name}, {"passed", passed}, {"error", nullptr}, {"outputs", std::move(outputs)}}));
        std::fflush(stdout);
    }

    // Records a case that could not be run; its sentence goes to standard error.
    void fail(const std::string& name, const std::exception& error) {
        progress_.clear();
        failed_++;
        if (!json_) text::print("FAIL {}\n", name);
        cases_.push_back(
            Json::object({{"case", name}, {"passed", false}, {"error", error.what()}, {"outputs", Json::array()}}));
        std::fflush(stdout);
        text::print(stderr, "mnn verify: {}: {}\n", name, error.what());
    }

    int finish() const {
        if (json_)
            text::print("{}\n", jsonText({{"passed", passed_}, {"failed", failed_}, {"cases", cases_}}));
        else
            text::print("{} passed, {} failed\n", passed_, failed_);
        return failed_ == 0 && passed_ > 0 ? 0 : 1;
    }

  private:
    const bool json_;
    Progress& progress_;
    Json cases_ = Json::array();
    size_t passed_ = 0;
    size_t failed_ = 0;
};

// A folder of the command line: a case, or the reason why it is none.
struct Candidate {
    std::filesystem::path folder;
    std::string fault;
};

std::vector<Candidate> candidatesOf(const std::vector<std::string>& arguments) {
    std::vector<Candidate> candidates;
    for (const std::string& argument : arguments) {
        try {
            for (std::filesystem::path& folder : findCases(mnnc::os::pathOf(argument)))
                candidates.push_back({std::move(folder), ""});
        } catch (const std::exception& error) {
            candidates.push_back({argument, error.what()});
        }
    }
    return candidates;
}

std::string caseName(const Candidate& candidate) {
    if (!candidate.fault.empty()) return mnnc::os::textOf(candidate.folder);
    const std::filesystem::path& folder = candidate.folder;
    return mnnc::os::textOf((folder.has_filename() ? folder : folder.parent_path()).filename());
}

}  // namespace

int verify(const VerifyOptions& options) {
    options.flags.checkTogether();
    const std::vector<Candidate> candidates = candidatesOf(options.folders);
    Progress progress("verify", candidates.size(), Progress::Drawn::ByThread);
    Tally tally(options.json, progress);
    size_t done = 0;
    for (const Candidate& candidate : candidates) {
        const std::string name = caseName(candidate);
        progress.show(done++, name);
        try {
            if (!candidate.fault.empty()) throw ToolError(candidate.fault);
            Case item = readCase(candidate.folder);
            if (options.tolerance > 0) item.tolerance = options.tolerance;
            if (options.unmatched >= 0) item.maxUnmatched = options.unmatched;
            tally.add(name, runCase(item, options.flags));
        } catch (const std::exception& error) {
            tally.fail(name, error);
        }
    }
    progress.clear();
    return tally.finish();
}

}  // namespace tool

// mnn compare: runs a model on two backends and finds the first operator whose results drift apart.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "commands.h"
#include "common.h"
#include "compare_outputs.h"
#include "json.h"
#include "open_model.h"
#include "progress.h"
#include "shown_values.h"
#include "text.h"

namespace tool {
namespace {

// A tensor that an operator of the main graph produces.
struct Produced {
    std::string op, type, tensor;
};

std::vector<Produced> producedTensors(const Interpreter& model) {
    std::vector<Produced> list;
    std::set<std::string> seen;
    size_t ops = 0;
    check(mnn_interpreter_op_count(model.get(), &ops));
    for (size_t i = 0; i < ops; i++) {
        const char *op = nullptr, *type = nullptr, *tensor = nullptr;
        size_t count = 0;
        check(mnn_interpreter_op_name(model.get(), i, &op));
        check(mnn_interpreter_op_type(model.get(), i, &type));
        check(mnn_interpreter_op_output_count(model.get(), i, &count));
        if (std::string(type) == "Input" || std::string(type) == "Const") continue;
        for (size_t k = 0; k < count; k++) {
            check(mnn_interpreter_op_output_name(model.get(), i, k, &tensor));
            // A session offers only the last of several tensors that have the same name.
            if (!seen.insert(tensor).second)
                std::erase_if(list, [&](const Produced& made) { return made.tensor == tensor; });
            list.push_back({op, type, tensor});
        }
    }
    return list;
}

CommonFlags on(const CommonFlags& flags, const std::string& backend) {
    CommonFlags result = flags;
    result.backend = backend;
    return result;
}

// Finds the session with the most outputs: splits a refused set in half until single tensors remain.
class SessionMaker {
  public:
    SessionMaker(const Interpreter& model, const CommonFlags& flags) : model_(model), flags_(flags) {
        create({});  // throws where a session fails without any saved tensor
    }

    // Creates a session that offers as many of these tensors as possible; the others move to `skipped`.
    Session make(std::vector<Produced>& wanted, std::vector<Produced>& skipped) {
        taken_.clear();
        session_.reset();
        add(wanted.begin(), wanted.end(), skipped);
        wanted = taken_;
        return session_ ? std::move(session_) : create({});
    }

  private:
    using Position = std::vector<Produced>::const_iterator;

    void add(Position begin, Position end, std::vector<Produced>& skipped) {
        if (begin == end) return;
        std::vector<Produced> list = taken_;
        list.insert(list.end(), begin, end);
        try {
            session_ = create(list);
            taken_ = std::move(list);
        } catch (const ToolError&) {
            if (end - begin == 1) {
                skipped.push_back(*begin);
                return;
            }
            const Position middle = begin + (end - begin) / 2;
            add(begin, middle, skipped);
            add(middle, end, skipped);
        }
    }

    Session create(const std::vector<Produced>& list) const {
        std::vector<std::string> names;
        names.reserve(list.size());
        for (const Produced& made : list) names.push_back(made.tensor);
        Session session = createSession(model_, flags_, names);
        applyShapes(session, flags_);
        requireShapes(session);
        return session;
    }

    const Interpreter& model_;
    const CommonFlags flags_;
    std::vector<Produced> taken_;
    Session session_;
};

// Returns where a session runs each operator; an operator may become several commands.
std::map<std::string, std::string> placement(const Session& session) {
    std::map<std::string, std::string> places;
    size_t count = 0;
    check(mnn_session_op_count(session.get(), &count));
    for (size_t i = 0; i < count; i++) {
        mnn_op_info_t info{};
        info.struct_size = sizeof info;
        check(mnn_session_op_info(session.get(), i, &info));
        std::string& place = places[info.name];
        if (place.find(info.backend_name) != std::string::npos) continue;
        if (!place.empty()) place += '+';
        place += info.backend_name;
    }
    return places;
}

mnn_tensor_t* tensorOf(const Session& session, const std::string& name) {
    mnn_tensor_t* tensor = nullptr;
    check(mnn_session_output(session.get(), name.c_str(), &tensor));
    return tensor;
}

std::string percentOf(size_t part, size_t whole) {
    return fmt::format("{:.0f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

// Prints each tensor when it is compared, or all of them as JSON at the end.
class Report {
  public:
    Report(const CompareOptions& options, Progress& progress) : options_(options), progress_(progress) {}

    void add(const Produced& made, double error, const std::string& place, bool drifts) {
        progress_.clear();
        worst_ = std::max(worst_, error);
        drifts_ = drifts;
        tensors_.push_back(Json::object({{"operator", made.op},
                                         {"type", made.type},
                                         {"tensor", made.tensor},
                                         {"error", error},
                                         {"backend", place.empty() ? Json() : Json(place)},
                                         {"agrees", !drifts}}));
        if (options_.json) return;
        text::print("{} {:<9.2e} {:<10} {:<22} {}\n", drifts ? "DRIFT" : "same ", error, place.empty() ? "-" : place,
                    made.type, made.tensor);
        if (drifts)
            text::print("'{}' ({}) is the first operator beyond {:.0e}: {} on {} against {}\n", made.op, made.type,
                        options_.tolerance, fmt::format("{:.2e}", error), options_.backends[1], options_.backends[0]);
    }

    // Returns the exit code.
    int finish(const std::vector<Produced>& skipped, size_t all) {
        progress_.clear();
        if (options_.json)
            printJson(skipped);
        else if (!drifts_)
            printSummary(skipped, all);
        return drifts_ || tensors_.empty() ? 1 : 0;
    }

  private:
    void printJson(const std::vector<Produced>& skipped) const {
        Json left = Json::array();
        for (const Produced& one : skipped)
            left.push_back(Json::object({{"operator", one.op}, {"type", one.type}, {"tensor", one.tensor}}));
        text::print("{}\n", jsonText({{"model", options_.model},
                                      {"backends", options_.backends},
                                      {"tolerance", options_.tolerance},
                                      {"agrees", !drifts_},
                                      {"largest_error", worst_},
                                      {"tensors", tensors_},
                                      {"skipped", std::move(left)}}));
    }

    void printSummary(const std::vector<Produced>& skipped, size_t all) const {
        for (const Produced& one : skipped)
            text::print("skipped: {} '{}', {}\n", one.type, one.tensor,
                        options_.fused ? options_.backends[0] + " computes it together with others"
                                       : "the session does not offer its result");
        text::print("{} tensors agree within {:.0e}, the largest error is {:.2e}", tensors_.size(), options_.tolerance,
                    worst_);
        text::print("{}\n", skipped.empty() ? "" : fmt::format("; {} skipped", percentOf(skipped.size(), all)));
    }

    const CompareOptions& options_;
    Progress& progress_;
    Json tensors_ = Json::array();
    double worst_ = 0;
    bool drifts_ = false;
};

// Returns the flags with which callbacks see the results of each operator of a GPU.
CommonFlags shown(const CommonFlags& flags) {
    CommonFlags result = flags;
    if (findBackend(flags.backend)->isGpu) result.gpuMode = "direct";
    return result;
}

Session shownSession(const Interpreter& model, const CommonFlags& flags) {
    Session session = createSession(model, shown(flags), {});
    applyShapes(session, flags);
    requireShapes(session);
    return session;
}

// Compares the results that both sessions have, in the order of the second one.
int compareFused(const CompareOptions& options, const Interpreter& model, Progress& progress) {
    std::vector<ShownValue> values[2];
    std::vector<Array> inputs;
    for (size_t i = 0; i < 2; i++) {
        progress.show(2 * i, "loads the model for " + options.backends[i]);
        const Session session = shownSession(model, on(options.flags, options.backends[i]));
        if (i == 0) inputs = randomInputs(session, options.seed, 0);
        progress.show(2 * i + 1, "runs on " + options.backends[i]);
        writeInputs(session, inputs);
        values[i] = runShown(session);
    }
    progress.show(4, "compares the results");
    Report report(options, progress);
    std::vector<Produced> skipped;
    for (const ShownValue& value : values[1]) {
        const auto trusted = std::find_if(values[0].begin(), values[0].end(),
                                          [&](const ShownValue& one) { return one.tensor == value.tensor; });
        if (trusted == values[0].end()) {
            skipped.push_back({value.op, value.type, value.tensor});
            continue;
        }
        const double error = relativeError(trusted->array, value.array);
        const bool drifts = !(error <= options.tolerance);
        report.add({value.op, value.type, value.tensor}, error, value.backend, drifts);
        if (drifts) break;
    }
    return report.finish(skipped, values[1].size());
}

}  // namespace

int compare(const CompareOptions& options) {
    if (options.backends.size() != 2)
        throw UsageError(fmt::format("--backends takes two, for example cpu,{}", kGpuBackend.name));
    const bool gpu = std::any_of(options.backends.begin(), options.backends.end(),
                                 [](const std::string& name) { return findBackend(name)->isGpu; });
    on(options.flags, gpu ? kGpuBackend.name : options.backends[0]).checkTogether();
    // Two sessions are created, each runs once, and their outputs are compared.
    constexpr size_t kSteps = 5;
    Progress progress("compare", kSteps, Progress::Drawn::ByThread);
    progress.show(0, "loads the model for " + options.backends[0]);
    const Interpreter model = openModel(options.model, options.flags.parsedShapes());
    if (options.fused) return compareFused(options, model, progress);
    std::vector<Produced> made = producedTensors(model), skipped;
    const size_t all = made.size();
    // The second session may refuse more tensors than the first one: the first then offers unused outputs, which does
    // no harm.
    const Session first = SessionMaker(model, on(options.flags, options.backends[0])).make(made, skipped);
    progress.show(1, "loads the model for " + options.backends[1]);
    const Session second = SessionMaker(model, on(options.flags, options.backends[1])).make(made, skipped);
    const std::vector<Array> inputs = randomInputs(first, options.seed, 0);
    const Session* const sessions[] = {&first, &second};
    for (size_t i = 0; i < 2; i++) {
        progress.show(2 + i, "runs on " + options.backends[i]);
        writeInputs(*sessions[i], inputs);
        check(mnn_session_run(sessions[i]->get()));
    }
    progress.show(4, "compares the results");
    const std::map<std::string, std::string> places = placement(second);
    Report report(options, progress);
    for (const Produced& one : made) {
        const double error =
            relativeError(readTensor(tensorOf(first, one.tensor)), readTensor(tensorOf(second, one.tensor)));
        const auto place = places.find(one.op);
        const bool drifts = !(error <= options.tolerance);
        report.add(one, error, place == places.end() ? "" : place->second, drifts);
        if (drifts) break;
    }
    return report.finish(skipped, all);
}

}  // namespace tool

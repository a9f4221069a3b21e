// mnn compare: runs a model on two backends and finds the first operator whose results drift apart.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "common.h"

namespace tool {
namespace {

struct Options {
    CommonFlags flags;
    std::string model;
    std::vector<std::string> backends = {"cpu", "vulkan"};
    double tolerance = 1e-3;
    uint64_t seed = 1;
};

// A tensor that an operator of the main graph makes.
struct Made {
    std::string op, type, tensor;
};

std::vector<Made> madeTensors(const Interpreter& model) {
    std::vector<Made> list;
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
            // Of several tensors of one name only the last can be asked for.
            if (!seen.insert(tensor).second)
                std::erase_if(list, [&](const Made& made) { return made.tensor == tensor; });
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

// Finds the largest session: halves what is refused until single tensors remain.
class SessionMaker {
  public:
    SessionMaker(const Interpreter& model, const CommonFlags& flags) : model_(model), flags_(flags) {
        create({});  // what fails here does not fail for a tensor
    }

    // A session that offers what it can of these tensors; the others move to `skipped`.
    Session make(std::vector<Made>& wanted, std::vector<Made>& skipped) {
        taken_.clear();
        session_.reset();
        add(wanted.begin(), wanted.end(), skipped);
        wanted = taken_;
        return session_ ? std::move(session_) : create({});
    }

  private:
    using Position = std::vector<Made>::const_iterator;

    void add(Position begin, Position end, std::vector<Made>& skipped) {
        if (begin == end) return;
        std::vector<Made> list = taken_;
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

    Session create(const std::vector<Made>& list) const {
        std::vector<std::string> names;
        for (const Made& made : list) names.push_back(made.tensor);
        Session session = createSession(model_, flags_, names);
        applyShapes(session, flags_);
        requireShapes(session);
        return session;
    }

    const Interpreter& model_;
    const CommonFlags flags_;
    std::vector<Made> taken_;
    Session session_;
};

// Where a session runs each operator; an operator may become several commands.
std::map<std::string, std::string> placement(const Session& session) {
    std::map<std::string, std::string> places;
    size_t count = 0;
    check(mnn_session_op_count(session.get(), &count));
    for (size_t i = 0; i < count; i++) {
        mnn_session_op_info_t info{};
        info.struct_size = sizeof info;
        check(mnn_session_op_info(session.get(), i, &info));
        std::string& place = places[info.name];
        if (place.find(info.backend_name) == std::string::npos)
            place += (place.empty() ? "" : "+") + std::string(info.backend_name);
    }
    return places;
}

mnn_tensor_t* tensorOf(const Session& session, const std::string& name) {
    mnn_tensor_t* tensor = nullptr;
    check(mnn_session_output(session.get(), name.c_str(), &tensor));
    return tensor;
}

// max|a - b| / max|a|; infinite when the shapes or what is finite differ.
double relativeError(const Array& a, const Array& b) {
    if (a.shape != b.shape || a.element != b.element) return INFINITY;
    double largest = 0, worst = 0;
    for (size_t i = 0; i < a.count(); i++) {
        const double x = valueAt(a, i), y = valueAt(b, i);
        if (x == y || (std::isnan(x) && std::isnan(y))) {
            if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
            continue;
        }
        if (!std::isfinite(x) || !std::isfinite(y)) return INFINITY;
        largest = std::max(largest, std::abs(x));
        worst = std::max(worst, std::abs(x - y));
    }
    if (worst == 0) return 0;
    return largest == 0 ? INFINITY : worst / largest;
}

std::string percentOf(size_t part, size_t whole) {
    return fmt::format("{:.0f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

int compare(const Options& options) {
    if (options.backends.size() != 2) throw UsageError("--backends takes two, for example cpu,vulkan");
    const bool gpu =
        std::find(options.backends.begin(), options.backends.end(), "vulkan") != options.backends.end();
    on(options.flags, gpu ? "vulkan" : "cpu").checkTogether();
    const Interpreter model = openModel(options.model);
    std::vector<Made> made = madeTensors(model), skipped;
    const size_t all = made.size();
    // The second session may refuse more than the first: then the first offers too much, which does no harm.
    const Session first = SessionMaker(model, on(options.flags, options.backends[0])).make(made, skipped);
    const Session second = SessionMaker(model, on(options.flags, options.backends[1])).make(made, skipped);
    const std::vector<Array> inputs = randomInputs(first, options.seed, 0);
    for (const Session* session : {&first, &second}) {
        writeInputs(*session, inputs);
        check(mnn_session_run(session->get()));
    }
    const std::map<std::string, std::string> places = placement(second);
    double worst = 0;
    for (const Made& one : made) {
        const double error =
            relativeError(readTensor(tensorOf(first, one.tensor)), readTensor(tensorOf(second, one.tensor)));
        const auto place = places.find(one.op);
        const bool drifts = !(error <= options.tolerance);
        fmt::print("{} {:<9.2e} {:<10} {:<22} {}\n", drifts ? "DRIFT" : "same ", error,
                   place == places.end() ? "-" : place->second, one.type, one.tensor);
        if (drifts) {
            fmt::print("'{}' ({}) is the first operator beyond {:.0e}: {} on {} against {}\n", one.op,
                       one.type, options.tolerance, fmt::format("{:.2e}", error), options.backends[1],
                       options.backends[0]);
            return 1;
        }
        worst = std::max(worst, error);
    }
    for (const Made& one : skipped)
        fmt::print("skipped: {} '{}', the session does not offer its result\n", one.type, one.tensor);
    fmt::print("{} tensors agree within {:.0e}, the largest error is {:.2e}", made.size(), options.tolerance,
               worst);
    fmt::print("{}\n", skipped.empty() ? "" : fmt::format("; {} skipped", percentOf(skipped.size(), all)));
    return 0;
}

}  // namespace

void addCompare(CLI::App& app, int& exitCode) {
    CLI::App* command =
        app.add_subcommand("compare", "Compare two backends operator by operator, with random inputs");
    auto options = std::make_shared<Options>();
    command->add_option("MODEL", options->model, "The .mnn file")->required();
    command
        ->add_option("--backends", options->backends,
                     "The trusted one and the one to check (default: cpu,vulkan)")
        ->delimiter(',')
        ->type_name("A,B")
        ->check(CLI::IsMember({"cpu", "vulkan"}));
    command->add_option("--tolerance", options->tolerance, "Of a tensor: max|a - b| / max|a|")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command->add_option("--seed", options->seed, "Of the random inputs, which lie in [0, 1)")
        ->capture_default_str();
    options->flags.addRestTo(*command);
    options->flags.addShapesTo(*command);
    command->footer(
        "One line an operator's result, in the order of the model: same or DRIFT, the error, where\n"
        "B ran it ('-': it computes nothing when running), type and tensor. Ends at the first DRIFT,\n"
        "with exit code 1: what comes before it is right, so that operator is the one to look at.\n"
        "Where values lie close together, positions (TopK, ArgMax) may differ without a defect.\n"
        "Both sessions keep every result, which takes more memory than a plain run. Operators inside\n"
        "of loops and branches are seen through their results only.\n\n"
        "Examples: mnn compare net.mnn --backends cpu,vulkan\n"
        "          mnn compare net.mnn --precision low --tolerance 3e-2 --device 0 --validate");
    command->callback([options, &exitCode] { exitCode = compare(*options); });
}

}  // namespace tool

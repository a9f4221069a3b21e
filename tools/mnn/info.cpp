// mnn info: what a model is, and what a session of it would take.
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "common.h"

namespace tool {
namespace {

using nlohmann::ordered_json;

struct Options {
    CommonFlags flags;
    std::string model;
    bool json = false;
    std::string plan;  // a report of the plan in place of everything else
};

std::string text(mnn_status (*get)(const mnn_interpreter_t*, const char**), const Interpreter& model) {
    const char* value = nullptr;
    check(get(model.get(), &value));
    return value;
}

// Output shapes may depend on contents: unknown before a run.
std::optional<std::vector<int64_t>> knownShape(const mnn_tensor_t* tensor) {
    int32_t dims[MNN_MAX_RANK];
    size_t rank = 0;
    const mnn_status status = mnn_tensor_shape(tensor, dims, MNN_MAX_RANK, &rank);
    if (status == MNN_ERROR_BAD_STATE) return std::nullopt;
    check(status);
    for (size_t i = 0; i < rank; i++)
        if (dims[i] < 0) return std::nullopt;
    return std::vector<int64_t>(dims, dims + rank);
}

ordered_json describeInputs(const Interpreter& model) {
    ordered_json list = ordered_json::array();
    size_t count = 0;
    check(mnn_interpreter_input_count(model.get(), &count));
    for (size_t i = 0; i < count; i++) {
        const char* name = nullptr;
        int32_t dims[MNN_MAX_RANK], type = 0, format = 0;
        size_t rank = 0;
        check(mnn_interpreter_input_name(model.get(), i, &name));
        check(mnn_interpreter_input_shape(model.get(), i, dims, MNN_MAX_RANK, &rank));
        check(mnn_interpreter_input_type(model.get(), i, &type));
        check(mnn_interpreter_input_format(model.get(), i, &format));
        list.push_back({{"name", name},
                        {"shape", std::vector<int32_t>(dims, dims + rank)},
                        {"type", typeName(type)},
                        {"format", formatName(format)}});
    }
    return list;
}

ordered_json describeOutputNames(const Interpreter& model) {
    ordered_json list = ordered_json::array();
    size_t count = 0;
    check(mnn_interpreter_output_count(model.get(), &count));
    for (size_t i = 0; i < count; i++) {
        const char* name = nullptr;
        check(mnn_interpreter_output_name(model.get(), i, &name));
        list.push_back({{"name", name}, {"shape", nullptr}});
    }
    return list;
}

ordered_json describeOps(const Interpreter& model) {
    std::map<std::string, size_t> counts, unsupported;
    size_t count = 0;
    check(mnn_interpreter_op_count(model.get(), &count));
    for (size_t i = 0; i < count; i++) {
        const char* type = nullptr;
        bool supported = true;
        check(mnn_interpreter_op_type(model.get(), i, &type));
        check(mnn_interpreter_op_supported(model.get(), i, &supported));
        counts[type]++;
        if (!supported) unsupported[type]++;
    }
    return {{"total", count}, {"counts", counts}, {"unsupported", unsupported}};
}

ordered_json describeOutputs(const Session& session) {
    ordered_json list = ordered_json::array();
    for (const mnn_tensor_t* tensor : outputsOf(session)) {
        ordered_json entry = {{"name", nameOf(tensor)}, {"shape", nullptr}};
        if (const auto shape = knownShape(tensor)) {
            int32_t type = 0;
            check(mnn_tensor_type(tensor, &type));
            entry["shape"] = *shape;
            entry["type"] = typeName(type);
        }
        list.push_back(entry);
    }
    return list;
}

ordered_json describePlacement(const Session& session, const CommonFlags& flags) {
    std::map<std::string, size_t> counts{{"cpu", 0}, {"host_shape", 0}};
    if (flags.backend != "auto") counts.try_emplace(flags.backend, 0);
    ordered_json ops = ordered_json::array();
    size_t count = 0;
    check(mnn_session_op_count(session.get(), &count));
    for (size_t i = 0; i < count; i++) {
        mnn_session_op_info_t op{};
        op.struct_size = sizeof op;
        check(mnn_session_op_info(session.get(), i, &op));
        std::string where = op.host_shape != 0 ? "host_shape" : op.backend_name;
        if (where.empty()) where = "undecided";  // planned in a run
        counts[where]++;
        ordered_json row = {{"op", op.name}, {"type", op.type_name}, {"backend", where}, {"reason", nullptr}};
        if (op.reason) row["reason"] = op.reason;
        ops.push_back(row);
    }
    return {{"counts", counts}, {"ops", ops}};
}

// What only a session knows; `info` gets "session_error" instead when there can be none.
void describeSession(ordered_json& info, const Interpreter& model, const CommonFlags& flags) {
    for (const char* key : {"flops", "flops_complete", "memory", "placement", "session_error"})
        info[key] = nullptr;
    try {
        const Session session = createSession(model, flags);
        applyShapes(session, flags);
        requireShapes(session);
        info["outputs"] = describeOutputs(session);
        double flops = 0;
        bool complete = true;
        check(mnn_session_flops(session.get(), &flops, &complete));
        mnn_session_memory_t memory{};
        memory.struct_size = sizeof memory;
        check(mnn_session_memory(session.get(), &memory));
        info["flops"] = flops;
        info["flops_complete"] = complete;
        info["memory"] = {{"arena_bytes", memory.arena_bytes},
                          {"weight_bytes", memory.weight_bytes},
                          {"total_bytes", memory.total_bytes},
                          {"peak_bytes", memory.peak_bytes}};
        info["placement"] = describePlacement(session, flags);
    } catch (const MissingBackend&) {
        throw;
    } catch (const ToolError& error) {
        info["session_error"] = error.what();
    } catch (const UsageError& error) {
        if (!flags.shapes.empty()) throw;
        info["session_error"] = error.what();
    }
}

std::string shapeOrUnknown(const ordered_json& entry) {
    return entry["shape"].is_null() ? "unknown before a run"
                                    : shapeText(entry["shape"].get<std::vector<int64_t>>());
}

std::string string(const ordered_json& value) {
    return value.get<std::string>();
}

void printCounts(const char* indent, const ordered_json& counts) {
    std::vector<std::pair<std::string, size_t>> rows;
    for (const auto& [name, count] : counts.items()) rows.emplace_back(name, count.get<size_t>());
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    for (const auto& [name, count] : rows) fmt::print("{}{:>6}  {}\n", indent, count, name);
}

void printSession(const ordered_json& info) {
    if (!info["session_error"].is_null()) {
        fmt::print("no session    {}\n", string(info["session_error"]));
        return;
    }
    const ordered_json& memory = info["memory"];
    fmt::print("flops         {}{}\n", countText(info["flops"].get<double>()),
               info["flops_complete"].get<bool>() ? "" : " and what depends on contents");
    fmt::print(
        "memory        {} in all: arena {}, weights {}\n", bytesText(memory["total_bytes"].get<uint64_t>()),
        bytesText(memory["arena_bytes"].get<uint64_t>()), bytesText(memory["weight_bytes"].get<uint64_t>()));
    fmt::print("placement\n");
    printCounts("  ", info["placement"]["counts"]);
    for (const ordered_json& row : info["placement"]["ops"])
        if (!row["reason"].is_null())
            fmt::print("    {} '{}' on {}: {}\n", string(row["type"]), string(row["op"]),
                       string(row["backend"]), string(row["reason"]));
}

void printText(const ordered_json& info) {
    fmt::print("model         {}\n", string(info["model"]));
    for (const char* key : {"model_version", "uuid", "biz_code"})
        if (!string(info[key]).empty()) fmt::print("{:<14}{}\n", key, string(info[key]));
    for (const ordered_json& input : info["inputs"])
        fmt::print("input         {}  {}  {}  {}\n", string(input["name"]), shapeOrUnknown(input),
                   string(input["type"]), string(input["format"]));
    for (const ordered_json& output : info["outputs"])
        fmt::print("output        {}  {}  {}\n", string(output["name"]), shapeOrUnknown(output),
                   output.contains("type") ? string(output["type"]) : "");
    fmt::print("parameters    {}\n", info["parameters"].is_null()
                                         ? "unknown: the weight file cannot be read"
                                         : countText(info["parameters"].get<double>()));
    fmt::print("operators     {}\n", info["ops"]["total"].get<size_t>());
    printCounts("  ", info["ops"]["counts"]);
    if (!info["ops"]["unsupported"].empty()) {
        fmt::print("unsupported\n");
        printCounts("  ", info["ops"]["unsupported"]);
    }
    printSession(info);
}

// As mnn_session_report() has it: "all" is the plan with all its passes, "passes" their names.
void printPlan(const Interpreter& model, const Options& options) {
    CommonFlags flags = options.flags;
    flags.recordPlan = true;
    const Session session = createSession(model, flags);
    std::string what = options.plan == "passes" ? "passes" : "plan";
    if (options.plan != "all" && options.plan != "passes") what += " " + options.plan;
    if (what != "passes") {
        applyShapes(session, flags);
        requireShapes(session);
    }
    size_t size = 0;
    check(mnn_session_report(session.get(), what.c_str(), nullptr, &size));
    std::string text(size, '\0');
    check(mnn_session_report(session.get(), what.c_str(), text.data(), &size));
    fmt::print("{}", text.c_str());
}

void info(const Options& options) {
    options.flags.checkTogether();
    const Interpreter model = openModel(options.model);
    if (!options.plan.empty()) return printPlan(model, options);
    ordered_json result;
    result["model"] = options.model;
    result["model_version"] = text(mnn_interpreter_model_version, model);
    result["uuid"] = text(mnn_interpreter_uuid, model);
    result["biz_code"] = text(mnn_interpreter_biz_code, model);
    result["inputs"] = describeInputs(model);
    result["outputs"] = describeOutputNames(model);
    result["ops"] = describeOps(model);
    uint64_t parameters = 0;
    // A weight file that is missing does not hide what the model itself says; the session error names it.
    const bool counted = mnn_interpreter_parameter_count(model.get(), &parameters) == MNN_OK;
    result["parameters"] = counted ? ordered_json(parameters) : ordered_json(nullptr);
    describeSession(result, model, options.flags);
    if (options.json)
        fmt::print("{}\n", result.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    else
        printText(result);
}

}  // namespace

void addInfo(CLI::App& app) {
    CLI::App* command =
        app.add_subcommand("info", "Show a model's inputs, outputs, operators, work and memory");
    auto options = std::make_shared<Options>();
    command->add_option("MODEL", options->model, "The .mnn file")->required();
    command->add_flag("--json", options->json, "Print JSON; what is unknown before a run is null");
    command->add_option(
        "--plan", options->plan,
        "Print the commands instead: 'after:PASS' after one pass of planning, 'all' before the "
        "first and after each one, 'passes' the names of the passes");
    options->flags.addTo(*command);
    command->footer(
        "Where the model leaves dims open, work and memory need --shape. Operators that this library\n"
        "lacks are listed as unsupported. Placement: on which backend each operator runs, and why not\n"
        "on the wanted one; host_shape is shape arithmetic on small integer tensors, which stays on\n"
        "the CPU. Operators that compute nothing when running (constants, views) are not listed.\n\n"
        "Examples: mnn info net.mnn --shape data=1x3x320x320 --json\n"
        "          mnn info net.mnn --backend vulkan\n"
        "          mnn info net.mnn --plan after:fuse-post-ops");
    command->callback([options] { info(*options); });
}

}  // namespace tool

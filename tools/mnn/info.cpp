// mnn info: describes a model, and a session of it.
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>

#include "commands.h"
#include "common.h"
#include "json.h"
#include "language_model.h"
#include "loading.h"
#include "open_model.h"
#include "session_settings.h"
#include "text.h"

namespace tool {
namespace {

std::string stringOf(mnn_status (*get)(const mnn_interpreter_t*, const char**), const Interpreter& model) {
    const char* value = nullptr;
    check(get(model.get(), &value));
    return value;
}

// Returns no shape where it depends on contents and is therefore unknown before a run.
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

Json describeInputs(const Interpreter& model) {
    Json list = Json::array();
    size_t count = 0;
    check(mnn_interpreter_input_count(model.get(), &count));
    for (size_t i = 0; i < count; i++) {
        mnn_declaration_t input{};
        input.struct_size = sizeof input;
        check(mnn_interpreter_input_info(model.get(), i, &input));
        list.push_back(Json::object({{"name", input.name},
                                     {"shape", std::vector<int64_t>(input.dims, input.dims + input.rank)},
                                     {"type", typeName(input.type)},
                                     {"format", formatName(input.format)}}));
    }
    return list;
}

// The outputs as they follow from the declared inputs, for a model without a session.
Json describeDeclaredOutputs(const Interpreter& model) {
    Json list = Json::array();
    size_t count = 0;
    check(mnn_interpreter_output_count(model.get(), &count));
    for (size_t i = 0; i < count; i++) {
        mnn_declaration_t output{};
        output.struct_size = sizeof output;
        check(mnn_interpreter_output_info(model.get(), i, &output));
        Json entry = Json::object({{"name", output.name}, {"shape", nullptr}});
        if (output.rank >= 0) entry["shape"] = std::vector<int64_t>(output.dims, output.dims + output.rank);
        if (output.type != 0) entry["type"] = typeName(output.type);
        list.push_back(entry);
    }
    return list;
}

Json describeOps(const Interpreter& model) {
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
    return Json::object({{"total", count}, {"counts", counts}, {"unsupported", unsupported}});
}

Json describeOutputs(const Session& session) {
    Json list = Json::array();
    for (const mnn_tensor_t* tensor : outputsOf(session)) {
        Json entry = Json::object({{"name", nameOf(tensor)}, {"shape", nullptr}});
        if (const auto shape = knownShape(tensor)) {
            entry["shape"] = *shape;
            entry["type"] = typeName(propertiesOf(tensor).type);
        }
        list.push_back(entry);
    }
    return list;
}

Json describePlacement(const Session& session, const CommonFlags& flags) {
    std::map<std::string, size_t> counts{{"cpu", 0}, {"host_shape", 0}};
    if (flags.backend != "auto") counts.try_emplace(flags.backend, 0);
    Json ops = Json::array();
    size_t count = 0;
    check(mnn_session_op_count(session.get(), &count));
    for (size_t i = 0; i < count; i++) {
        mnn_op_info_t op{};
        op.struct_size = sizeof op;
        check(mnn_session_op_info(session.get(), i, &op));
        std::string where = op.host_shape != 0 ? "host_shape" : op.backend_name;
        if (where.empty()) where = "undecided";  // planned in a run
        counts[where]++;
        Json row = Json::object({{"op", op.name}, {"type", op.type_name}, {"backend", where}, {"reason", nullptr}});
        if (op.reason) row["reason"] = op.reason;
        ops.push_back(row);
    }
    return Json::object({{"counts", counts}, {"ops", ops}});
}

// The shapes of a run of one token.
void applyTokenShapes(const Session& session, const LanguageModel& language) {
    const auto resize = [&](const char* name, const std::vector<int64_t>& shape) {
        mnn_tensor_t* input = nullptr;
        check(mnn_session_input(session.get(), name, &input));
        resizeInput(session, input, shape);
    };
    resize("input_ids", {1, 1, language.hidden()});
    resize("attention_mask", language.maskShape(1, 0));
    resize("position_ids", language.positionShape(1));
    check(mnn_session_resize(session.get()));
}

// Adds the facts that need a session, or "session_error" when none can be created.
void describeSession(Json& info, const Interpreter& model, const CommonFlags& flags,
                     const std::optional<LanguageModel>& language) {
    for (const char* key : {"flops", "flops_complete", "memory", "settings", "placement", "session_error"})
        info[key] = nullptr;
    try {
        const Session session = createSession(model, flags);
        if (language && flags.shapes.empty())
            applyTokenShapes(session, *language);
        else
            applyShapes(session, flags);
        requireShapes(session);
        info["outputs"] = describeOutputs(session);
        double flops = 0;
        bool complete = true;
        check(mnn_session_flops(session.get(), &flops, &complete));
        const mnn_statistics_t memory = statisticsOf(session);
        info["flops"] = flops;
        info["flops_complete"] = complete;
        info["memory"] = Json::object({{"arena_bytes", memory.arena_bytes},
                                       {"weight_bytes", memory.weight_bytes},
                                       {"total_bytes", memory.memory_bytes},
                                       {"peak_bytes", memory.peak_memory_bytes}});
        info["settings"] = describeSettings(session);
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

std::string shapeOrUnknown(const Json& entry) {
    return entry.at("shape").is_null() ? "unknown before a run"
                                       : shapeText(entry.at("shape").get<std::vector<int64_t>>());
}

void printCounts(const char* indent, const Json& counts) {
    std::vector<std::pair<std::string, uint64_t>> rows;
    for (const auto& [name, count] : counts.items()) rows.emplace_back(name, count.get<uint64_t>());
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    for (const auto& [name, count] : rows) text::print("{}{:>6}  {}\n", indent, count, name);
}

void printSession(const Json& info) {
    if (!info.at("session_error").is_null()) {
        text::print("no session    {}\n", info.at("session_error").get<std::string>());
        return;
    }
    const Json& memory = info.at("memory");
    text::print("flops         {}{}\n", countText(info.at("flops").get<double>()),
                info.at("flops_complete").get<bool>() ? "" : " and what depends on contents");
    text::print("memory        {} in all: arena {}, weights {}\n", bytesText(memory.at("total_bytes").get<uint64_t>()),
                bytesText(memory.at("arena_bytes").get<uint64_t>()),
                bytesText(memory.at("weight_bytes").get<uint64_t>()));
    const Json& settings = info.at("settings");
    text::print("settings      {}{} threads {} precision {} memory {}\n",
                settings.at("device").is_null() ? "" : settings.at("device").get<std::string>() + ", ",
                settings.at("cpu_isa").get<std::string>(), settings.at("threads").get<uint64_t>(),
                settings.at("precision").get<std::string>(), settings.at("memory").get<std::string>());
    for (const Json& reason : settings.at("reasons")) text::print("  {}\n", reason.get<std::string>());
    text::print("placement\n");
    printCounts("  ", info.at("placement").at("counts"));
    for (const Json& row : info.at("placement").at("ops"))
        if (!row.at("reason").is_null())
            text::print("    {} '{}' on {}: {}\n", row.at("type").get<std::string>(), row.at("op").get<std::string>(),
                        row.at("backend").get<std::string>(), row.at("reason").get<std::string>());
}

void printLanguage(const Json& language) {
    text::print("language      {}, {} layers of {}, {} tokens\n", language.at("model_type").get<std::string>(),
                language.at("layers").get<int64_t>(), language.at("hidden_size").get<int64_t>(),
                language.at("tokens").get<int64_t>());
    text::print("attention     {}{}\n", language.at("attention").get<std::string>(),
                language.at("sliding_window").is_null()
                    ? std::string()
                    : fmt::format(", {} tokens", language.at("sliding_window").get<int64_t>()));
    text::print("embeddings    {}, {} bits{}\n", language.at("embeddings").get<std::string>(),
                language.at("embedding_bits").get<int64_t>(),
                language.at("tied").get<bool>() ? ", those of the last layer" : "");
    for (const char* key : {"precision", "memory"})
        if (!language.at(key).is_null())
            text::print("{:<14}{} in config.json\n", key, language.at(key).get<std::string>());
}

void printModel(const Json& info) {
    text::print("model         {}\n", info.at("model").get<std::string>());
    if (!info.at("language_model").is_null()) printLanguage(info.at("language_model"));
    for (const char* key : {"model_version", "uuid", "biz_code"})
        if (!info.at(key).get<std::string>().empty()) text::print("{:<14}{}\n", key, info.at(key).get<std::string>());
    for (const Json& input : info.at("inputs"))
        text::print("input         {}  {}  {}  {}\n", input.at("name").get<std::string>(), shapeOrUnknown(input),
                    input.at("type").get<std::string>(), input.at("format").get<std::string>());
    for (const Json& output : info.at("outputs"))
        text::print("output        {}  {}  {}\n", output.at("name").get<std::string>(), shapeOrUnknown(output),
                    output.contains("type") ? output.at("type").get<std::string>() : "");
    text::print("parameters    {}\n", info.at("parameters").is_null() ? "unknown: the weight file cannot be read"
                                                                      : countText(info.at("parameters").get<double>()));
    const Json& ops = info.at("ops");
    text::print("operators     {}\n", ops.at("total").get<uint64_t>());
    printCounts("  ", ops.at("counts"));
    if (!ops.at("unsupported").empty()) {
        text::print("unsupported\n");
        printCounts("  ", ops.at("unsupported"));
    }
    printSession(info);
}

// Returns the plan as mnn_session_report() reports it: "all" is the plan before the first pass and after each one,
// "passes" are their names.
std::string planText(const Interpreter& model, const InfoOptions& options) {
    CommonFlags flags = options.flags;
    flags.recordPlan = true;
    const Session session = createSession(model, flags);
    std::string what = options.plan == "passes" ? "passes" : "plan";
    if (options.plan != "all" && options.plan != "passes") what += " " + options.plan;
    if (what != "passes") {
        applyShapes(session, flags);
        requireShapes(session);
    }
    return reportOf(session, what);
}

}  // namespace

int info(const InfoOptions& options) {
    options.flags.checkTogether();
    std::optional<LanguageModel> language;
    if (isLanguageModel(options.model)) language.emplace(options.model);
    const std::string file = language ? language->modelFile() : options.model;
    std::optional<Loading> loading(file);
    const Interpreter model = openModel(file, options.flags.parsedShapes(), language ? language->attentionScale() : 0);
    if (!options.plan.empty()) {
        const std::string plan = planText(model, options);
        loading.reset();
        if (options.json)
            text::print("{}\n", jsonText({{"model", options.model}, {"what", options.plan}, {"text", plan}}));
        else
            text::print("{}", plan);
        return 0;
    }
    Json result;
    result["model"] = options.model;
    result["language_model"] = language ? language->describe() : Json();
    result["model_version"] = stringOf(mnn_interpreter_model_version, model);
    result["uuid"] = stringOf(mnn_interpreter_uuid, model);
    result["biz_code"] = stringOf(mnn_interpreter_biz_code, model);
    result["inputs"] = describeInputs(model);
    result["outputs"] = describeDeclaredOutputs(model);
    result["ops"] = describeOps(model);
    uint64_t parameters = 0;
    // A missing weight file must not hide the facts of the model itself; the session error names the file.
    const bool counted = mnn_interpreter_parameter_count(model.get(), &parameters) == MNN_OK;
    result["parameters"] = counted ? Json(parameters) : Json();
    describeSession(result, model, options.flags, language);
    loading.reset();
    if (options.json)
        text::print("{}\n", jsonText(result));
    else
        printModel(result);
    return 0;
}

}  // namespace tool

// mnn generate: continues the tokens of a prompt, each time with the likeliest one.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>

#include "commands.h"
#include "common.h"
#include "json.h"
#include "language_model.h"
#include "loading.h"
#include "open_model.h"
#include "output_file.h"
#include "session_settings.h"
#include "text.h"

namespace tool {
namespace {

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

class Conversation {
  public:
    Conversation(const LanguageModel& model, const Session& session) : model_(model), session_(session) {
        check(mnn_session_input(session.get(), "input_ids", &ids_));
        check(mnn_session_input(session.get(), "attention_mask", &mask_));
        check(mnn_session_input(session.get(), "position_ids", &positions_));
        check(mnn_session_input(session.get(), "logits_index", &index_));
        check(mnn_session_output(session.get(), "logits", &logits_));
    }

    // Computes these tokens, and returns the logits of all of them or of the last one.
    Array step(const std::vector<int64_t>& tokens, bool allRows) {
        const auto count = static_cast<int64_t>(tokens.size());
        resizeInput(session_, ids_, {count, 1, model_.hidden()});
        resizeInput(session_, mask_, model_.maskShape(count, past_));
        resizeInput(session_, positions_, model_.positionShape(count));
        check(mnn_session_resize(session_.get()));
        std::vector<float> rows(static_cast<size_t>(count * model_.hidden()));
        for (int64_t i = 0; i < count; i++)
            model_.embed(tokens[static_cast<size_t>(i)], rows.data() + i * model_.hidden());
        write(ids_, rows.data(), rows.size());
        const std::vector<float> mask = model_.mask(count, past_);
        write(mask_, mask.data(), mask.size());
        std::vector<int32_t> positions;
        for (int64_t i = 0; i < model_.positionShape(count)[0] * count; i++)
            positions.push_back(static_cast<int32_t>(past_ + i % count));
        write(positions_, positions.data(), positions.size());
        const int32_t first = allRows ? 0 : -1;
        write(index_, &first, 1);
        check(mnn_session_run(session_.get()));
        past_ += count;
        return readTensor(logits_);
    }

  private:
    template <typename T>
    static void write(mnn_tensor_t* tensor, const T* values, size_t count) {
        check(mnn_tensor_write(tensor, values, count * sizeof(T), MNN_FORMAT_NCHW));
    }

    const LanguageModel& model_;
    const Session& session_;
    mnn_tensor_t *ids_ = nullptr, *mask_ = nullptr, *positions_ = nullptr, *index_ = nullptr, *logits_ = nullptr;
    int64_t past_ = 0;
};

CommonFlags flagsFor(const LanguageModel& model, const GenerateOptions& options) {
    CommonFlags flags = options.flags;
    if (!options.asExported) return flags;
    if (!options.givesPrecision && !model.precision().empty()) flags.precision = model.precision();
    if (!options.givesMemory && !model.memory().empty()) flags.memory = model.memory();
    return flags;
}

// Collects rows of logits into an array [rows][tokens].
class LogitRows {
  public:
    void add(const Array& logits) {
        if (logits.element != Element::Float32 || logits.shape.empty() || logits.count() == 0)
            throw ToolError(fmt::format("the logits are {} of shape {}; float32 with at least one element is needed",
                                        elementName(logits.element), shapeText(logits.shape)));
        rows_.shape = {0, logits.shape.back()};
        rows_.bytes.insert(rows_.bytes.end(), logits.bytes.begin(), logits.bytes.end());
        rows_.shape[0] = static_cast<int64_t>(rows_.count()) / rows_.shape[1];
    }
    // Returns the token with the largest logit of the last row; the first one where several are equal.
    int64_t likeliest() const {
        const auto* end = reinterpret_cast<const float*>(rows_.bytes.data()) + rows_.count();
        const float* const row = end - rows_.shape[1];
        if (std::any_of(row, end, [](float logit) { return std::isnan(logit); }))
            throw ToolError("the logits hold NaN: no token is the likeliest");
        return std::max_element(row, end) - row;
    }
    const Array& rows() const { return rows_; }

  private:
    Array rows_;
};

}  // namespace

int generate(const GenerateOptions& options) {
    options.flags.checkTogether();
    const bool logitsAlone = options.logits == kStandardStream;
    if (logitsAlone && options.json) throw UsageError("--logits - and --json both write to standard output");
    std::optional<Loading> loading;
    loading.emplace(options.model + "/llm.mnn");
    const LanguageModel model(options.model);
    const Interpreter interpreter = openModel(model.modelFile(), {}, model.attentionScale());
    const CommonFlags flags = flagsFor(model, options);
    const Session session = createSession(interpreter, flags);
    if (options.halves) check(mnn_session_state_set_type(session.get(), MNN_TYPE_FLOAT16));
    loading.reset();

    Conversation conversation(model, session);
    const bool wantsRows = !options.logits.empty();
    LogitRows all, last;
    std::vector<int64_t> made;
    const auto take = [&](const Array& logits) {
        if (wantsRows) all.add(logits);
        last = LogitRows();
        last.add(logits);
    };
    const Clock::time_point begin = Clock::now();
    const size_t chunk = options.chunk == 0 ? options.tokens.size() : options.chunk;
    for (size_t i = 0; i < options.tokens.size(); i += chunk) {
        const auto first = options.tokens.begin() + static_cast<std::ptrdiff_t>(i);
        const auto end = first + static_cast<std::ptrdiff_t>(std::min(chunk, options.tokens.size() - i));
        take(conversation.step({first, end}, wantsRows));
    }
    const double promptMs = millisecondsSince(begin);
    const Clock::time_point behind = Clock::now();
    while (made.size() < options.count) {
        made.push_back(last.likeliest());
        // The last token is run only for a caller that wants its logits.
        if (made.size() == options.count && !wantsRows) break;
        take(conversation.step({made.back()}, wantsRows));
    }
    const double ms = millisecondsSince(behind);
    if (wantsRows) writeNpy(options.logits, all.rows());
    if (options.json) {
        Json result = Json::object({{"model", options.model},
                                    {"prompt", options.tokens},
                                    {"tokens", made},
                                    {"prompt_ms", promptMs},
                                    {"generate_ms", ms}});
        mnn_state_properties_t state{};
        state.struct_size = sizeof state;
        check(mnn_session_state_info(session.get(), &state));
        const mnn_statistics_t statistics = statisticsOf(session);
        result["state"] =
            Json::object({{"length", state.length}, {"capacity", state.capacity}, {"bytes", state.bytes}});
        result["settings"] = describeSettings(session);
        result["plans"] = statistics.plans;
        result["memory_bytes"] = statistics.memory_bytes;
        text::print("{}\n", jsonText(result));
        return 0;
    }
    std::string line;
    for (const int64_t token : made) line += fmt::format("{}{}", line.empty() ? "" : ",", token);
    text::print(logitsAlone ? stderr : stdout, "{}\n", line);
    if (options.asExported) {
        const Json settings = describeSettings(session);
        text::print(stderr, "mnn generate: precision {}, memory {}\n", settings.at("precision").get<std::string>(),
                    settings.at("memory").get<std::string>());
        for (const Json& reason : settings.at("reasons"))
            text::print(stderr, "mnn generate: {}\n", reason.get<std::string>());
    }
    return 0;
}

}  // namespace tool

// Reads the folder of a language model.
#include "language_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "base/os/paths.h"
#include "errors.h"
#include "input_file.h"
#include "text.h"

namespace tool {
namespace {

constexpr const char* kConfig = "llm_config.json";
constexpr const char* kEmbeddings = "embeddings_bf16.bin";
constexpr int64_t kMaxCount = int64_t{1} << 31;  // of tokens, and of numbers in an embedding

nlohmann::json readJson(const std::filesystem::path& path) {
    try {
        return parseJson(readInput(mnnc::os::textOf(path), size_t{16} << 20));
    } catch (const nlohmann::json::exception& error) {
        throw ToolError(fmt::format("'{}' is no JSON: {}", mnnc::os::textOf(path), reasonOf(error)));
    }
}

int64_t extentOf(const nlohmann::json& config, const char* name) {
    const int64_t value = integerOf(config.at(name));
    if (value <= 0 || value > kMaxCount)
        throw ToolError(fmt::format("{} is {}; it is 1 to {}", name, value, kMaxCount));
    return value;
}

std::string stringOr(const nlohmann::json& config, const char* name, const std::string& other) {
    return config.contains(name) ? config.at(name).get<std::string>() : other;
}

// Returns the name of a file beside the configuration, which may not lead to another folder.
std::string fileName(const nlohmann::json& config, const char* name, const std::string& usual) {
    std::string file = stringOr(config, name, usual);
    if (file.empty() || file.find('/') != std::string::npos)
        throw ToolError(fmt::format("{} is '{}', which is no name of a file in the folder", name, file));
    return file;
}

// Returns "" where the configuration has no such entry.
std::string levelOf(const nlohmann::json& config, const char* name) {
    if (!config.contains(name)) return "";
    auto level = config.at(name).get<std::string>();
    if (level != "low" && level != "normal" && level != "high")
        throw ToolError(fmt::format("{} is '{}'; known are low, normal and high", name, level));
    return level;
}

float halfToFloat(uint16_t half) {
    const int exponent = half >> 10 & 31;
    const float mantissa = static_cast<float>(half & 1023);
    float value = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
    if (exponent == 31)
        value = mantissa == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    return half & 0x8000 ? -value : value;
}

}  // namespace

bool isLanguageModel(const std::string& path) {
    std::error_code none;
    return std::filesystem::is_regular_file(mnnc::os::pathOf(path) / kConfig, none);
}

LanguageModel::LanguageModel(const std::string& folder) : folder_(mnnc::os::pathOf(folder)) {
    const std::filesystem::path path = folder_ / kConfig;
    if (std::error_code none; std::filesystem::is_regular_file(folder_, none))
        throw ToolError(fmt::format("'{}' is a file; a language model is a folder with {}", folder, kConfig));
    if (!isLanguageModel(folder)) throw ToolError(fmt::format("'{}' has no {}", folder, kConfig));
    const nlohmann::json config = readJson(path);
    const std::filesystem::path further = folder_ / "config.json";
    const nlohmann::json files =
        std::filesystem::is_regular_file(further) ? readJson(further) : nlohmann::json::object();
    try {
        weights_ = fileName(files, "llm_weight", "llm.mnn.weight");
        if (fileName(files, "llm_model", "llm.mnn") != "llm.mnn") throw ToolError("llm_model is not llm.mnn");
        embeddings_ = fileName(files, "embedding_file", kEmbeddings);
        precision_ = levelOf(files, "precision");
        memory_ = levelOf(files, "memory");
    } catch (const nlohmann::json::exception& error) {
        throw ToolError(fmt::format("'{}': {}", mnnc::os::textOf(further), reasonOf(error)));
    } catch (const std::exception& error) {
        throw ToolError(fmt::format("'{}': {}", mnnc::os::textOf(further), error.what()));
    }
    try {
        type_ = stringOr(config, "model_type", "");
        hidden_ = extentOf(config, "hidden_size");
        layers_ = extentOf(config, "layer_nums");
        attention_ = stringOr(config, "attention_type", "full");
        if (stringOr(config, "attention_mask", "float") != "float" ||
            (attention_ != "full" && attention_ != "mix" && attention_ != "sliding"))
            throw ToolError(
                fmt::format("masks are {} for attention that is {}; known are masks that are float, for "
                            "attention that is full, mix or sliding",
                            stringOr(config, "attention_mask", "float"), attention_));
        if (attention_ != "full") window_ = extentOf(config, "sliding_window");
        // The exporter writes the factor of attention here, and none to the operators.
        if (config.contains("attn_scale")) attentionScale_ = config.at("attn_scale").get<float>();
        threePositions_ = config.contains("is_mrope") && config.at("is_mrope").get<bool>();
        if (config.contains("tie_embeddings"))
            readPlaces(config.at("tie_embeddings"));
        else if (embeddings_ != kEmbeddings)
            throw ToolError(
                fmt::format("embeddings are in {}; without tie_embeddings known is {}", embeddings_, kEmbeddings));
    } catch (const nlohmann::json::exception& error) {
        throw ToolError(fmt::format("'{}': {}", mnnc::os::textOf(path), reasonOf(error)));
    } catch (const std::exception& error) {
        throw ToolError(fmt::format("'{}': {}", mnnc::os::textOf(path), error.what()));
    }
    const std::filesystem::path file = folder_ / mnnc::os::pathOf(embeddings_);
    std::error_code error;
    const uint64_t bytes = std::filesystem::file_size(file, error);
    if (error) throw ToolError(fmt::format("cannot open '{}'", mnnc::os::textOf(file)));
    if (source_ == Source::Places) {
        if (bytes < places_.alpha || bytes - places_.alpha < places_.alphaBytes)
            throw ToolError(
                fmt::format("'{}' has {} bytes, fewer than tie_embeddings describes", mnnc::os::textOf(file), bytes));
        return;
    }
    const auto row = static_cast<uint64_t>(hidden_) * 2;
    if (bytes == 0 || bytes % row != 0 || bytes / row > static_cast<uint64_t>(kMaxCount))
        throw ToolError(
            fmt::format("'{}' has {} bytes, which is no number of rows of {}", mnnc::os::textOf(file), bytes, row));
    tokens_ = static_cast<int64_t>(bytes / row);
}

// The numbers are [place of the codes, place of the scales, bytes of the scales, bits, numbers of a block]. The places
// lie in a file of their own where config.json names one that exists, and otherwise in the last layer's weights.
void LanguageModel::readPlaces(const nlohmann::json& numbers) {
    const std::vector<int64_t> five = integersOf(numbers);
    if (five.size() != 5 || std::any_of(five.begin(), five.end(), [](int64_t number) { return number < 0; }) ||
        five[1] <= five[0])
        throw ToolError("tie_embeddings is not what the exporter writes");
    source_ = Source::Places;
    std::error_code none;
    if (embeddings_ == kEmbeddings || !std::filesystem::is_regular_file(folder_ / mnnc::os::pathOf(embeddings_), none))
        embeddings_ = weights_;
    places_ = {
        static_cast<uint64_t>(five[0]), static_cast<uint64_t>(five[1]), static_cast<uint64_t>(five[2]), 0, 0, false};
    if (five[3] != 16 && five[3] != 8 && five[3] != 4)
        throw ToolError(fmt::format("tie_embeddings has {} bits; known are 4, 8 and 16", five[3]));
    places_.bits = static_cast<int>(five[3]);
    const auto rowBits = static_cast<uint64_t>(hidden_) * static_cast<uint64_t>(places_.bits);
    const uint64_t bytes = places_.alpha - places_.codes;
    if (rowBits % 8 != 0 || bytes % (rowBits / 8) != 0 || bytes / (rowBits / 8) > static_cast<uint64_t>(kMaxCount))
        throw ToolError("tie_embeddings does not fit hidden_size");
    tokens_ = static_cast<int64_t>(bytes / (rowBits / 8));
    if (places_.bits == 16) return;
    places_.block = five[4] == 0 ? hidden_ : five[4];
    const auto scales = static_cast<uint64_t>(tokens_) * static_cast<uint64_t>(hidden_ / places_.block) * sizeof(float);
    places_.hasZeros = places_.alphaBytes == 2 * scales;
    if (hidden_ % places_.block != 0 || (!places_.hasZeros && places_.alphaBytes != scales))
        throw ToolError("the scales of tie_embeddings do not fit its blocks");
}

std::string LanguageModel::modelFile() const {
    return mnnc::os::textOf(folder_ / "llm.mnn");
}

std::string LanguageModel::read(uint64_t offset, uint64_t bytes) const {
    const std::filesystem::path path = folder_ / mnnc::os::pathOf(embeddings_);
    const std::string name = mnnc::os::textOf(path);
    std::ifstream file(path, std::ios::binary);
    std::string text(bytes, '\0');
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(text.data(), static_cast<std::streamsize>(bytes));
    if (!file) throw ToolError(fmt::format("'{}' ends before the embedding at byte {}", name, offset));
    return text;
}

void LanguageModel::embed(int64_t token, float* row) const {
    if (token < 0 || token >= tokens_)
        throw ToolError(fmt::format("there is no token {}: the model has {}", token, tokens_));
    if (source_ == Source::Places && places_.bits < 16) return embedCodes(token, row);
    const auto bytes = static_cast<uint64_t>(hidden_) * 2;
    const std::string stored = read(places_.codes + static_cast<uint64_t>(token) * bytes, bytes);
    for (int64_t i = 0; i < hidden_; i++) {
        uint16_t number = 0;
        std::memcpy(&number, stored.data() + i * 2, sizeof number);
        row[i] = source_ == Source::Places ? halfToFloat(number) : std::bit_cast<float>(uint32_t{number} << 16);
    }
}

// A code is stored as its distance from the smallest code of its bits. The first of two codes in a byte is the upper
// half.
void LanguageModel::embedCodes(int64_t token, float* row) const {
    const auto bytes = static_cast<uint64_t>(hidden_) * static_cast<uint64_t>(places_.bits) / 8;
    const std::string codes = read(places_.codes + static_cast<uint64_t>(token) * bytes, bytes);
    const auto blocks = static_cast<uint64_t>(hidden_ / places_.block);
    const uint64_t scaleBytes = blocks * sizeof(float) * (places_.hasZeros ? 2 : 1);
    const std::string alpha = read(places_.alpha + static_cast<uint64_t>(token) * scaleBytes, scaleBytes);
    for (int64_t i = 0; i < hidden_; i++) {
        const auto byte = static_cast<unsigned char>(codes[static_cast<size_t>(i * places_.bits / 8)]);
        const int code = places_.bits == 8 ? byte - 128 : (i % 2 == 0 ? byte >> 4 : byte & 15) - 8;
        float scale[2] = {};  // the number that is added, and the factor; or the factor alone
        const size_t size = scaleBytes / blocks;
        std::memcpy(scale, alpha.data() + static_cast<size_t>(i / places_.block) * size, size);
        row[i] =
            places_.hasZeros ? static_cast<float>(code) * scale[1] + scale[0] : static_cast<float>(code) * scale[0];
    }
}

std::vector<int64_t> LanguageModel::maskShape(int64_t count, int64_t past) const {
    if (attention_ == "full") return {};
    return {attention_ == "mix" ? 2 : 1, 1, count, past + count};
}

std::vector<int64_t> LanguageModel::positionShape(int64_t count) const {
    return {threePositions_ ? 3 : 1, count};
}

// A scalar stands for the causal order. Otherwise the mask has a part for the layers that see all earlier tokens, if
// there are any, and a part for the layers that see only the latest tokens.
std::vector<float> LanguageModel::mask(int64_t count, int64_t past) const {
    if (attention_ == "full") return {0};
    std::vector<int64_t> windows{window_};
    if (attention_ == "mix") windows.insert(windows.begin(), past + count);
    std::vector<float> mask;
    mask.reserve(windows.size() * static_cast<size_t>(count * (past + count)));
    for (const int64_t window : windows)
        for (int64_t query = past; query < past + count; query++)
            for (int64_t key = 0; key < past + count; key++)
                mask.push_back(key <= query && key > query - window ? 0 : std::numeric_limits<float>::lowest());
    return mask;
}

Json LanguageModel::describe() const {
    Json result = Json::object({{"model_type", type_},
                                {"hidden_size", hidden_},
                                {"layers", layers_},
                                {"tokens", tokens_},
                                {"attention", attention_},
                                {"sliding_window", nullptr},
                                {"embeddings", embeddings_},
                                {"embedding_bits", source_ == Source::Places ? places_.bits : 16},
                                {"tied", source_ == Source::Places && embeddings_ == weights_},
                                {"precision", nullptr},
                                {"memory", nullptr}});
    if (window_ > 0) result["sliding_window"] = window_;
    if (!precision_.empty()) result["precision"] = precision_;
    if (!memory_.empty()) result["memory"] = memory_;
    return result;
}

}  // namespace tool

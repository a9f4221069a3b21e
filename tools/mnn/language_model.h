// The folder of a language model as the official exporter (llmexport) writes it: llm.mnn with its weights, the
// embeddings, and llm_config.json. See docs/use.md.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "json.h"

namespace tool {

// Returns whether a path is such a folder.
bool isLanguageModel(const std::string& path);

class LanguageModel {
  public:
    // Throws ToolError, which names the file and the entry that is wrong or not supported.
    explicit LanguageModel(const std::string& folder);

    std::string modelFile() const;
    int64_t hidden() const { return hidden_; }
    int64_t tokens() const { return tokens_; }                // in the vocabulary
    float attentionScale() const { return attentionScale_; }  // 0: the operators use their own scale
    // These are low, normal or high, as config.json has them; "" where it has none.
    const std::string& precision() const { return precision_; }
    const std::string& memory() const { return memory_; }
    // Writes the embedding of a token, hidden() floats. Throws ToolError for a number that is no token.
    void embed(int64_t token, float* row) const;
    // Return the shapes of the inputs for `count` tokens after `past` kept ones.
    std::vector<int64_t> maskShape(int64_t count, int64_t past) const;
    std::vector<int64_t> positionShape(int64_t count) const;
    // Returns the elements of a mask of that shape.
    std::vector<float> mask(int64_t count, int64_t past) const;
    // Returns the description of the model that mnn info prints.
    Json describe() const;

  private:
    enum class Source { Bf16File, Places };
    struct Codes {  // the place and form of embeddings in the file of the weights, or in a file of codes
        uint64_t codes = 0, alpha = 0, alphaBytes = 0;
        int bits = 0;
        int64_t block = 0;
        bool hasZeros = false;
    };
    void readPlaces(const nlohmann::json& numbers);
    void embedCodes(int64_t token, float* row) const;
    std::string read(uint64_t offset, uint64_t bytes) const;

    const std::filesystem::path folder_;
    std::string weights_, embeddings_;  // names of files
    std::string type_, attention_, precision_, memory_;
    int64_t hidden_ = 0, layers_ = 0, tokens_ = 0, window_ = 0;
    float attentionScale_ = 0;
    bool threePositions_ = false;  // M-RoPE
    Source source_ = Source::Bf16File;
    Codes places_;
};

}  // namespace tool

// The executions of a plan with the commands that they were made for, so that the next plan takes those over whose
// commands and operands are the same again.
#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "backend/execution.h"
#include "ops/command.h"

namespace mnnc {

class MadeExecutions {
  public:
    // isNew: it was made for this plan.
    void add(const Command& command, std::shared_ptr<Execution> execution, bool isNew);
    int64_t created() const noexcept { return created_; }
    // An execution of the same operator over the same tensors, which have the same shapes, types and storage and, where
    // they are constant, the same contents. Null: there is none.
    std::shared_ptr<Execution> find(const Command& command) const;

  private:
    // What an execution may have looked at.
    struct Operand {
        explicit Operand(const Tensor& tensor);
        bool operator==(const Operand& other) const noexcept;

        Shape shape;
        DataType type;
        Format format;
        Usage usage;
        int channelBlock;
        bool onDevice, constant;
        const void* values;  // of a constant
        const StoredContent* stored;
        TensorQuant quant;
        std::shared_ptr<const TensorList> list;
    };
    struct Made {
        Command command;
        std::vector<Operand> operands;
        std::shared_ptr<Execution> execution;
    };

    static std::vector<Operand> operandsOf(const Command& command);

    std::unordered_multimap<const Tensor*, Made> made_;  // by the first output
    int64_t created_ = 0;
};

}  // namespace mnnc

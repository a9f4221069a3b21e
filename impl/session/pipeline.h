// One graph on the session's backend: its tensors and its stages. The main net is one; so is every body of If
// and While. The plans for the input shapes of some of the last resizes are kept beside the present one.
#pragma once
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "plan/op_record.h"
#include "plan/storage_location.h"
#include "schedule/schedule.h"
#include "session/budgeted_buffer.h"
#include "session/session_context.h"
#include "session/shared_programs.h"
#include "session/stage.h"

namespace mnnc {

class ControlNode;
struct PlannedGraph;

class PlanObserver {
  public:
    // A later stage was planned in a run, or failed to be.
    virtual void planned() = 0;

  protected:
    ~PlanObserver() = default;
};

// What a plan is made for.
struct InputDescription {
    Shape shape;
    DataType type = DataType::Float32;
    Format format = Format::NCHW;
    std::shared_ptr<const TensorList> list;

    bool operator==(const InputDescription& other) const noexcept;
};

class Pipeline {
  public:
    // `inputs` and `outputs` are tensor ids of the graph, from anywhere in it. `updates`: all operators run that write
    // constants. Throws what scheduling throws (unsupported operators are named).
    Pipeline(SessionContext& context, int graph, const std::vector<int>& inputs, const std::vector<int>& outputs,
             bool updates = false);
    ~Pipeline();

    size_t inputCount() const noexcept { return inputIds_.size(); }
    // Of the plan in use, or as the model has it before the first plan.
    Operand& input(size_t index) { return tensors_.own(inputIds_[index]); }
    size_t outputCount() const noexcept { return schedule_.outputs.size(); }
    const Operand& output(size_t index) const noexcept { return tensors_[schedule_.outputs[index]]; }
    // Where the elements of a tensor of the graph lie on the host; null: they lie nowhere there now.
    const void* data(const Operand& tensor) const noexcept { return tensors_.data(tensor); }
    void* inputData(size_t index) const noexcept { return tensors_.frame.data(inputIds_[index] + 1); }
    const Frame& frame() const noexcept { return tensors_.frame; }
    int outputId(size_t index) const noexcept { return schedule_.outputs[index]; }
    int inputId(size_t index) const noexcept { return inputIds_[index]; }

    // Sets what an input is to be; its tensor is it when prepare() has succeeded.
    void describeInput(size_t index, const Shape& shape, DataType type, Format format,
                       const std::shared_ptr<const TensorList>& list = nullptr);
    // What the input is to be.
    const InputDescription& described(size_t index) const noexcept { return wanted_[index]; }
    // What operators make of the described inputs, without a plan: each output without contents, or none where only a
    // run knows. Throws what shape rules throw.
    std::vector<std::optional<Operand>> inferOutputs();
    // Makes or finds the plan of the first stage for the described inputs, input memory included. Inputs that are no
    // longer what they were are zeros then; the others keep their contents. Later stages are planned by run(). When it
    // fails the plan before is as it was. It has its memory and runs, unless memory that had to grow for the new one
    // was lacking.
    void prepare();
    // Whether there is a plan for the described inputs.
    bool prepared() const noexcept { return ready_ && described_ && !stale_; }
    // Whether all shapes are known before a run.
    bool singleStage() const noexcept { return stages_.size() == 1 && controls_.empty(); }
    void run(PlanObserver* observer = nullptr);
    // All of a run, where it is one recording of the device; else null.
    Recording* recording() const noexcept {
        return singleStage() && variables_.empty() ? stages_[0]->recording() : nullptr;
    }

    // The memory that the session has for an input.
    void* inputMemory(size_t index) noexcept { return inputMemory_[index].data(); }
    // Whether a tensor has its shape before a run: the plan of the first stage gives it, or it is there before.
    bool settled(int id) const noexcept;
    // Where the output lies; nowhere while its stage is not planned, and for results of control flow.
    ConstStorageLocation outputStorage(size_t index) const noexcept;
    // The tensor whose memory is that of the output, when it can be elsewhere on the host; else null.
    const Operand* movableRoot(size_t index) const;
    // Gives an input, or the root of an output (movableRoot), other memory of the host, and views of it with it; null:
    // that of the session. Until the next plan. Whether it was elsewhere before. An output takes along what the run
    // under way has made of it.
    bool placeInput(size_t index, void* data) noexcept;
    bool placeOutput(const Operand& root, void* data) noexcept;

    // Whether a device alone reads an input, or makes an output, in the plan that stands, so that it can do so in any
    // buffer.
    bool deviceReads(size_t input) noexcept;
    bool deviceMakes(size_t output) noexcept;
    // Makes it do so in a block from its beginning on; null: in the session's memory. The host has no values then.
    // Until the next plan.
    void readFrom(size_t input, DeviceBlock* block) noexcept;
    void makeIn(size_t output, DeviceBlock* block) noexcept;

    // Keeps one plan, and no more memory than it needs, unless a caller has some of it mapped. Throws what a device
    // throws: then prepare() has to follow.
    void trim();

    void appendRecords(std::vector<OpRecord>& records) const;
    int64_t arenaBytes() const;
    // Describes this graph, then those of control flow in it.
    void appendGraphs(std::vector<PlannedGraph>& graphs) const;

    // Whether an operator of the pipeline reads a tensor, or it is an output.
    bool reads(int id) const;
    // All those, by id.
    void markRead(std::vector<bool>& read) const;
    const Operand& tensor(int id) const noexcept { return tensors_[id]; }
    // The memory of a constant in this pipeline alone, which has its values at first; the plan does not follow what is
    // written.
    void* ownConstant(int id);
    // The constants in such memory.
    std::vector<int> ownConstants() const;
    // Whether operators write the constant: it is in such memory, and a run reads what is written there.
    bool isVariable(int id) const noexcept;
    bool hasVariables() const noexcept { return !variables_.empty(); }
    // Values of these own constants are others: no plan holds any more, and the next prepare() plans everything anew.
    void constantsChanged(const std::set<int>& ids);

  private:
    // A plan that is not in use.
    struct KeptPlan {
        std::vector<InputDescription> inputs;
        std::vector<std::unique_ptr<BoundProgram>> stages;
    };
    using KeptPlans = std::list<KeptPlan>;
    // A constant that operators write, and where its new value waits when that lies in the memory of another one.
    struct CarriedVariable {
        int constant, value;  // ids
        BudgetedBuffer waiting;
    };

    void loadConstants(const NetGraph& net);
    void makeVariables();
    void checkVariable(const CarriedVariable& variable) const;
    void checkVariables() const;
    void keepVariables();
    // Whether programs of other sessions are as good as its own: none of its constants has other values than the
    // model's.
    bool shares() const noexcept { return context_.programs && ownConstants_.size() == variables_.size(); }
    // One of another session, or a new one.
    ProgramPtr programOf(size_t stage, Stage::Request request);
    void planFirst();
    void planLater(size_t stage, PlanObserver* observer);
    // The inputs as they are to be.
    std::vector<Tensor> wantedInputs() const;
    bool isMade(int id) const noexcept;
    bool relocate(const Operand& root, void* to) noexcept;
    void exchange(KeptPlan& kept) noexcept;
    // Takes a plan into use and gives it memory; where that fails, the one before is in use again.
    void use(KeptPlan& kept);
    void bind();
    void bindOrLose() noexcept;
    void bindInputs() noexcept;
    void zeroInputs(const std::vector<InputDescription>& before);
    bool makeRoom() noexcept;

    SessionContext& context_;
    GraphSchedule schedule_;
    const std::shared_ptr<SharedPrograms> shared_;
    GraphTensors tensors_;
    std::map<int, BudgetedBuffer> ownConstants_;  // by tensor id
    std::map<size_t, std::unique_ptr<Node>>
        renewedNodes_;  // by position in the schedule: those that read own constants
    std::vector<CarriedVariable> variables_;
    std::vector<int> inputIds_;
    std::vector<BudgetedBuffer> inputMemory_;
    std::vector<InputDescription> wanted_, planned_;  // planned_: of the plan in use; none before the first
    bool described_ = false;                          // they are the same
    bool ready_ = false;                              // the plan in use has memory
    bool stale_ = false;                              // own constants have changed since it was made
    KeptPlans kept_;                                  // the last one in use first
    std::vector<std::unique_ptr<ControlNode>> controls_;
    std::vector<std::unique_ptr<Stage>> stages_;
    size_t stagesRun_ = 0;  // of the run that plans a later stage now; else 0
};

}  // namespace mnnc

// Checks parameter tables of operators: the right union member, enum values in range, arrays of the right length. These
// checks need no shapes; the shape rules make the others.
#include <cmath>

#include "base/rank.h"
#include "model/const_data.h"
#include "model/table_rules.h"
#include "model/verify.h"
#include "model/wire_access.h"

namespace mnnc {

namespace {

using wire::DataType;

// Rejects an enum field outside [low, high], because the engine branches on such fields.
void requireRange(const OpPlace& place, const char* field, int64_t value, int64_t low, int64_t high) {
    if (value < low || value > high)
        place.fail(Status::BadParameter, "%s is %lld, %lld to %lld are known", field, asLong(value), asLong(low),
                   asLong(high));
}

template <typename Enum>
void requireEnum(const OpPlace& place, const char* field, Enum value) {
    requireRange(place, field, static_cast<int64_t>(value), static_cast<int64_t>(Enum::MIN),
                 static_cast<int64_t>(Enum::MAX));
}

void requireFinite(const OpPlace& place, const char* field, float value) {
    if (!std::isfinite(value)) place.fail(Status::BadParameter, "%s is not a finite number", field);
}

void requireLength(const OpPlace& place, const char* field, int64_t found, int64_t expected) {
    if (found != expected)
        place.fail(Status::BadWeights, "%s has %lld values, %lld are needed", field, asLong(found), asLong(expected));
}

void requireRank(const OpPlace& place, const WireInts* dims) {
    if (vectorSize(dims) > kMaxRank)
        place.fail(Status::BadParameter, "dims has rank %lld, at most %d is possible", asLong(vectorSize(dims)),
                   kMaxRank);
}

bool isMappable(DataType type) {
    switch (type) {
        case DataType::DT_FLOAT:
        case DataType::DT_DOUBLE:
        case DataType::DT_BFLOAT16:
        case DataType::DT_HALF:
        case DataType::DT_INT32:
        case DataType::DT_QINT32:
        case DataType::DT_BOOL:
        case DataType::DT_INT64:
        case DataType::DT_INT8:
        case DataType::DT_QINT8:
        case DataType::DT_UINT8:
        case DataType::DT_QUINT8:
        case DataType::DT_INT16:
        case DataType::DT_QINT16:
        case DataType::DT_UINT16:
        case DataType::DT_QUINT16:
            return true;
        default:
            return false;
    }
}

void verifyInput(const OpPlace& place, const wire::Input& input) {
    requireRank(place, input.dims());
    requireEnum(place, "dformat", input.dformat());
    if (!isMappable(input.dtype()))
        place.fail(Status::BadType, "inputs of data type %d are not possible", static_cast<int>(input.dtype()));
    int64_t count = 1;
    for (uint32_t i = 0; input.dims() && i < input.dims()->size(); ++i) {
        const int64_t extent = input.dims()->Get(i);
        if (extent > 0 && __builtin_mul_overflow(count, extent, &count))
            place.fail(Status::Overflow, "the product of its extents does not fit");
    }
}

void verifyBlob(const OpPlace& place, const wire::Blob& blob) {
    requireEnum(place, "dataType", blob.dataType());
    requireEnum(place, "dataFormat", blob.dataFormat());
    const auto* external = blob.external();
    if (vectorSize(external) > 1 && (external->Get(0) < 0 || external->Get(1) < 0))
        place.fail(Status::BadWeights, "its external range is negative");
    try {
        checkBlob(blob, place.opName());
    } catch (const Error& error) {
        place.refail(error);
    }
}

void verifyBlobs(const OpPlace& place, std::initializer_list<const wire::Blob*> blobs) {
    for (const auto* blob : blobs)
        if (blob) verifyBlob(place, *blob);
}

void verifyScale(const OpPlace& place, const wire::Scale& scale) {
    if (scale.channels() < 0) place.fail(Status::BadParameter, "channels is %d, which is negative", scale.channels());
    if (vectorSize(scale.scaleData()) > 0)
        requireLength(place, "scaleData", vectorSize(scale.scaleData()), scale.channels());
    if (vectorSize(scale.biasData()) > 0)
        requireLength(place, "biasData", vectorSize(scale.biasData()), scale.channels());
}

void verifyLayerNorm(const OpPlace& place, const wire::LayerNorm& norm) {
    requireFinite(place, "epsilon", norm.epsilon());
    if (vectorSize(norm.beta()) > 0) requireLength(place, "gamma", vectorSize(norm.gamma()), vectorSize(norm.beta()));
}

void verifyBatchNorm(const OpPlace& place, const wire::BatchNorm& norm) {
    requireFinite(place, "epsilon", norm.epsilon());
    for (const auto* array : {norm.slopeData(), norm.meanData(), norm.varData(), norm.biasData()})
        if (vectorSize(array) > 0) requireLength(place, "an array", vectorSize(array), norm.channels());
}

void verifyPool(const OpPlace& place, const wire::Pool& pool) {
    requireEnum(place, "type", pool.type());
    requireEnum(place, "padType", pool.padType());
    requireEnum(place, "countType", pool.countType());
    if (pool.isGlobal()) return;
    for (const int32_t value : {pool.kernelX(), pool.kernelY()})
        requireRange(place, "a kernel extent", value, 1, int64_t{1} << 20);
    for (const int32_t value : {pool.strideX(), pool.strideY()})  // 0 means 1
        requireRange(place, "a stride", value, 0, int64_t{1} << 20);
    const int64_t pads = vectorSize(pool.pads());
    if (pads != 0 && pads != 2 && pads < 4)
        place.fail(Status::BadParameter, "pads has %lld entries, 2 or 4 are needed", asLong(pads));
}

void verifyCommand(const OpPlace& place, const wire::LoopParam& loop, const wire::RegionCommand* command, bool init) {
    if (!command) place.fail(Status::BadFormat, "a loop command is null");
    const int64_t operands = vectorSize(command->indexes());
    if (operands < 1) place.fail(Status::BadParameter, "a loop command has no operands");
    for (const int32_t index : *command->indexes())
        if (index < 0 || index >= loop.tensorNumber())
            place.fail(Status::BadIndex, "a loop command uses local tensor %d of %d", index, loop.tensorNumber());
    if (command->iterIndexes())
        for (const int32_t index : *command->iterIndexes())
            if (index < -1 || index >= loop.tensorNumber())
                place.fail(Status::BadIndex, "a loop command iterates over local tensor %d of %d", index,
                           loop.tensorNumber());
    if (init && !command->op()) return;  // zero-fill of operand 0
    if (vectorSize(command->size()) < 3 || vectorSize(command->view()) < operands)
        place.fail(Status::BadParameter, "a loop command needs 3 sizes and a view per operand");
    for (const int32_t size : *command->size())
        if (size < 0) place.fail(Status::BadParameter, "a loop command has the negative size %d", size);
    for (const auto* view : *command->view())
        if (!view || vectorSize(view->stride()) < 3)
            place.fail(Status::BadParameter, "a view of a loop command needs 3 strides");
    if (!init && (vectorSize(command->steps()) < operands || vectorSize(command->iterIndexes()) < operands))
        place.fail(Status::BadParameter, "a loop command needs a step and an iteration index per operand");
    if (!command->op()) place.fail(Status::BadParameter, "a loop command has no operator");
    const auto type = static_cast<OpType>(command->op()->type());
    if (type == OpType::While || type == OpType::If)
        place.fail(Status::BadParameter, "a loop command holds control flow");
    verifyOpTable(place, *command->op());
    verifyOpParameters(place, *command->op());
}

}  // namespace

void verifyOpTable(const OpPlace& place, const wire::Op& op) {
    const TableRule* rule = findTableRule(static_cast<OpType>(op.type()));
    if (!rule || rule->use == TableUse::Optional) return;
    if (op.main_type() != wire::OpParameter::NONE && op.main() && rule->accepts(op.main_type())) return;
    const bool none = op.main_type() == wire::OpParameter::NONE || !op.main();
    place.fail(Status::BadParameter, "its parameter table is %s, it needs %s",
               none ? "missing" : wire::EnumNameOpParameter(op.main_type()),
               wire::EnumNameOpParameter(rule->tables[0]));
}

void verifyOpCounts(const OpPlace& place, const wire::Op& op) {
    const OpArity* arity = opArity(static_cast<OpType>(op.type()));
    if (!arity) return;
    const int64_t inputs = vectorSize(op.inputIndexes());
    const int64_t outputs = vectorSize(op.outputIndexes());
    if (inputs < arity->minInputs || outputs < arity->minOutputs)
        place.fail(Status::BadParameter, "it has %lld inputs and %lld outputs, at least %d and %d are needed",
                   asLong(inputs), asLong(outputs), arity->minInputs, arity->minOutputs);
}

void verifyLoop(const OpPlace& place, const wire::Op& op, const wire::LoopParam& loop) {
    if (loop.tensorNumber() < 0 || loop.loopNumber() < 0)
        place.fail(Status::BadParameter, "it has %d local tensors and %d iterations: a number is negative",
                   loop.tensorNumber(), loop.loopNumber());
    for (const auto* ids : {loop.inputIndexes(), loop.outputIndexes()})
        for (uint32_t i = 0; ids && i < ids->size(); ++i)
            if (ids->Get(i) < 0 || ids->Get(i) >= loop.tensorNumber())
                place.fail(Status::BadIndex, "an input or output is local tensor %d of %d", ids->Get(i),
                           loop.tensorNumber());
    const bool matches = vectorSize(loop.inputIndexes()) == vectorSize(op.inputIndexes()) &&
                         vectorSize(loop.outputIndexes()) == vectorSize(op.outputIndexes()) &&
                         (!loop.extraTensorInfos() ||  // a static model describes the outputs elsewhere
                          vectorSize(loop.extraTensorInfos()) >= vectorSize(op.outputIndexes()));
    if (!matches) place.fail(Status::BadParameter, "its local tensor lists do not match its inputs and outputs");
    for (uint32_t i = 0; loop.extraTensorInfos() && i < loop.extraTensorInfos()->size(); ++i)
        if (const auto* info = loop.extraTensorInfos()->Get(i); !info || !info->blob())
            place.fail(Status::BadParameter, "an output of the loop has no description");
    if (loop.initCommand())
        for (const auto* command : *loop.initCommand()) verifyCommand(place, loop, command, true);
    if (loop.commands())
        for (const auto* command : *loop.commands()) verifyCommand(place, loop, command, false);
}

void verifyOpParameters(const OpPlace& place, const wire::Op& op) {
    if (!op.main()) return;
    using wire::OpParameter;
    // A foreign table on an operator that needs none is never read.
    const TableRule* rule = findTableRule(static_cast<OpType>(op.type()));
    if (rule && !rule->accepts(op.main_type())) return;
    const auto type = static_cast<OpType>(op.type());
    switch (op.main_type()) {
        case OpParameter::Input:
            if (type == OpType::Input) verifyInput(place, *op.main_as_Input());
            break;
        case OpParameter::Blob:
            verifyBlob(place, *op.main_as_Blob());
            break;
        case OpParameter::Convolution2D:
            verifyConvolution(place, op, *op.main_as_Convolution2D());
            break;
        case OpParameter::FusedLinearParam:
            if (const auto* convs = op.main_as_FusedLinearParam()->convs())
                for (const auto* conv : *convs)
                    if (!conv || !conv->common()) place.fail(Status::BadParameter, "a fused product has no table");
            break;
        case OpParameter::Convolution3D: {
            const auto* common = op.main_as_Convolution3D()->common();
            if (!common) place.fail(Status::BadParameter, "its table has no common part");
            requireEnum(place, "padMode", common->padMode());
            for (const auto* list : {common->kernels(), common->strides(), common->dilates()})
                for (uint32_t i = 0; list && i < list->size(); ++i)
                    requireRange(place, "a kernel extent, stride or dilation", list->Get(i), 1, int64_t{1} << 20);
            break;
        }
        case OpParameter::BinaryOp: {
            // With -1 a scatter overwrites.
            const int64_t low = type == OpType::ScatterElements || type == OpType::ScatterNd ? -1 : 0;
            requireRange(place, "opType", static_cast<int64_t>(op.main_as_BinaryOp()->opType()), low,
                         static_cast<int64_t>(wire::BinaryOpOperation::MAX));
            break;
        }
        case OpParameter::UnaryOp:
            requireEnum(place, "opType", op.main_as_UnaryOp()->opType());
            break;
        case OpParameter::ReductionParam:
            requireEnum(place, "operation", op.main_as_ReductionParam()->operation());
            break;
        case OpParameter::CastParam:
            requireEnum(place, "dstT", op.main_as_CastParam()->dstT());
            break;
        case OpParameter::PadParam:
            requireEnum(place, "mode", op.main_as_PadParam()->mode());
            break;
        case OpParameter::Eltwise:
            requireEnum(place, "type", op.main_as_Eltwise()->type());
            break;
        case OpParameter::DepthSpaceParam:
            requireEnum(place, "mode", op.main_as_DepthSpaceParam()->mode());
            requireRange(place, "blockSize", op.main_as_DepthSpaceParam()->blockSize(), 1, 1 << 16);
            break;
        case OpParameter::TensorConvertInfo:
            requireEnum(place, "dest", op.main_as_TensorConvertInfo()->dest());
            break;
        case OpParameter::CropAndResize:
            requireEnum(place, "method", op.main_as_CropAndResize()->method());
            break;
        case OpParameter::GridSample:
            requireEnum(place, "mode", op.main_as_GridSample()->mode());
            requireEnum(place, "paddingMode", op.main_as_GridSample()->paddingMode());
            break;
        case OpParameter::Reshape:
            requireRank(place, op.main_as_Reshape()->dims());
            requireEnum(place, "dimType", op.main_as_Reshape()->dimType());
            break;
        case OpParameter::Permute:
            requireRank(place, op.main_as_Permute()->dims());
            break;
        case OpParameter::Interp:
            // The lowered form of static models has an offset instead, and the converter leaves an arbitrary number
            // here.
            if (!place.isStatic()) requireEnum(place, "ctm", op.main_as_Interp()->ctm());
            break;
        case OpParameter::Pool:
            verifyPool(place, *op.main_as_Pool());
            break;
        case OpParameter::Scale:
            verifyScale(place, *op.main_as_Scale());
            break;
        case OpParameter::LayerNorm:
            verifyLayerNorm(place, *op.main_as_LayerNorm());
            break;
        case OpParameter::BatchNorm:
            verifyBatchNorm(place, *op.main_as_BatchNorm());
            break;
        case OpParameter::GroupNorm:
            requireFinite(place, "epsilon", op.main_as_GroupNorm()->epsilon());
            break;
        case OpParameter::PRelu:
            requireLength(place, "slope", vectorSize(op.main_as_PRelu()->slope()), op.main_as_PRelu()->slopeCount());
            break;
        case OpParameter::SpaceBatch:
            verifyBlobs(place, {op.main_as_SpaceBatch()->blockShape(), op.main_as_SpaceBatch()->padding()});
            break;
        case OpParameter::Proposal: {
            const auto* proposal = op.main_as_Proposal();
            verifyBlobs(place, {proposal->ratios(), proposal->scales(), proposal->anchors()});
            break;
        }
        case OpParameter::LoopParam:
            verifyLoop(place, op, *op.main_as_LoopParam());
            break;
        default:
            break;
    }
}

}  // namespace mnnc

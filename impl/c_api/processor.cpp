// mnn_cpu_info(), mnn_cpu_calibrate().
#include "backend/registry.h"
#include "c_api/guard.h"

using namespace mnnc;

mnn_status mnn_cpu_info(mnn_cpu_properties_t* properties) {
    return guard([&] {
        checkStructSize(required(properties, "properties").struct_size, sizeof(mnn_cpu_properties_t), "properties");
        const ProcessorDescription cpu = describeProcessor();
        std::string isas;
        for (const std::string& isa : cpu.isas) isas += (isas.empty() ? "" : " ") + isa;
        mnn_cpu_properties_t result{};
        copyText(result.isas, sizeof result.isas, isas.c_str());
        copyText(result.features, sizeof result.features, cpu.features.c_str());
        result.logical_cores = cpu.logicalCores;
        result.int8_products = cpu.int8Products;
        result.bf16_products = cpu.bf16Products;
        result.fp16_arithmetic = cpu.fp16Arithmetic;
        result.l1_data_bytes = cpu.level1Bytes;
        result.l2_bytes = cpu.level2Bytes;
        copyText(result.cost_record, sizeof result.cost_record, cpu.costRecord);
        writeStruct(properties, result);
    });
}

mnn_status mnn_cpu_calibrate(const char* cpu_isa, mnn_cancel_t* cancel, char* buffer, size_t capacity, size_t* needed) {
    return guard([&] {
        required(needed, "needed");
        const CancelUse use(cancel);
        const Cancellation cancellation = use.cancellation();
        if (capacity == 0) {
            *needed = kMaxProcessorCosts;  // asking for the size measures nothing
            return;
        }
        required(buffer, "buffer");
        if (capacity < kMaxProcessorCosts) {
            *needed = kMaxProcessorCosts;
            fail(Status::BufferTooSmall, "argument 'capacity' is %zu, but a text may have %zu bytes", capacity,
                 kMaxProcessorCosts);
        }
        const std::string text = calibrateProcessor(cpu_isa ? cpu_isa : "", [&] { cancellation.check(); });
        copyText(buffer, capacity, text.c_str());
        *needed = text.size() + 1;
    });
}

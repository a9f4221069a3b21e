// mnn_cpu_info().
#include "backend/registry.h"
#include "c_api/guard.h"

using namespace mnnc;

mnn_status mnn_cpu_info(mnn_cpu_properties_t* properties) {
    return guard([&] {
        checkStructSize(required(properties, "properties").struct_size, sizeof(mnn_cpu_properties_t),
                        "properties");
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
        writeStruct(properties, result);
    });
}

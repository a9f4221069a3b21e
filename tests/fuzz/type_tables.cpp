// Includes the tables of types from the plain header.
#include "type_tables.h"

#include "mnn_generated.h"

namespace fuzz {

const flatbuffers::TypeTable* netTypes() {
    return mnnc::wire::NetTypeTable();
}

const flatbuffers::TypeTable* dataTypes() {
    return mnnc::wire::DataTypeTypeTable();
}

const flatbuffers::TypeTable* parameterTypes() {
    return mnnc::wire::OpParameterTypeTable();
}

}  // namespace fuzz

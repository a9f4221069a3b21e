# cmake -DSPIRV=FILE -DHEADER=FILE -DNAME=NAME -P spirv_header.cmake: the words of a SPIR-V file as an array in a header.
file(READ "${SPIRV}" bytes HEX)
string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1,\n" words "${bytes}")
file(WRITE "${HEADER}" "const uint32_t ${NAME}[] = {\n${words}};\n")

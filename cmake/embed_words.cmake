# cmake -DFILE=FILE -DHEADER=FILE -DNAME=NAME -P embed_words.cmake: writes a binary file (the schema) to a header as an
# array of its 32-bit words.
file(READ "${FILE}" bytes HEX)
string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1,\n" words "${bytes}")
file(WRITE "${HEADER}" "const uint32_t ${NAME}[] = {\n${words}};\n")

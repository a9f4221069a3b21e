# cmake -DHEADER=FILE -DSOURCE=FILE -P split_objects.cmake: moves the functions of flatc's object API (copy, pack and
# unpack of every table) from the header, where each source that includes it would compile them, to a source of their
# own.
cmake_minimum_required(VERSION 3.25)
file(READ "${HEADER}" text)
# The functions are in one block: after the tables, before the functions of the root table.
string(REGEX MATCH "\ninline ([A-Za-z0-9_]+ \\*)?[A-Za-z0-9_]+::[A-Za-z0-9_]+\\(const " first "${text}")
string(REGEX MATCH "\ninline const [A-Za-z0-9_:]+ \\*Get[A-Za-z0-9_]+\\(const void \\*buf\\)" last "${text}")
if(NOT first OR NOT last)
  message(FATAL_ERROR "${HEADER} has no functions of the object API where flatc is expected to write them")
endif()
string(FIND "${text}" "${first}" begin)
string(FIND "${text}" "${last}" end)
string(SUBSTRING "${text}" 0 ${begin} head)
string(SUBSTRING "${text}" ${end} -1 tail)
math(EXPR length "${end} - ${begin}")
string(SUBSTRING "${text}" ${begin} ${length} functions)
string(REPLACE "\ninline " "\n" functions "${functions}")
get_filename_component(name "${HEADER}" NAME)
file(WRITE "${HEADER}" "${head}\n${tail}")
file(WRITE "${SOURCE}" "#include \"${name}\"\n\nnamespace mnnc::wire {\n${functions}\n}  // namespace mnnc::wire\n")

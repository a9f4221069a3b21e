# cmake -DPAGE=FILE -DSTYLE=FILE -DSCRIPTS=FILE,FILE -DNAME=NAME -DSOURCE=FILE -P embed_page.cmake: a page of HTML with its style
# and scripts inside, as two strings in a C++ source: what stands before the place of its data, and what stands behind it.
cmake_minimum_required(VERSION 3.25)
file(READ "${PAGE}" page)
file(READ "${STYLE}" style)
set(script "")
string(REPLACE "," ";" files "${SCRIPTS}")
foreach(file ${files})
  file(READ "${file}" text)
  string(APPEND script "${text}")
endforeach()
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
string(REPLACE "@DATA@" ")page\",\n    R\"page(" page "${page}")
file(WRITE "${SOURCE}" "#include \"pages.h\"

const tool::Page tool::${NAME} = {
    R\"page(${page})page\"};
")

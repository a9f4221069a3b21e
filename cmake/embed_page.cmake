# cmake -DFOLDER=FOLDER -DPAGE=graph -DSCRIPTS=FILE,FILE -DNAME=NAME -DSOURCE=FILE -P embed_page.cmake: writes a page of
# HTML (page.html of the folder, with PAGE.html as its body and with style.css and the scripts inside) as two strings in
# a C++ source: the text before the place of its data, and the text after it.
cmake_minimum_required(VERSION 3.25)
file(READ "${FOLDER}/page.html" page)
file(READ "${FOLDER}/${PAGE}.html" body)
file(READ "${FOLDER}/style.css" style)
set(script "")
string(REPLACE "," ";" files "${SCRIPTS}")
foreach(file ${files})
  file(READ "${FOLDER}/${file}" text)
  string(APPEND script "${text}")
endforeach()
string(REPLACE "@PAGE@" "${PAGE}" page "${page}")
string(REPLACE "@BODY@" "${body}" page "${page}")
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
string(REPLACE "@DATA@" ")page\",\n    R\"page(" page "${page}")
file(WRITE "${SOURCE}" "#include \"pages.h\"

const tool::Page tool::${NAME} = {
    R\"page(${page})page\"};
")

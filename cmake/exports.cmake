# mnn_c_exports(TARGET MAP LIST): makes a shared library export only its public functions. On ELF these are in the
# version script MAP. On Windows a .def file is made of LIST, the committed list of exports, and the library gets an
# import library for MSVC (NAME.lib) beside that for mingw (libNAME.dll.a).
function(mnn_c_exports target map list)
  if(NOT WIN32)
    target_link_options(${target} PRIVATE "LINKER:--version-script=${map}")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
    if(NOT MNN_C_SANITIZE)
      target_link_options(${target} PRIVATE "LINKER:-z,defs")
    endif()
    return()
  endif()
  file(STRINGS ${list} names REGEX "^mnn_")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  list(JOIN names "\n  " names)
  set(def ${PROJECT_BINARY_DIR}/${target}.def)
  file(CONFIGURE OUTPUT ${def} CONTENT "LIBRARY ${target}.dll\nEXPORTS\n  ${names}\n" @ONLY)
  set_target_properties(${target} PROPERTIES PREFIX "" RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_link_options(${target} PRIVATE ${def})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${def})
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${CMAKE_DLLTOOL} --input-def ${def} --output-lib ${PROJECT_BINARY_DIR}/${target}.lib
    BYPRODUCTS ${PROJECT_BINARY_DIR}/${target}.lib
    VERBATIM)
endfunction()

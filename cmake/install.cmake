# Installation has three components: runtime (the shared library), development (files for compiling and linking), tools
# (the command line tool and its manual page). Every path inside is relative, so the tree can be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(MNN_C_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/mnn_c)
set(MNN_C_INSTALLED mnn_c)
if(TARGET mnn_c_image)
  list(APPEND MNN_C_INSTALLED mnn_c_image)
  install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/include/mnn_c_image.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
endif()
if(TARGET mnn_c_onnx)
  list(APPEND MNN_C_INSTALLED mnn_c_onnx)
  set_target_properties(mnn_c_onnx PROPERTIES INSTALL_RPATH "$ORIGIN")  # libmnn_c lies beside it
  install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/include/mnn_c_onnx.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
endif()
set(MNN_C_HAS_STATIC OFF)
if(TARGET mnn_c_static)
  set(MNN_C_HAS_STATIC ON)
  list(APPEND MNN_C_INSTALLED mnn_c_static)
  if(TARGET mnn_c_image)
    list(APPEND MNN_C_INSTALLED mnn_c_image_static)
  endif()
  if(TARGET mnn_c_onnx)
    list(APPEND MNN_C_INSTALLED mnn_c_onnx_static)
  endif()
endif()
install(TARGETS ${MNN_C_INSTALLED} EXPORT mnn_c-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(WIN32)  # .lib is for the linker of MSVC; other import libraries can be made of .def
  foreach(library ${MNN_C_INSTALLED})
    install(FILES ${PROJECT_BINARY_DIR}/${library}.lib ${PROJECT_BINARY_DIR}/${library}.def
      DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  endforeach()
endif()
install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/include/mnn_c.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
include(${CMAKE_CURRENT_SOURCE_DIR}/cmake/third_party.cmake)
install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE ${MNN_C_NOTICES_FILE}
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

# find_package(mnn_c)
set(MNN_C_PACKAGE_DIR ${CMAKE_CURRENT_BINARY_DIR}/package)
configure_package_config_file(
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/mnn_c-config.cmake.in ${MNN_C_PACKAGE_DIR}/mnn_c-config.cmake
  INSTALL_DESTINATION ${MNN_C_CMAKE_DIR} NO_SET_AND_CHECK_MACRO)
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(MNN_C_COMPATIBILITY SameMinorVersion)
else()
  set(MNN_C_COMPATIBILITY SameMajorVersion)
endif()
write_basic_package_version_file(${MNN_C_PACKAGE_DIR}/mnn_c-config-version.cmake
  COMPATIBILITY ${MNN_C_COMPATIBILITY})
install(EXPORT mnn_c-targets NAMESPACE mnn_c:: DESTINATION ${MNN_C_CMAKE_DIR} COMPONENT development)
install(FILES ${MNN_C_PACKAGE_DIR}/mnn_c-config.cmake ${MNN_C_PACKAGE_DIR}/mnn_c-config-version.cmake
  DESTINATION ${MNN_C_CMAKE_DIR} COMPONENT development)

# pkg-config derives the prefix from the place of mnn_c.pc.
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
  set(MNN_C_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  set(MNN_C_PC_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
  set(MNN_C_PC_INCLUDEDIR ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
  file(RELATIVE_PATH MNN_C_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "^(.*)/$" "\${pcfiledir}/\\1" MNN_C_PC_PREFIX ${MNN_C_PC_PREFIX})
  set(MNN_C_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(MNN_C_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
set(MNN_C_PC_PRIVATE)
if(MNN_C_HAS_STATIC)
  list(TRANSFORM MNN_C_CXX_RUNTIME PREPEND -l OUTPUT_VARIABLE MNN_C_PC_PRIVATE)
  list(APPEND MNN_C_PC_PRIVATE -lm)
  foreach(library ${CMAKE_DL_LIBS})
    list(APPEND MNN_C_PC_PRIVATE -l${library})
  endforeach()
  list(APPEND MNN_C_PC_PRIVATE -pthread)
  list(JOIN MNN_C_PC_PRIVATE " " MNN_C_PC_PRIVATE)
endif()
set(MNN_C_PC_ABOUT_mnn_c "Runs neural networks in the .mnn format behind a C interface")
set(MNN_C_PC_ABOUT_mnn_c_image "Decodes and converts pictures into inputs of neural networks")
set(MNN_C_PC_ABOUT_mnn_c_onnx "Makes .mnn neural networks of ONNX models")
set(MNN_C_PC_REQUIRES_mnn_c_onnx mnn_c)
foreach(MNN_C_PC_NAME mnn_c mnn_c_image mnn_c_onnx)
  if(NOT TARGET ${MNN_C_PC_NAME})
    continue()
  endif()
  set(MNN_C_PC_DESCRIPTION ${MNN_C_PC_ABOUT_${MNN_C_PC_NAME}})
  set(MNN_C_PC_REQUIRES ${MNN_C_PC_REQUIRES_${MNN_C_PC_NAME}})
  set(MNN_C_PC_ARCHIVES ${MNN_C_PC_NAME} ${MNN_C_PC_REQUIRES})
  list(TRANSFORM MNN_C_PC_ARCHIVES REPLACE "(.+)" "\${libdir}/lib\\1.a")
  list(JOIN MNN_C_PC_ARCHIVES " " MNN_C_PC_ARCHIVES)
  foreach(kind "" _static)
    if(kind AND NOT MNN_C_HAS_STATIC)
      continue()
    endif()
    set(file ${MNN_C_PACKAGE_DIR}/${MNN_C_PC_NAME}${kind}.pc)
    configure_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/library${kind}.pc.in ${file} @ONLY)
    install(FILES ${file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
  endforeach()
endforeach()

if(TARGET mnn)
  if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_BINDIR} AND NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
    file(RELATIVE_PATH MNN_C_LIB_FROM_BIN /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
    set_target_properties(mnn PROPERTIES INSTALL_RPATH "$ORIGIN/${MNN_C_LIB_FROM_BIN}")
  endif()
  install(TARGETS mnn RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/docs/mnn.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
  # Completion scripts for shells. Debian's zsh looks into a folder of its own.
  if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
    set(MNN_C_ZSH_FOLDER site-functions)
    if(EXISTS /etc/debian_version)
      set(MNN_C_ZSH_FOLDER vendor-completions)
    endif()
    foreach(pair bash=bash-completion/completions/mnn fish=fish/vendor_completions.d/mnn.fish zsh=zsh/${MNN_C_ZSH_FOLDER}/_mnn)
      string(REGEX MATCH "^(.*)=(.*)/(.*)$" pair ${pair})
      install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tools/mnn/completion.${CMAKE_MATCH_1}
        DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/${CMAKE_MATCH_2} RENAME ${CMAKE_MATCH_3} COMPONENT tools)
    endforeach()
  endif()
endif()

if(PROJECT_IS_TOP_LEVEL AND NOT WIN32)
  # Each Debian package has its own copy, in a folder of the package's name.
  install(FILES ${MNN_C_COPYRIGHT_FILE}
    DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/libmnn-c${PROJECT_VERSION_MAJOR} COMPONENT runtime)
  install(FILES ${MNN_C_COPYRIGHT_FILE} DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/libmnn-c-dev COMPONENT development)
  if(TARGET mnn)
    install(FILES ${MNN_C_COPYRIGHT_FILE} DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/mnn-c-tools COMPONENT tools)
  endif()
endif()
if(PROJECT_IS_TOP_LEVEL)
  include(${CMAKE_CURRENT_SOURCE_DIR}/cmake/packages.cmake)
endif()

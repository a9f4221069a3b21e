# cpack writes a .tar.gz of everything, and one .deb for each component, as Debian splits libraries: programs need only
# libmnn-c0, whose name changes with the SONAME, so that two ABIs can be installed side by side.
# For Debian's multiarch paths configure with -DCMAKE_INSTALL_PREFIX=/usr.
if(WIN32)
  set(CPACK_GENERATOR ZIP)
elseif(MNN_C_MUSL)  # Debian has no packages for it
  set(CPACK_GENERATOR TGZ)
else()
  set(CPACK_GENERATOR TGZ DEB)
endif()
set(CPACK_PACKAGE_NAME mnn_c)
set(CPACK_PACKAGE_VENDOR libmnn_c)
# The maintainer of the packages: whoever builds them puts a name and an address here.
set(MNN_C_MAINTAINER "The libmnn_c authors <libmnn_c@localhost>" CACHE STRING
  "Maintainer of the packages: NAME <ADDRESS>")
set(CPACK_PACKAGE_CONTACT "${MNN_C_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Runs neural networks in the .mnn format behind a C interface")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE)
set(CPACK_COMPONENTS_ALL runtime development tools)
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # dpkg-shlibdeps computes the dependencies
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_CURRENT_BINARY_DIR})  # where dpkg-shlibdeps finds libmnn_c.so.0
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libmnn-c${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS libvulkan1)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "The shared library.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libmnn-c-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libmnn-c${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "The header, the static library, files for pkg-config and CMake.")
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME mnn-c-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "libmnn-c${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "mnn, the command line tool.")
include(CPack)

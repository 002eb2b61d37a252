# `cpack -G DEB` in a build folder makes a Debian package, `cpack -G TGZ` a relocatable archive.
set(CPACK_PACKAGE_NAME nkigrid)
set(CPACK_PACKAGE_VENDOR "nkigrid")
set(CPACK_PACKAGE_CONTACT "nkigrid maintainers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "batch system for experiments in which language models write NKI kernels")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# Libraries by what is linked (dpkg-shlibdeps); what is started or imported is named here. MPI starts ranks.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# OpenBLAS comes in three flavours with one soname; Debian's list of libraries names only the package above them.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "python3 (>= 3.10), python3-numpy, python3-torch")
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_BINARY_DIR}/cpack_options.cmake)
file(WRITE ${CMAKE_BINARY_DIR}/shlibs.local
  "libopenblas 0 libopenblas0 | libopenblas0-pthread | libopenblas0-openmp | libopenblas0-serial\n")
file(WRITE ${CMAKE_BINARY_DIR}/cpack_options.cmake
  "set(SHLIBDEPS_EXECUTABLE \"dpkg-shlibdeps;-L${CMAKE_BINARY_DIR}/shlibs.local\" CACHE INTERNAL \"\")\n")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "openmpi-bin, python3-matplotlib")
# The plugin for a cluster is loaded on demand; a machine without Slurm needs no more of it than its library.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "slurm-client")
include(CPack)

# One room = one folder = one namespace = one static target. Arrows between rooms are PUBLIC/PRIVATE link lines here.
# Why sources are batched and headers precompiled: docs/decisions/build.md.

# The headers that most sources want, compiled once for all rooms.
function(nkigrid_shared_room_headers)
  if(TARGET nkigrid_room_headers)
    return()
  endif()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/room_headers.cpp CONTENT "\n")
  add_library(nkigrid_room_headers STATIC ${CMAKE_BINARY_DIR}/room_headers.cpp)
  target_link_libraries(nkigrid_room_headers PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
  target_precompile_headers(nkigrid_room_headers PRIVATE
    <algorithm> <array> <charconv> <chrono> <cmath> <filesystem> <functional> <map> <memory> <mutex> <numeric>
      <optional>
    <set> <span> <string> <string_view> <thread> <variant> <vector>
    <fmt/format.h> <fmt/ranges.h> <nlohmann/json.hpp>)
endfunction()

# Lets a library or program use the precompiled headers of the rooms, and compiles its sources in batches.
function(nkigrid_quick target)
  nkigrid_unity(${target})
  if(NOT NKIGRID_PCH)
    return()
  endif()
  nkigrid_shared_room_headers()
  target_precompile_headers(${target} REUSE_FROM nkigrid_room_headers)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE)
    # Precompiled headers want the same flags everywhere: a program's objects are compiled as those of a library.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
endfunction()

# Compiles a target's sources a folder, at most sixteen of them, at a time: the same headers and templates are not
# worked through for each again. Names in unnamed namespaces must differ within a folder for it, which is as well for
# whoever reads them.
function(nkigrid_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${NKIGRID_UNITY} UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(folder "${source}" DIRECTORY)
    string(MAKE_C_IDENTIFIER "of_${folder}" group)
    set(count_${group} "${count_${group}}x")
    string(LENGTH "${count_${group}}" count)
    math(EXPR batch "(${count} - 1) / 16")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group}_${batch})
  endforeach()
endfunction()

# nkigrid_room(NAME log SOURCES a.cpp HEADERS a.hpp PUBLIC nkigrid::jobs PRIVATE HDF5)
function(nkigrid_room)
  cmake_parse_arguments(R "" "NAME" "SOURCES;HEADERS;PUBLIC;PRIVATE" ${ARGN})
  set(target nkigrid_${R_NAME})
  if(R_SOURCES)
    add_library(${target} STATIC ${R_SOURCES})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(nkigrid::${R_NAME} ALIAS ${target})
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>)
  target_link_libraries(${target} ${scope} ${R_PUBLIC})
  if(R_SOURCES)
    target_link_libraries(${target} PRIVATE ${R_PRIVATE})
    nkigrid_quick(${target})
  endif()
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS ${CMAKE_SOURCE_DIR} FILES ${R_HEADERS})
endfunction()

# nkigrid_plugin(NAME mpi SOURCES mpi_comm.cpp LINK MPI::MPI_C): a part that the program loads when it is first wanted
# (jobs/base/plugin.hpp), with its own copy of base. Nothing of it is seen from outside but its entry.
function(nkigrid_plugin)
  cmake_parse_arguments(P "" "NAME" "SOURCES;LINK" ${ARGN})
  set(target nkigrid_${P_NAME}_plugin)
  add_library(${target} MODULE ${P_SOURCES})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE nkigrid::base ${P_LINK})
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME nkigrid_${P_NAME}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR} CXX_VISIBILITY_PRESET hidden)
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL)
  add_dependencies(nkigrid_program ${target})
  install(TARGETS ${target} LIBRARY DESTINATION lib/nkigrid)
endfunction()

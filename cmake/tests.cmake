# What tests/**/CMakeLists.txt are made of: one program of googletests a room, helper programs, Python files.

set(NKIGRID_TEST_DEFINITIONS
  NKIGRID_SOURCE_DIR="${CMAKE_SOURCE_DIR}" NKIGRID_BUILD_DIR="${CMAKE_BINARY_DIR}" NKIGRID_PYTHON="${NKIGRID_PYTHON}"
  NKIGRID_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data")

# A test's own code runs once and is compiled at every landing: the quicker build wins. What it tests keeps its -O2.
set(NKIGRID_TEST_OPTIONS $<$<CONFIG:Release>:-O1>)

# The test headers are precompiled once and shared by every test program.
function(nkigrid_shared_test_headers)
  if(TARGET nkigrid_test_headers)
    return()
  endif()
  # An executable, so that it is compiled with the flags of the test programs (position independent as programs are).
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/test_headers.cpp CONTENT "int main() {}\n")
  add_executable(nkigrid_test_headers ${CMAKE_BINARY_DIR}/test_headers.cpp)
  target_link_libraries(nkigrid_test_headers PRIVATE GTest::gmock fmt::fmt)
  target_compile_definitions(nkigrid_test_headers PRIVATE ${NKIGRID_TEST_DEFINITIONS})
  target_compile_options(nkigrid_test_headers PRIVATE ${NKIGRID_TEST_OPTIONS})
  target_precompile_headers(nkigrid_test_headers PRIVATE
    <gmock/gmock.h> <gtest/gtest.h> <fmt/format.h> <fmt/ranges.h>
    <algorithm> <array> <chrono> <cmath> <filesystem> <fstream> <functional> <map> <memory> <mutex> <optional> <set>
    <span> <string> <string_view> <thread> <vector>)
endfunction()

# nkigrid_test(ROOM log SOURCES a_test.cpp LINK nkigrid::log [LABELS slow] [PROPERTIES ...])
# One executable a room.
function(nkigrid_test)
  cmake_parse_arguments(T "" "ROOM" "SOURCES;LINK;LABELS;PROPERTIES" ${ARGN})
  string(REPLACE "/" "_" suffix ${T_ROOM})
  set(target nkigrid_${suffix}_tests)
  add_executable(${target} ${T_SOURCES})
  target_link_libraries(${target} PRIVATE ${T_LINK} GTest::gmock GTest::gmock_main)
  target_compile_definitions(${target} PRIVATE ${NKIGRID_TEST_DEFINITIONS})
  target_compile_options(${target} PRIVATE ${NKIGRID_TEST_OPTIONS})
  nkigrid_unity(${target})
  if(NKIGRID_PCH)
    nkigrid_shared_test_headers()
    target_precompile_headers(${target} REUSE_FROM nkigrid_test_headers)
  endif()
  # PRE_TEST: nothing runs at build time.
  # An empty LABELS value would vanish and shift the properties after it: a room's name is always a label.
  gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 300 LABELS "${suffix};${T_LABELS}" ${T_PROPERTIES})
endfunction()

# nkigrid_test_program(nkigrid_write_turns write_turns.cpp LINK nkigrid::log [WHEN_ASKED])
# A program that tests or benchmarks start; WHEN_ASKED: no part of a whole build.
function(nkigrid_test_program target)
  cmake_parse_arguments(T "WHEN_ASKED" "" "LINK" ${ARGN})
  add_executable(${target} ${T_UNPARSED_ARGUMENTS})
  target_link_libraries(${target} PRIVATE ${T_LINK})
  nkigrid_quick(${target})
  if(T_WHEN_ASKED)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()

# nkigrid_python_test(cli_costs test_costs.py [ARGUMENTS ...] [ENVIRONMENT A=B ...] [PROPERTIES TIMEOUT 300 ...])
# Debian's Python runs the file, which finds the two folders in its environment.
function(nkigrid_python_test name file)
  cmake_parse_arguments(T "" "" "ARGUMENTS;ENVIRONMENT;PROPERTIES" ${ARGN})
  add_test(NAME ${name} COMMAND ${NKIGRID_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/${file} ${T_ARGUMENTS})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 ${T_PROPERTIES})
  set_property(TEST ${name} PROPERTY ENVIRONMENT
    NKIGRID_BUILD_DIR=${CMAKE_BINARY_DIR} NKIGRID_SOURCE_DIR=${CMAKE_SOURCE_DIR} ${T_ENVIRONMENT})
endfunction()

# nkigrid_python_test_as_user(cli_forged_logs test_forged_logs.py): a test of nkigrid_python_test() again, without root.
function(nkigrid_python_test_as_user name file)
  add_test(NAME ${name}.ordinary_user
    COMMAND ${NKIGRID_PYTHON} -B ${CMAKE_SOURCE_DIR}/tests/as_user.py ${NKIGRID_PYTHON} -B
            ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  set_tests_properties(${name}.ordinary_user PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)
  set_property(TEST ${name}.ordinary_user PROPERTY ENVIRONMENT
    NKIGRID_BUILD_DIR=${CMAKE_BINARY_DIR} NKIGRID_SOURCE_DIR=${CMAKE_SOURCE_DIR})
endfunction()

# nkigrid_test_as_user(proc.ordinary_user nkigrid_proc_tests ARGUMENTS --gtest_filter=Sandbox.*): again, without root.
function(nkigrid_test_as_user name program)
  cmake_parse_arguments(T "" "" "ARGUMENTS" ${ARGN})
  add_test(NAME ${name}
    COMMAND ${NKIGRID_PYTHON} -B ${CMAKE_SOURCE_DIR}/tests/as_user.py $<TARGET_FILE:${program}> ${T_ARGUMENTS})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)
endfunction()

# Where the simulator's package of this build tree is found.
set(NKIGRID_PACKAGE_PATH PYTHONPATH=${CMAKE_BINARY_DIR}/nkisim)

# nkigrid_mpirun_test(NAME RANKS PROGRAM): under a real mpirun, whoever runs the tests and on however few cores.
function(nkigrid_mpirun_test name ranks program)
  add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} --oversubscribe -n ${ranks} $<TARGET_FILE:${program}>)
  set_tests_properties(${name} PROPERTIES TIMEOUT 120)
  set_property(TEST ${name} PROPERTY ENVIRONMENT
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1)
endfunction()

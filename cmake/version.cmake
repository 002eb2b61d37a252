# cmake -DSOURCE=... -DVERSION=... -DOUTPUT=version.cpp -P version.cmake
#
# Runs at every build. The file is written only when it changes: a commit costs one small file and a link.
set(commit "")
if(EXISTS ${SOURCE}/.git)  # an unpacked archive must not take the commit of a repository around it
  # Whose files they are does not matter: root builds what a user has cloned.
  execute_process(COMMAND git -c safe.directory=* describe --always --dirty --abbrev=12 --exclude=*
    WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
set(archived ${SOURCE}/cmake/archived_commit.txt)  # into which `git archive` writes the commit
if(NOT commit AND EXISTS ${archived})
  file(STRINGS ${archived} commit LIMIT_COUNT 1 REGEX "^[0-9a-f]+$")
  string(SUBSTRING "${commit}" 0 12 commit)
endif()
if(commit)
  string(PREPEND commit "+")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "jobs/base/version.hpp"

namespace nkigrid {

const char* const kVersion = "@VERSION@@commit@";

}  // namespace nkigrid
]])

#pragma once

#include <string>

#include "jobs/grid/grid.hpp"
#include "runner/log/history.hpp"

namespace nkigrid::agent {

/// One reply as it was read when it came, and as today's reader reads its bytes; in words that are equal when both did
/// the same: "2 calls, kernel 1f3a..", "code 1f3a..", "nothing", "cut", "refused".
struct RereadReply {
  std::string then, now;
  bool has_raw = false;  ///< without the server's bytes `now` is read from what was kept of them
};

/// @param turn with its texts; without its Turn, `then` is `now`
RereadReply reread(const log::LoggedTurn& turn, const jobs::ModelSpec& model, const jobs::ModeSpec& mode);

}  // namespace nkigrid::agent

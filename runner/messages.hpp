#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/base/error.hpp"
#include "jobs/base/outcome.hpp"
#include "runner/run_options.hpp"

/// What ranks say to each other (tags of mpi::Comm). Workers speak to rank 0 only; rank 0 is a worker too.
namespace nkigrid::runner {

enum class Tag : int {
  want = 1,         ///< worker: Want
  done,             ///< worker: Done[]
  trouble,          ///< worker: Trouble
  spent,            ///< worker: Spent[], where the grid has a budget
  permit_wanted,    ///< worker: model name
  permit_returned,  ///< worker: model name
  sealed,           ///< worker: Trouble (empty reason: sealed well)
  work,             ///< rank 0: Assignment[]
  permit_granted,   ///< rank 0: model name
  drain,            ///< rank 0: Drain
  close_cells,      ///< rank 0: Cells
  finish,           ///< rank 0: nothing is left in flight; close and seal
  result,           ///< rank 0: RunResult
  start,            ///< rank 0, first of all: Start
  end_moved,        ///< rank 0: TimeLeft
  alive,            ///< between rank 0 and each other: nothing else to say (heartbeat.hpp)
  sealing           ///< the same, before a while of silence
};

/// What every rank must know before its first episode.
struct Start {
  double seconds_left = -1;  ///< until the batch system ends the allocation; negative: no limit
  std::vector<std::uint32_t>
      resumed;  ///< episodes that earlier attempts left turns of, to be read in one pass over the log
};

/// The end of the allocation has moved.
struct TimeLeft {
  double seconds = 0;
};

/// Begin nothing, stop between turns.
struct Drain {
  bool at_once = false;  ///< also end waits for retries, and give requests in flight their grace only
};

/// What a rank can take. Work may be on its way to it: `received` says how much it knew of when it asked.
struct Want {
  std::uint32_t episodes = 0;  ///< lanes without work
  std::uint32_t ahead = 0;     ///< beyond them, to wait on the rank (PrefetchWindow)
  std::uint64_t received = 0;  ///< episodes received so far, in all
  std::string node;
};

/// One episode for one lane.
struct Assignment {
  std::uint32_t episode = 0;  ///< index into plan.episodes
  std::uint32_t attempt = 1;
  std::uint32_t dead_attempt =
      0;  ///< an earlier attempt without an end, whose `killed` row the new owner writes; 0: none
  std::string dead_node;
  bool resumed = false;  ///< an earlier attempt may have left turns to continue from
};

struct Done {
  std::uint32_t episode = 0;
  bool ended = false;  ///< false: drained or never begun; the episode stays outstanding
  bool begun = true;
  std::uint32_t dead_attempt = 0;  ///< not begun: the assignment's, whose row is still to be written
  Outcome outcome = Outcome::killed;
  bool on_device = false;  ///< log::was_on_device()
  std::string node;
  std::string reason;  ///< of an infrastructure outcome
};

/// What replies of a cell cost, told as they come: a budget is reached within an episode, not behind it.
struct Spent {
  std::uint32_t cell = 0;  ///< index into plan.cells
  std::uint64_t tokens = 0;
  double cost_usd = 0;
};

/// Cells whose budget, or whose model's, is used up: begin no turn of theirs.
struct Cells {
  std::vector<std::uint32_t> cells;  ///< indices into plan.cells
};

/// Something that stops the run or, where `model` or `cell` is named, that model's or cell's episodes.
struct Trouble {
  ExitCode exit_code = ExitCode::done;
  std::string reason;
  std::string model = {};
  std::string cell = {};
  bool at_once = true;  ///< of a stop of the whole run: see Drain
};

std::string encode(const Want&);
std::string encode(const std::vector<Assignment>&);
std::string encode(const std::vector<Done>&);
std::string encode(const std::vector<Spent>&);
std::string encode(const Cells&);
std::string encode(const Trouble&);
std::string encode(const RunResult&);
std::string encode(const Start&);
std::string encode(const TimeLeft&);
std::string encode(const Drain&);
Want decode_want(std::string_view);
std::vector<Assignment> decode_work(std::string_view);
std::vector<Done> decode_done(std::string_view);
std::vector<Spent> decode_spent(std::string_view);
Cells decode_cells(std::string_view);
Trouble decode_trouble(std::string_view);
RunResult decode_result(std::string_view);
Start decode_start(std::string_view);
TimeLeft decode_time_left(std::string_view);
Drain decode_drain(std::string_view);

}  // namespace nkigrid::runner

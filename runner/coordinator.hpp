#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runner/dealer.hpp"
#include "runner/messages.hpp"
#include "runner/mpi/comm.hpp"
#include "runner/permits.hpp"
#include "runner/progress.hpp"

namespace nkigrid::runner {

/// Rank 0's part beside its lanes: deals, grants permits, drains, ends the run.
class Coordinator {
 public:
  Coordinator(mpi::Comm& comm, Dealer dealer, PermitOffice permits, Progress progress, const Clock& clock);

  void handle(const mpi::Incoming& message);
  /// What time brings: budgets, the progress line.
  void tick();
  /// What every rank must know before its first episode; sent once.
  void start(double seconds_left);
  /// Says the same to every rank, this one included.
  void tell_all(Tag tag, const std::string& bytes, std::string_view hint);

  /// True once every rank has sealed its journal.
  bool all_sealed() const noexcept { return sealed_ == comm_.size(); }
  /// What rank 0 knows of why the run stopped.
  ExitCode exit_code() const noexcept { return exit_code_; }
  bool draining() const noexcept { return draining_; }
  const std::string& stopped_by() const noexcept { return dealer_.stopped_by(); }
  const std::string& last_failure() const noexcept { return dealer_.last_failure(); }
  PermitOffice& permits() noexcept { return permits_; }
  std::uint64_t dealt() const noexcept { return dealer_.dealt(); }
  void finish_progress();

 private:
  void take_want(int rank, const Want& want);
  void deal_to_ranks();
  void drain(bool at_once);
  void close_cells();
  void tell_draining();
  void take_trouble(const Trouble& trouble);
  void maybe_finish();
  Progress::State state() const;

  mpi::Comm& comm_;
  Dealer dealer_;
  PermitOffice permits_;
  Progress progress_;
  const Clock& clock_;
  Seconds started_;
  /// What a rank still waits for, and what it was dealt in all.
  struct RankDemand {
    std::string node;
    std::uint32_t wants = 0, ahead = 0;
    std::uint64_t dealt = 0;
  };
  std::map<int, RankDemand> demands_;  ///< by rank
  int sealed_ = 0;
  bool draining_ = false, at_once_ = false, finishing_ = false;
  ExitCode exit_code_ = ExitCode::done;
};

}  // namespace nkigrid::runner

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "jobs/run_directory.hpp"
#include "runner/dealer.hpp"
#include "runner/messages.hpp"
#include "runner/mpi/comm.hpp"
#include "runner/permits.hpp"
#include "runner/progress.hpp"

namespace nkigrid::runner {

/// Rank 0's part beside its lanes: deals, grants permits, drains, ends the run.
class Coordinator {
 public:
  Coordinator(const jobs::Run& run, mpi::Comm& comm, Dealer dealer, Progress progress, const Clock& clock);

  void handle(const mpi::Incoming& message);
  /// What time brings: budgets, the progress line.
  void tick();
  void stop(const std::string& reason, int exit_code);  ///< drain everything

  /// True once every rank has sealed its journal.
  bool all_sealed() const noexcept { return sealed_ == comm_.size(); }
  /// What rank 0 knows of why the run stopped.
  int exit_code() const noexcept { return exit_code_; }
  std::string stopped_by() const { return stopped_by_.empty() ? dealer_.stopped_by() : stopped_by_; }
  const std::string& last_failure() const noexcept { return dealer_.last_failure(); }
  void finish_progress();

 private:
  void deal_to_hungry();
  void send_all(Tag tag, const std::string& bytes, std::string_view hint);
  void drain();
  void take_trouble(const Trouble& trouble);
  void maybe_finish();
  Progress::State state() const;

  mpi::Comm& comm_;
  Dealer dealer_;
  PermitOffice permits_;
  Progress progress_;
  const Clock& clock_;
  Seconds started_;
  std::map<int, Want> wants_;  ///< rank -> what it still waits for
  int sealed_ = 0;
  bool draining_ = false, finishing_ = false;
  int exit_code_ = 0;
  std::string stopped_by_;
};

/// The exit code that wins of two: 70, 130, 3, 4, 2, 1, 0.
int worse_exit_code(int a, int b) noexcept;

}  // namespace nkigrid::runner

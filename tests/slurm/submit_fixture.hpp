#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "slurm/submit.hpp"

namespace nkigrid::slurm {

/// A controller that remembers; every array stays pending until told otherwise.
class FakeClient final : public Client {
 public:
  std::uint32_t submit(const JobRequest& request) override {
    if (submits_before_failure-- == 0) throw Error(ErrorCode::external, "the controller is gone");
    requests.push_back(request);
    const auto id = static_cast<std::uint32_t>(100 + requests.size());
    if (rival)
      records.push_back({.job = 50,
                         .element = std::nullopt,
                         .pending_elements = request.array,
                         .state = "PENDING",
                         .comment = request.comment});
    records.push_back({.job = id,
                       .element = std::nullopt,
                       .pending_elements = request.array,
                       .state = "PENDING",
                       .reason = "waits for free nodes",
                       .nodes = {},
                       .name = request.name,
                       .comment = request.comment,
                       .work_folder = request.work_folder});
    return id;
  }
  std::vector<JobState> jobs(const std::string& prefix) override {
    std::vector<JobState> found;
    std::copy_if(records.begin(), records.end(), std::back_inserter(found),
                 [&](const auto& job) { return job.comment.rfind(prefix, 0) == 0; });
    return found;
  }
  std::string try_out(const JobRequest&) override { return {}; }
  void cancel(std::uint32_t job) override { cancelled.push_back(job); }
  Limits limits() override { return site; }
  long seconds_left(std::uint32_t) override { return -1; }
  std::uint32_t jobs_in_use() override { return in_use; }
  std::vector<Partition> partitions() override { return {{.name = "trn1", .nodes = 4, .is_default = true}}; }
  std::string version() override { return "0"; }

  std::vector<JobRequest> requests;
  std::vector<JobState> records;
  std::vector<std::uint32_t> cancelled;
  int submits_before_failure = -1;  ///< this many succeed, then the controller is gone; -1: never
  bool rival = false;               ///< another submit sent the same job a moment earlier
  std::uint32_t in_use = 0;
  Limits site{.max_array_size = 4, .max_job_count = 100};
};

struct Submit : testing::Test {
  TemporaryDirectory folder;
  jobs::Run run;
  FakeClient client;
  Submit() {
    run.folder = folder.path();
    run.run_id = "feed";
    run.grid.name = "g";
    make_directories(run.log_folder());
  }
  jobs::SubmitReport submit(std::vector<std::uint32_t> shards) {
    return submit_shards(run, {std::move(shards), "/bin/nkigrid", {}}, client);
  }
};

}  // namespace nkigrid::slurm

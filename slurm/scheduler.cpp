#include "slurm/scheduler.hpp"

#include <cstdlib>
#include <optional>
#include <type_traits>
#include <utility>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "slurm/allocation.hpp"
#include "slurm/connect.hpp"
#include "slurm/doctor.hpp"
#include "slurm/dry_run.hpp"
#include "slurm/elements.hpp"
#include "slurm/scripts.hpp"
#include "slurm/slurm.hpp"
#include "slurm/submissions.hpp"
#include "slurm/submit.hpp"

namespace nkigrid::slurm {
namespace {

class SlurmScheduler final : public jobs::Scheduler {
 public:
  void check_submittable(const jobs::Grid& grid, const std::filesystem::path& folder) const override {
    slurm::check_submittable(grid, folder);
  }

  void connect() override {
    check_launcher();
    ask([](Client&) { return 0; });
  }

  jobs::SubmitReport submit(const jobs::Run& run, const jobs::SubmitRequest& request) override {
    return ask([&](Client& client) { return submit_shards(run, request, client); });
  }

  jobs::DryRun dry_run(const jobs::Run& run, const jobs::SubmitRequest& request) override {
    std::string note;
    const auto limits = limits_here(note);
    return {slurm::dry_run(run, request.shards, limits, request.program), std::move(note)};
  }

  std::vector<std::uint32_t> cancel(const jobs::Run& run) override {
    return ask([&](Client& client) { return cancel_run(run, client); });
  }

  bool is_submitted(const jobs::Run& run) const override { return !read_submissions(run).empty(); }

  jobs::RunJobs jobs(const jobs::Run& run) override {
    return ask([&](Client& client) { return run_jobs(run, client); });
  }

  std::optional<std::uint32_t> room(const jobs::Grid& grid) override {
    try {
      if (!partitions_) partitions_ = ask([](Client& client) { return client.partitions(); });
    } catch (const Error&) {
      partitions_.emplace();
    }
    return elements_that_fit(grid.slurm, *partitions_);
  }

  std::vector<jobs::Finding> look(const std::optional<jobs::Grid>& grid) override { return look_at_slurm(grid); }

  std::vector<jobs::Finding> probe(const jobs::Grid& grid, const std::string& program, Seconds patience) override {
    return probe_slurm(grid, program, patience);
  }

 private:
  /// A controller that failed once is probed anew the next time.
  template <class Question>
  std::invoke_result_t<const Question&, Client&> ask(const Question& question) {
    try {
      if (client_ == nullptr) client_ = slurm::connect();
      return question(*client_);
    } catch (const Error&) {
      client_ = nullptr;
      throw;
    }
  }

  /// The site's limits, where there is a site; else Slurm's defaults.
  Limits limits_here(std::string& note) {
    try {
      return ask([](Client& client) { return client.limits(); });
    } catch (const Error& error) {
      const Limits limits;
      note = fmt::format(
          "the limits are Slurm's defaults (MaxArraySize {}, MaxJobCount {}), for the site's are not known here: {}",
          limits.max_array_size, limits.max_job_count, error.what());
      return limits;
    }
  }

  std::unique_ptr<Client> client_;
  std::optional<std::vector<Partition>> partitions_;  ///< as room() found them; empty where there is no controller
};

class SlurmAllocation final : public jobs::Allocation {
 public:
  std::optional<ShardId> element() const override { return array_element(); }
  std::string node() const override {
    const char* name = std::getenv("SLURMD_NODENAME");
    return name == nullptr ? "" : name;
  }
  std::string job() const override {
    const char* id = std::getenv("SLURM_JOB_ID");
    return id == nullptr ? "" : id;
  }
  bool has_elements(const jobs::Run& run) override {
    if (slurm::has_elements(run)) return true;
    submits_ = lock_submits(run);
    if (!slurm::has_elements(run)) return false;
    submits_ = Fd();  // a submit sent some, perhaps after it sent the server that asks
    return true;
  }
  std::optional<double> end(Seconds asked) const override { return allocation_end(asked); }
  jobs::EndQuestion watch_end() const override {
    const auto watch = std::make_shared<AllocationWatch>();
    return {[watch] { watch->ask(); }, [watch] { return watch->answer(); }};
  }
  void leave_out_of_waiting(const std::string& nodes) const override { slurm::leave_out_of_waiting(nodes); }
  std::optional<jobs::Others> others(const jobs::Run& run) const override { return others_of(run); }

 private:
  Fd submits_;  ///< the lock of has_elements()
};

}  // namespace

std::unique_ptr<jobs::Scheduler> make_scheduler() { return std::make_unique<SlurmScheduler>(); }

std::unique_ptr<jobs::Allocation> make_allocation() { return std::make_unique<SlurmAllocation>(); }

}  // namespace nkigrid::slurm

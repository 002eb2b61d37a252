#include "slurm/owner.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <string_view>

#include "slurm/elements.hpp"
#include "slurm/submissions.hpp"
#include "tests/slurm/submit_fixture.hpp"

namespace nkigrid::slurm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A copy of a run that `client` knows jobs of.
struct CopiedRun : Submit {
  TemporaryDirectory other;
  jobs::Run copy;
  CopiedRun() {
    copy = run;
    copy.folder = other.path();
    make_directories(copy.log_folder());
    write_file_atomic(run.folder / "grid.yaml", "name: g\nresolved:\n");
    write_file_atomic(copy.folder / "grid.yaml", "name: g\nresolved:\n");
    submit({0, 1});
    std::filesystem::copy(run.folder / "jobs.json", copy.folder / "jobs.json");
  }
};

TEST_F(CopiedRun, OwnsNoJobOfTheOriginal) {
  EXPECT_THAT(cancel_run(copy, client), IsEmpty());
  EXPECT_THAT(client.cancelled, IsEmpty());
  EXPECT_THAT(run_jobs(copy, client).elements, IsEmpty());
  EXPECT_EQ(run_jobs(copy, client).aggregation, std::nullopt);
  const auto own = submit_shards(copy, {.shards = {0, 1}, .program = "/bin/nkigrid"}, client);
  EXPECT_FALSE(own.already);
  EXPECT_EQ(run_jobs(run, client).elements.size(), 2u);
  EXPECT_THAT(cancel_run(run, client), ElementsAre(101, 102));
}

TEST_F(CopiedRun, OwnsNoneWhereverTheOriginalWasMoved) {
  auto moved = run;
  moved.folder = other.path() / "moved";
  std::filesystem::rename(run.folder, moved.folder);
  EXPECT_THAT(cancel_run(copy, client), IsEmpty()) << "no run stands where the jobs work";
  EXPECT_EQ(run_jobs(moved, client).elements.size(), 2u);
  std::filesystem::copy(moved.folder, run.folder, std::filesystem::copy_options::recursive);
  EXPECT_THAT(cancel_run(run, client), IsEmpty()) << "a copy took the original's place";
  EXPECT_EQ(run_jobs(moved, client).elements.size(), 2u);
  EXPECT_THAT(cancel_run(moved, client), ElementsAre(101, 102));
}

TEST_F(CopiedRun, IsToldApartByThePlaceWhereItsJobsSayNoFolder) {
  for (auto& job : client.records) job.comment = job.comment.substr(0, job.comment.find(", folder"));
  EXPECT_THAT(cancel_run(copy, client), IsEmpty());
  EXPECT_THAT(cancel_run(run, client), ElementsAre(101, 102));
}

TEST_F(CopiedRun, AnotherHostsDeviceNumberIsNoOtherFolder) {
  for (auto& job : client.records) {
    const auto at = job.comment.find(", folder ") + std::string_view(", folder ").size();
    job.comment.replace(at, job.comment.find(':', at) - at, "0");
  }
  EXPECT_EQ(run_jobs(run, client).elements.size(), 2u);
  EXPECT_THAT(cancel_run(copy, client), IsEmpty());
}

TEST_F(CopiedRun, ALinkToARunIsTheRun) {
  auto linked = run;
  linked.folder = other.path() / "link";
  std::filesystem::create_directory_symlink(run.folder, linked.folder);
  EXPECT_THAT(cancel_run(linked, client), ElementsAre(101, 102));
}

}  // namespace
}  // namespace nkigrid::slurm

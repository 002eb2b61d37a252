#include "jobs/run_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"

namespace nkigrid::jobs {
namespace {

using testing::HasSubstr;

Run freeze(const Sandbox& box, const std::string& run = "RUN") {
  const auto grid = load_grid(box.grid(), {});
  return freeze_run(grid, load_benchmark(grid.benchmark), box.path() / run);
}

/// The error's code and text of what `act` throws.
template <class Act>
std::pair<ErrorCode, std::string> error_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {ErrorCode::internal, "nothing was thrown"};
}

TEST(RunDirectory, IsWholeWithoutTheBenchmark) {
  const Sandbox box;
  const auto run = freeze(box);
  for (const auto* gone : {"bench", "prompts", "profiles", "grid.yaml"}) std::filesystem::remove_all(box.path() / gone);
  const auto again = load_run(box.path() / "RUN");
  EXPECT_EQ(again.grid_hash, run.grid_hash);
  EXPECT_EQ(again.run_id, run.run_id);
  EXPECT_THAT(run.run_id, testing::MatchesRegex("[0-9a-f]{16}"));
  EXPECT_EQ(again.grid.seed, 11U);
  EXPECT_EQ(again.grid.tasks, "all-four");
  EXPECT_EQ(again.grid.cells[0].subset, "all-four");
  EXPECT_EQ(again.plan.episodes.size(), 32U);
  EXPECT_EQ(std::get<Synthetic>(again.grid.model("weak").api).profile_file,
            box.path() / "RUN/inputs/profiles/weak.yaml");
  EXPECT_EQ(again.benchmark.place.folder, box.path() / "RUN/inputs/benchmark");
  EXPECT_THAT(again.benchmark.known_kernel("L2/001_add_relu"), HasSubstr("known kernel of L2/001_add_relu"));
  EXPECT_EQ(again.grid.prompt("plain").text, "Write an NKI kernel.\n");
}

TEST(RunDirectory, KeepsTheDocsOfAModeAndSeesWhenTheyChange) {
  const Sandbox box;
  box.write("docs/deep/a.md", "loads\n");
  box.edit("grid.yaml", "turns: 4", "turns: 4, tools: {offer: [compile_kernel, read_docs], docs: docs}");
  const auto run = freeze(box);
  std::filesystem::remove_all(box.path() / "docs");
  const auto again = load_run(box.path() / "RUN");
  EXPECT_EQ(again.grid_hash, run.grid_hash);
  const auto& tools = again.grid.mode("agent").tools;
  EXPECT_EQ(tools.offer, (std::vector{Tool::compile, Tool::read_docs}));
  ASSERT_EQ(tools.pages.size(), 1u);
  EXPECT_EQ(tools.pages[0].name, "deep/a.md");
  EXPECT_EQ(tools.pages[0].text, "loads\n");
  box.write("RUN/inputs/docs/agent/deep/a.md", "stores\n");
  const auto [code, text] = error_of([&] { load_run(box.path() / "RUN"); });
  EXPECT_EQ(code, ErrorCode::corrupt);
  EXPECT_THAT(text, HasSubstr("docs/agent/deep/a.md"));
}

TEST(RunDirectory, KeepsWhatIsSaidOfItsTasks) {
  const Sandbox box;
  box.write("bench/about.json", R"({"L1/001_add": {"title": "t", "roofline_us": 2.5}, "L9/none": {"title": "x"}})");
  freeze(box);
  const auto run = load_run(box.path() / "RUN");
  ASSERT_EQ(run.benchmark.about.size(), 1u);
  EXPECT_EQ(run.benchmark.about.at("L1/001_add").roofline_us, 2.5);
  std::filesystem::remove(box.path() / "RUN/inputs/benchmark/about.json");
  EXPECT_TRUE(load_run(box.path() / "RUN").benchmark.about.empty()) << "as in runs of earlier versions";
}

TEST(RunDirectory, HasASecretOfItsOwnThatOnlyItsOwnerReads) {
  const Sandbox box;
  const auto run = freeze(box), other = freeze(box, "OTHER");
  EXPECT_THAT(run.secret, testing::MatchesRegex("[0-9a-f]{64}"));
  EXPECT_NE(run.secret, other.secret);
  struct stat about = {};
  ASSERT_EQ(::stat((run.folder / "secret").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0600U);
  EXPECT_EQ(load_run(run.folder).secret, run.secret);
  box.edit("grid.yaml", "replicates: 2", "replicates: 3");
  EXPECT_EQ(freeze(box).secret, run.secret) << "a run that grows keeps it";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(run.folder)) {
    if (!entry.is_regular_file() || entry.path().filename() == "secret") continue;
    EXPECT_THAT(read_file(entry.path()), testing::Not(HasSubstr(run.secret))) << entry.path();
  }
}

TEST(RunDirectory, AnotherSecretOrNoneIsRefused) {
  const Sandbox box;
  const auto run = freeze(box);
  const auto file = run.folder / "secret";
  const auto load = [&] { load_run(run.folder); };
  ::chmod(file.c_str(), 0644);
  EXPECT_THAT(error_of(load), testing::Pair(ErrorCode::corrupt, HasSubstr("can be read by others")));
  ::chmod(file.c_str(), 0600);
  std::filesystem::rename(file, run.folder / "kept");
  EXPECT_THAT(error_of(load), testing::Pair(ErrorCode::corrupt, HasSubstr("not the one that the run was frozen with")));
  std::filesystem::create_symlink(run.folder / "kept", file);
  EXPECT_THAT(error_of(load), testing::Pair(ErrorCode::corrupt, HasSubstr("no link")));
  std::filesystem::remove(file);
  std::filesystem::copy_file(freeze(box, "OTHER").folder / "secret", file);
  EXPECT_THAT(error_of(load), testing::Pair(ErrorCode::corrupt, HasSubstr("not the one that the run was frozen with")));
}

TEST(RunDirectory, HoldsKnownKernelsOnlyForSyntheticModels) {
  const Sandbox box;
  box.edit("grid.yaml", "model: [weak, strong]", "model: strong");
  box.edit("grid.yaml", "strong: {api: synthetic, profile: strong}", "strong: {api: openai, endpoint: \"http://h\"}");
  freeze(box);
  EXPECT_FALSE(std::filesystem::exists(box.path() / "RUN/inputs/benchmark/kernels"));
  EXPECT_TRUE(std::filesystem::exists(box.path() / "RUN/inputs/benchmark/tasks/L1/001_add.py"));
}

TEST(RunDirectory, HoldsOnlyThePlannedTasksAndWholeSubsets) {
  const Sandbox box;
  box.edit("grid.yaml", "tasks: all-four", "tasks: ones");
  const auto run = freeze(box);
  EXPECT_EQ(run.benchmark.tasks.size(), 2U);
  EXPECT_EQ(run.benchmark.subsets.size(), 1U);
  EXPECT_EQ(run.benchmark.subsets.count("ones"), 1U);
}

TEST(RunDirectory, FreezingTheSameGridAgainTouchesNothing) {
  const Sandbox box;
  const auto run = freeze(box);
  const auto before = std::filesystem::last_write_time(box.path() / "RUN/grid.yaml");
  const auto text = box.read("RUN/grid.yaml");
  EXPECT_EQ(freeze(box).run_id, run.run_id);
  EXPECT_EQ(box.read("RUN/grid.yaml"), text);
  EXPECT_EQ(std::filesystem::last_write_time(box.path() / "RUN/grid.yaml"), before);
}

TEST(RunDirectory, TheFrozenGridIsAGridFileItself) {
  const Sandbox box;
  freeze(box);
  const auto result = read_grid(box.path() / "RUN/grid.yaml", {});
  EXPECT_TRUE(result.grid) << to_text(result.problems);
}

TEST(RunDirectory, MayGainReplicatesTasksAndCells) {
  const Sandbox box;
  box.edit("grid.yaml", "tasks: all-four", "tasks: ones");
  const auto before = freeze(box);
  box.edit("grid.yaml", "tasks: ones", "tasks: all-four");
  box.edit("grid.yaml", "replicates: 2", "replicates: 3");
  box.edit("grid.yaml", "prompt: careful", "prompt: [careful, plain]");
  const auto after = freeze(box);
  EXPECT_EQ(after.run_id, before.run_id);
  EXPECT_EQ(after.plan.episodes.size(), 8U * 4U * 3U);
  const auto reopened = load_run(box.path() / "RUN");
  for (const auto& old : before.plan.episodes) {
    for (const auto& episode : reopened.plan.episodes) {
      if (reopened.plan.id_of(episode) != before.plan.id_of(old)) continue;
      EXPECT_EQ(episode.shard, old.shard);
    }
  }
}

TEST(RunDirectory, SettingsOutsideTheKeysMayChange) {
  const Sandbox box;
  const auto before = freeze(box);
  box.edit("grid.yaml", "slurm: {shards: 3}", "slurm: {shards: 2}\ninfra_retries: 1");
  const auto after = freeze(box);
  EXPECT_EQ(after.run_id, before.run_id);
  EXPECT_EQ(after.plan.shards, 2U);
  EXPECT_EQ(load_run(box.path() / "RUN").grid.infra_retries, 1U);
}

TEST(RunDirectory, RefusesAnotherSeedOrKeyWithTheDifference) {
  const Sandbox box;
  freeze(box);
  const auto text = box.read("RUN/grid.yaml");
  box.edit("grid.yaml", "seed: 11", "seed: 12");
  box.edit("grid.yaml", "turns: 4", "turns: 5");
  box.edit("prompts/careful.md", "Store", "Write");
  const auto [code, message] = error_of([&] { freeze(box); });
  EXPECT_EQ(code, ErrorCode::config);
  EXPECT_EQ(message, "'" + (box.path() / "RUN").native() +
                         "' holds a run that this grid does not grow from (a run may gain replicates, tasks "
                         "and cells); choose another folder, or undo:"
                         "\n  seed: 11 in the run, 12 in the grid"
                         "\n  prompts.careful: another content"
                         "\n  modes.agent.turns: '4' in the run, '5' in the grid"
                         "\n  16 (cell, task) pairs have another key through this");
  EXPECT_EQ(box.read("RUN/grid.yaml"), text);
}

TEST(RunDirectory, ToldOfAnotherBackendAndApiWithKeyFieldsThatOneSideAloneHas) {
  const Sandbox box;
  box.edit("grid.yaml", "seed: 11", "seed: 11\ndevice: {backend: neuron, compiler_flags: [\"-O1\"]}");
  freeze(box);
  box.edit("grid.yaml", "backend: neuron, compiler_flags: [\"-O1\"]", "backend: sim");
  box.edit("grid.yaml", "strong: {api: synthetic, profile: strong}",
           "strong: {api: openai, endpoint: \"http://h\", model: m}");
  const auto message = error_of([&] { freeze(box); }).second;
  for (const auto* line :
       {"\n  device.backend: 'neuron' in the run, 'sim' in the grid",
        "\n  device.compiler_flags: '[\"-O1\"]' in the run, (none) in the grid",
        "\n  models.strong.api: 'synthetic' in the run, 'openai' in the grid",
        "\n  models.strong.model: (none) in the run, 'm' in the grid", "\n  models.strong.profile: another content"})
    EXPECT_THAT(message, HasSubstr(line));
}

TEST(RunDirectory, TellsWhatAnotherBackendHasAndLacks) {
  const Sandbox box;
  box.edit("grid.yaml", "seed: 11", "device: {backend: neuron, compiler_flags: [-O1]}\nseed: 11");
  freeze(box);
  box.edit("grid.yaml", "device: {backend: neuron, compiler_flags: [-O1]}",
           "device: {backend: command, name: cc 1, compile: [cc], verify: [cc]}");
  EXPECT_THAT(error_of([&] { freeze(box); }).second,
              HasSubstr("\n  device.backend: 'neuron' in the run, 'command' in the grid"
                        "\n  device.compiler_flags: '[\"-O1\"]' in the run, (none) in the grid"
                        "\n  device.name: (none) in the run, 'cc 1' in the grid\n"));
  box.edit("grid.yaml", "device: {backend: command, name: cc 1, compile: [cc], verify: [cc]}", "device: {}");
  EXPECT_THAT(error_of([&] { freeze(box); }).second,
              HasSubstr("\n  device.compiler_flags: '[\"-O1\"]' in the run, (none) in the grid\n"));
}

TEST(RunDirectory, RefusesToShrink) {
  const Sandbox box;
  freeze(box);
  box.edit("grid.yaml", "mode: [ss, agent]", "mode: ss");
  box.edit("grid.yaml", "replicates: 2", "replicates: 1");
  const auto [code, message] = error_of([&] { freeze(box); });
  EXPECT_EQ(code, ErrorCode::config);
  EXPECT_THAT(message, HasSubstr("cells weak.agent.careful, strong.agent.careful are in the run and not in the grid"));
  EXPECT_THAT(message, HasSubstr("cell weak.ss.careful: 2 replicates in the run, 1 in the grid"));
}

TEST(RunDirectory, NoticesEveryChangedInput) {
  for (const auto* name : {"inputs/prompts/careful.md", "inputs/profiles/weak.yaml",
                           "inputs/benchmark/tasks/L1/001_add.py", "inputs/benchmark/kernels/L1/001_add.py"}) {
    const Sandbox box;
    freeze(box);
    box.write(std::filesystem::path("RUN") / name, box.read(std::filesystem::path("RUN") / name) + "#");
    auto [code, message] = error_of([&] { load_run(box.path() / "RUN"); });
    EXPECT_EQ(code, ErrorCode::corrupt) << name;
    EXPECT_THAT(message, HasSubstr(std::string(name) + "' was changed after the freeze"));
    std::filesystem::remove(box.path() / "RUN" / name);
    std::tie(code, message) = error_of([&] { load_run(box.path() / "RUN"); });
    EXPECT_EQ(code, ErrorCode::corrupt) << name;
    EXPECT_THAT(message, HasSubstr(std::string(name) + "' is missing"));
  }
}

TEST(RunDirectory, NoticesAnEditedGridIndexOrPlan) {
  const auto error_after = [](const std::string& file, const std::string& what, const std::string& by) {
    const Sandbox box;
    freeze(box);
    box.edit("RUN/" + file, what, by);
    const auto [code, message] = error_of([&] { load_run(box.path() / "RUN"); });
    EXPECT_EQ(code, ErrorCode::corrupt) << file << ": " << message;
    return message;
  };
  EXPECT_THAT(error_after("grid.yaml", "turns: 4", "turns: 5"), HasSubstr("was changed after the freeze"));
  EXPECT_THAT(error_after("grid.yaml", "seed: 11", "seed: 12"), HasSubstr("its seed differs"));
  EXPECT_THAT(error_after("grid.yaml", "kind: tool-agent", "kind: tool-agents"),
              HasSubstr("the frozen grid was damaged"));
  EXPECT_THAT(error_after("inputs/benchmark/index.json", "\"0.5\"", "\"0.6\""),
              HasSubstr("was changed after the freeze"));
  EXPECT_THAT(error_after("plan/plan.json", "{", "["), HasSubstr("is no plan"));
}

TEST(RunDirectory, ALostPlanIsRefusedAndMadeAnewByTheNextFreeze) {
  for (const bool emptied : {true, false}) {
    const Sandbox box;
    const auto before = freeze(box);
    const auto file = box.path() / "RUN/plan/plan.json";
    const auto plan = read_file(file);
    if (emptied)
      write_file_atomic(file, "");
    else
      std::filesystem::remove(file);
    const auto [code, message] = error_of([&] { load_run(box.path() / "RUN"); });
    EXPECT_EQ(code, ErrorCode::corrupt);
    EXPECT_THAT(message, HasSubstr("`run GRID -o"));
    const auto after = freeze(box);
    EXPECT_EQ(after.run_id, before.run_id);
    EXPECT_EQ(read_file(file), plan);
    EXPECT_NO_THROW(load_run(box.path() / "RUN"));
  }
}

TEST(RunDirectory, AGridThatLostItsEndIsCorruptAndNamed) {
  const Sandbox box;
  freeze(box);
  for (const auto* left : {"", "name: tiny\n"}) {
    box.write("RUN/grid.yaml", left);
    const auto [code, text] = error_of([&] { load_run(box.path() / "RUN"); });
    EXPECT_EQ(code, ErrorCode::corrupt);
    EXPECT_THAT(text, HasSubstr("RUN/grid.yaml"));
  }
}

TEST(RunDirectory, AHalfMadeFreezeIsNoRunAndIsCompletedByTheNext) {
  const Sandbox box;
  freeze(box);
  std::filesystem::remove(box.path() / "RUN/grid.yaml");  // the last file written
  EXPECT_FALSE(is_run(box.path() / "RUN"));
  EXPECT_THAT(error_of([&] { load_run(box.path() / "RUN"); }).second, HasSubstr("is no run"));
  EXPECT_EQ(freeze(box).plan.episodes.size(), 32U);
}

TEST(RunDirectory, AGrowthThatDiesBeforeItsLastFileLeavesTheOldRunWhole) {
  const Sandbox box;
  box.edit("grid.yaml", "tasks: all-four", "tasks: ones");
  const auto before = freeze(box);
  const auto frozen = box.read("RUN/grid.yaml");
  box.edit("grid.yaml", "tasks: ones", "tasks: all-four");
  freeze(box);
  box.write("RUN/grid.yaml", frozen);  // as if the last rename had not happened
  const auto reopened = load_run(box.path() / "RUN");
  EXPECT_EQ(reopened.grid_hash, before.grid_hash);
  EXPECT_EQ(reopened.plan.episodes.size(), before.plan.episodes.size());
  for (std::size_t i = 0; i < before.plan.episodes.size(); ++i)
    EXPECT_EQ(reopened.plan.episodes[i].shard, before.plan.episodes[i].shard);
  EXPECT_EQ(freeze(box).plan.episodes.size(), 32U);
}

TEST(RunDirectory, AGridOfOnesOwnIsNeverOverwritten) {
  const Sandbox box;
  const auto text = box.read("grid.yaml");
  const auto [code, message] = error_of([&] { freeze(box, "."); });
  EXPECT_EQ(code, ErrorCode::config);
  EXPECT_THAT(message, HasSubstr("is no frozen grid and would be overwritten; choose another folder"));
  EXPECT_EQ(box.read("grid.yaml"), text);
}

TEST(RunDirectory, EightProcessesThatFreezeAtOnceAgree) {
  const Sandbox box;
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const auto pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      int status = 1;
      try {
        box.write("id" + std::to_string(i), freeze(box).run_id);
        status = 0;
      } catch (...) {
      }
      ::_exit(status);
    }
    children.push_back(pid);
  }
  for (const auto pid : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  const auto run = load_run(box.path() / "RUN");
  for (int i = 0; i < 8; ++i) EXPECT_EQ(box.read("id" + std::to_string(i)), run.run_id);
}

/// A small file system of its own, where the user may mount one.
class Mount {
 public:
  Mount(const std::filesystem::path& at, const char* options) : at_(at) {
    std::filesystem::create_directories(at);
    mounted_ = ::mount("tmpfs", at.c_str(), "tmpfs", 0, options) == 0;
  }
  ~Mount() {
    if (mounted_) ::umount2(at_.c_str(), MNT_DETACH);
  }
  explicit operator bool() const { return mounted_; }
  bool make_read_only() const { return ::mount(nullptr, at_.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0; }

 private:
  std::filesystem::path at_;
  bool mounted_ = false;
};

TEST(RunDirectory, AFullDiskLeavesNoRun) {
  const Sandbox box;
  const Mount disk(box.path() / "disk", "size=48k");
  if (!disk) GTEST_SKIP() << "mounting needs root";
  const auto [code, message] = error_of([&] { freeze(box, "disk/RUN"); });
  EXPECT_EQ(code, ErrorCode::io);
  EXPECT_THAT(message, HasSubstr("No space left on device"));
  EXPECT_FALSE(is_run(box.path() / "disk/RUN"));
}

TEST(RunDirectory, AReadOnlyRunOpensAndCannotBeFrozenInto) {
  const Sandbox box;
  const Mount disk(box.path() / "disk", "size=4m");
  if (!disk) GTEST_SKIP() << "mounting needs root";
  freeze(box, "disk/RUN");
  ASSERT_TRUE(disk.make_read_only());
  EXPECT_EQ(load_run(box.path() / "disk/RUN").plan.episodes.size(), 32U);
  const auto [code, message] = error_of([&] { freeze(box, "disk/RUN"); });
  EXPECT_EQ(code, ErrorCode::io);
  EXPECT_THAT(message, HasSubstr("Read-only file system"));
}

}  // namespace
}  // namespace nkigrid::jobs

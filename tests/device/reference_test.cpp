#include "runner/device/check/reference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "jobs/base/error.hpp"
#include "tests/device/small_task.hpp"

namespace nkigrid::device {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::vector<float> floats(const TensorFile& file, std::size_t tensor) {
  const auto bytes = file.bytes_of(tensor);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

double mean(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double deviation(const std::vector<float>& values) {
  const double centre = mean(values);
  double sum = 0;
  for (const float value : values) sum += (value - centre) * (value - centre);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

ReferenceCache cache_in(const fs::path& folder, const DrawSource& draws = 7) {
  return {test_paths().libexec / "reference_worker.py", folder / "cache", draws, {}};
}

std::set<std::string> files_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

TEST(ReferenceCache, ExpectedIsWhatTheTaskComputesFromTheGivenValues) {
  const TemporaryDirectory folder;
  auto cache = cache_in(folder.path());
  const auto trials = cache.trials(small_task(), Stream::tool, 5);
  for (std::size_t t = 0; t < 5; ++t) {
    const auto x = floats(trials[t]->arguments, 0), weight = floats(trials[t]->arguments, 1),
               out = floats(trials[t]->expected, 0);
    ASSERT_EQ(x.size(), 128U * 64U);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_FLOAT_EQ(out[i], 2 * x[i] + weight[i]);
    // torch.randn has mean 0 and deviation 1; trials 3 and 4 are 1.5 x + 0.25 and 0.5 x - 0.5. Weights are never moved.
    const double centre = t < 3 ? 0 : t == 3 ? 0.25 : -0.5, width = t < 3 ? 1 : t == 3 ? 1.5 : 0.5;
    EXPECT_NEAR(mean(x), centre, 0.06);
    EXPECT_NEAR(deviation(x), width, 0.06);
    EXPECT_NEAR(deviation(weight), 1, 0.06);
  }
  EXPECT_NE(floats(trials[0]->arguments, 0), floats(trials[1]->arguments, 0));
  EXPECT_NE(floats(trials[0]->arguments, 1), floats(trials[1]->arguments, 1));
}

TEST(ReferenceCache, DrawsDependOnSeedAndStreamOnly) {
  const TemporaryDirectory a, b;
  auto first = cache_in(a.path()), second = cache_in(b.path()), other = cache_in(a.path(), 8);
  const auto one = floats(first.trials(small_task(), Stream::tool, 1)[0]->arguments, 0);
  EXPECT_EQ(floats(second.trials(small_task(), Stream::tool, 2)[0]->arguments, 0), one)
      << "another folder, another count";
  EXPECT_NE(floats(first.trials(small_task(), Stream::final_check, 1)[0]->arguments, 0), one);
  EXPECT_NE(floats(other.trials(small_task(), Stream::tool, 1)[0]->arguments, 0), one);
}

TEST(ReferenceCache, OnlyTheLastTrialOfTheFinalCheckFollowsFromTheSecret) {
  const TemporaryDirectory folder;
  auto open = cache_in(folder.path()), one = cache_in(folder.path(), {7, "a"}), two = cache_in(folder.path(), {7, "b"});
  for (const auto stream : {Stream::final_check, Stream::tool}) {
    const auto public_draws = open.trials(small_task(), stream, 5);
    const auto of_one = one.trials(small_task(), stream, 5), of_two = two.trials(small_task(), stream, 5);
    for (std::size_t t = 0; t < 5; ++t) {
      const auto known = floats(public_draws[t]->arguments, 0);
      const bool secret = stream == Stream::final_check && t == 4;
      EXPECT_EQ(floats(of_one[t]->arguments, 0) == known, !secret) << t;
      EXPECT_EQ(floats(of_two[t]->arguments, 0) == floats(of_one[t]->arguments, 0), !secret) << t;
    }
  }
  auto again = cache_in(folder.path(), {7, "a"});
  EXPECT_EQ(floats(again.trials(small_task(), Stream::final_check, 5)[4]->arguments, 0),
            floats(one.trials(small_task(), Stream::final_check, 5)[4]->arguments, 0));
}

TEST(ReferenceCache, DamagedFilesAreMadeAnew) {
  const TemporaryDirectory folder;
  std::vector<float> good;
  {
    auto cache = cache_in(folder.path());
    good = floats(cache.trials(small_task(), Stream::tool, 1)[0]->expected, 0);
  }
  for (const auto& name : files_in(folder.path() / "cache")) {
    const auto path = folder.path() / "cache" / name;
    if (path.extension() == ".in") {
      fs::resize_file(path, fs::file_size(path) / 2);
    } else {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(1000);
      file.put('!');
    }
  }
  auto cache = cache_in(folder.path());
  EXPECT_EQ(floats(cache.trials(small_task(), Stream::tool, 1)[0]->expected, 0), good);
}

TEST(ReferenceCache, WarmCacheNeedsNoTorch) {
  const TemporaryDirectory folder;
  {
    auto cache = cache_in(folder.path());
    cache.trials(small_task(), Stream::tool, 2);
  }
  const auto before = files_in(folder.path() / "cache");
  auto task = small_task();
  task.source = "raise SystemError('nobody may run this')\n";  // the key is the task's hash: nothing is computed
  auto cache = cache_in(folder.path());
  EXPECT_EQ(cache.trials(task, Stream::tool, 2).size(), 2U);
  EXPECT_EQ(files_in(folder.path() / "cache"), before);
  EXPECT_EQ(before.size(), 4U) << "an .in and an .out file a trial, and nothing left over";
}

TEST(ReferenceCache, TaskThatDoesNotFitItsIndexIsNamed) {
  const TemporaryDirectory folder;
  auto cache = cache_in(folder.path());
  auto task = small_task();
  const auto at = task.index_entry.find("[128,64]");
  task.index_entry.replace(at, 8, "[128,65]");
  task.hash = "another";
  try {
    cache.trials(task, Stream::tool, 1);
    FAIL() << "it did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::external);
    EXPECT_THAT(error.what(), HasSubstr("x has shape [128, 64], the index says [128, 65]"));
  }
  EXPECT_EQ(cache.trials(small_task(), Stream::tool, 1).size(), 1U) << "the worker goes on";
}

void kill_all_children() {
  for (const auto& thread : fs::directory_iterator("/proc/self/task")) {
    std::ifstream children(thread.path() / "children");
    for (pid_t child = 0; children >> child;) ::kill(child, SIGKILL);
  }
}

/// A task that never ends, takes little of a processor and sleeps too little to be ended soon.
jobs::Task dawdler(const std::string& name) {
  auto task = small_task();
  task.hash = task.id = name;
  task.source =
      "import time\nwhile True:\n    time.sleep(0.02)\n    began = time.thread_time()\n"
      "    while time.thread_time() < began + 0.01: pass\n" +
      task.source;
  return task;
}

/// A task's code is a stranger's: the lanes of other tasks must not notice, however many take every worker there is.
TEST(ReferenceCache, NobodyWaitsBehindTasksThatDoNotEnd) {
  const TemporaryDirectory folder;
  auto cache = cache_in(folder.path());
  std::atomic<int> woken = 0;
  std::vector<std::thread> waiting;
  for (const char* name : {"a", "b", "c", "d"}) {
    waiting.emplace_back([&, task = dawdler(name)] {
      EXPECT_THROW(cache.trials(task, Stream::tool, 1), Error);
      ++woken;
    });
  }
  EXPECT_EQ(cache.trials(small_task(), Stream::tool, 1).size(), 1U);
  EXPECT_EQ(cache.trials(small_task(), Stream::tool, 2).size(), 2U);
  EXPECT_EQ(woken, 0);
  for (; woken < 4; ::usleep(1000)) kill_all_children();  // who waited for a place gets a worker of his own
  for (auto& thread : waiting) thread.join();
}

TEST(ReferenceCache, ATaskThatFailedByItsOwnFaultIsAskedOnce) {
  const TemporaryDirectory folder;
  auto cache = cache_in(folder.path());
  auto task = small_task();
  const auto words_of = [&] {
    try {
      cache.trials(task, Stream::tool, 1);
      return std::string();
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  task.source = "raise ValueError('by itself')\n";
  const auto words = words_of();
  EXPECT_THAT(words, HasSubstr("by itself"));
  task.source = small_task().source;  // of the same hash, which nothing has: shows that nobody runs it
  EXPECT_EQ(words_of(), words);
}

TEST(ReferenceCache, FolderThatOthersCanWriteIsRefused) {
  const TemporaryDirectory folder;
  fs::create_directory(folder.path() / "cache");
  ::chmod((folder.path() / "cache").c_str(), 0777);
  EXPECT_THROW(cache_in(folder.path()), Error);
}

TEST(TensorFile, AnyCutAndAnyFlippedByteIsNoticed) {
  const TemporaryDirectory folder;
  auto cache = cache_in(folder.path());
  auto task = small_task();
  const auto path = [&] {
    cache.trials(task, Stream::tool, 1);
    for (const auto& entry : fs::directory_iterator(folder.path() / "cache")) {
      if (entry.path().extension() == ".out") return entry.path();
    }
    return fs::path();
  }();
  const auto whole = read_file(path);
  const auto copy = folder.path() / "copy";
  const auto opens = [&](const std::string& bytes) {
    std::ofstream(copy, std::ios::binary) << bytes;
    return open_tensor_file(copy).has_value();
  };
  EXPECT_TRUE(opens(whole));
  for (std::size_t cut = 0; cut < whole.size(); cut += cut < 300 ? 7 : 4001)
    EXPECT_FALSE(opens(whole.substr(0, cut))) << cut;
  for (std::size_t at = 0; at < whole.size(); at += at < 300 ? 1 : 3001) {
    auto damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    EXPECT_FALSE(opens(damaged)) << at;
  }
}

}  // namespace
}  // namespace nkigrid::device

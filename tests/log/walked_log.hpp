#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "jobs/base/files.hpp"
#include "runner/log/walk.hpp"
#include "tests/log/make_log.hpp"
#include "tests/log/records_equal.hpp"

namespace nkigrid::test {

struct Walked {
  std::vector<log::Record> records;
  std::vector<log::LeftOut> left_out;
};

/// One walk through all of a log.
inline Walked walked(const log::RunLog& log) {
  Walked got;
  log::LogWalk walk(log, [&](const log::LeftOut& file) { got.left_out.push_back(file); });
  for (const auto& stem : log::stems_of(log.folder))
    walk.read(stem, {}, [&](log::Record&& record) { got.records.push_back(std::move(record)); });
  return got;
}

/// The same records, in whatever order.
inline bool same_records(const std::vector<log::Record>& got, const std::vector<log::Record>& want) {
  return got.size() == want.size() && std::is_permutation(got.begin(), got.end(), want.begin(), same);
}

/// Tests of a log's folder, which they fill and walk through.
class LogFolder : public testing::Test {
 protected:
  explicit LogFolder(log::SealKey key = {}) : key_(std::move(key)) {}

  std::filesystem::path write(const std::string& name, const std::vector<log::Record>& records, const log::SealKey& key,
                              const std::string& run = "made-run") {
    auto header = made_header();
    header.run_id = run;
    log::Journal journal(folder_.path(), name, header, key);
    journal.append(records);
    journal.close();
    return journal.path();
  }
  std::filesystem::path at(const std::string& name) const { return folder_.path() / name; }
  log::RunLog log() const {
    auto log = made_log(folder_.path());
    log.key = key_;
    return log;
  }
  Walked read() const { return walked(log()); }

  TemporaryDirectory folder_;

 private:
  log::SealKey key_;
};

}  // namespace nkigrid::test

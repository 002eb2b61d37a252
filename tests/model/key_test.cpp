#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/model/key.hpp"

namespace nkigrid::model {
namespace {

std::string message_of(const jobs::KeySource& source) {
  try {
    read_key(source);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::config);
    return error.what();
  }
  return "(accepted)";
}

TEST(Key, ComesFromTheEnvironment) {
  ::setenv("NKIGRID_TEST_KEY", "sk-env", 1);
  EXPECT_EQ(read_key({jobs::KeySource::Kind::env, "NKIGRID_TEST_KEY", {}}).value, "sk-env");
  ::unsetenv("NKIGRID_TEST_KEY");
  EXPECT_EQ(message_of({jobs::KeySource::Kind::env, "NKIGRID_TEST_KEY", {}}),
            "no key in the environment variable 'NKIGRID_TEST_KEY'; set it");
}

TEST(Key, ComesFromAFileThatIsClosedToOthers) {
  const TemporaryDirectory folder;
  const std::string path = folder.path() / "key";
  std::ofstream(path) << "  sk-file \nsecond line\n";
  ::chmod(path.c_str(), 0640);
  EXPECT_NE(message_of({jobs::KeySource::Kind::file, path, {}})
                .find("is open to others (mode 0640, legal 0600); chmod 600 it"),
            std::string::npos);
  ::chmod(path.c_str(), 0600);
  EXPECT_EQ(read_key({jobs::KeySource::Kind::file, path, {}}).value, "sk-file");
  EXPECT_NE(message_of({jobs::KeySource::Kind::file, path + "x", {}}).find("no key file"), std::string::npos);
}

TEST(Key, AnEmptyOneIsRefusedAndNoneIsNone) {
  const TemporaryDirectory folder;
  const std::string path = folder.path() / "key";
  std::ofstream(path) << "\n";
  ::chmod(path.c_str(), 0600);
  EXPECT_NE(message_of({jobs::KeySource::Kind::file, path, {}}).find("empty"), std::string::npos);
  EXPECT_EQ(read_key({}).value, "");
}

TEST(Key, ComesFromACommandsFirstLine) {
  EXPECT_EQ(read_key({jobs::KeySource::Kind::command, "", {"/bin/sh", "-c", "echo sk-cmd; echo more"}}).value,
            "sk-cmd");
  EXPECT_EQ(read_key({jobs::KeySource::Kind::command, "", {"echo", "sk-path"}}).value, "sk-path");
  EXPECT_NE(message_of({jobs::KeySource::Kind::command, "", {"/bin/false"}}).find("key command '/bin/false' failed"),
            std::string::npos);
}

}  // namespace
}  // namespace nkigrid::model

#include "jobs/base/foreign_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fstream>

#include "jobs/base/error.hpp"

namespace nkigrid {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

std::string words_of(const fs::path& folder, const fs::path& name, std::size_t most = 1 << 20) {
  try {
    return "read: " + read_foreign_file(folder, name, most);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    return error.what();
  }
}

class ForeignFiles : public testing::Test {
 protected:
  TemporaryDirectory scratch_;
  fs::path folder_ = scratch_.path() / "tree";
  void SetUp() override {
    write(scratch_.path() / "secret", "secret");
    write(folder_ / "a" / "b.txt", "text");
  }
};

TEST_F(ForeignFiles, RegularFilesUnderTheFolderAreRead) {
  EXPECT_EQ(read_foreign_file(folder_, "a/b.txt"), "text");
  EXPECT_EQ(read_foreign_file(folder_, "./a/./b.txt"), "text");
  fs::create_directory_symlink(folder_, scratch_.path() / "named");
  EXPECT_EQ(read_foreign_file(scratch_.path() / "named", "a/b.txt"), "text") << "the user names the folder itself";
}

TEST_F(ForeignFiles, NoLinkIsFollowed) {
  fs::create_symlink(scratch_.path() / "secret", folder_ / "link");
  fs::create_symlink("a/b.txt", folder_ / "inside");
  fs::create_directory_symlink(scratch_.path(), folder_ / "out");
  for (const char* name : {"link", "inside", "out/secret"})
    EXPECT_THAT(words_of(folder_, name), testing::AllOf(testing::HasSubstr("symbolic link"), testing::HasSubstr(name)));
}

TEST_F(ForeignFiles, NothingOutsideOfTheFolderIsReached) {
  for (const fs::path& name : {fs::path("../secret"), fs::path("a/../../secret"), scratch_.path() / "secret"})
    EXPECT_THAT(words_of(folder_, name), testing::HasSubstr("outside its folder")) << name;
}

TEST_F(ForeignFiles, WhatIsNoRegularFileIsRefusedAtOnce) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{AF_UNIX, {}};
  (folder_ / "socket").native().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_THAT(words_of(folder_, "pipe"), testing::HasSubstr("a pipe, socket or device"));
  EXPECT_THAT(words_of(folder_, "a"), testing::HasSubstr("a folder"));
  EXPECT_THAT(words_of(folder_, "socket"), testing::HasSubstr("socket"));
  EXPECT_THAT(words_of("/dev", "zero"), testing::HasSubstr("device"));
  ::close(socket);
}

TEST_F(ForeignFiles, SizeIsBounded) {
  write(folder_ / "large", std::string(300'000, 'x'));
  EXPECT_THAT(words_of(folder_, "large", 100'000), testing::HasSubstr("larger than"));
  EXPECT_EQ(read_foreign_file(folder_, "large", 300'000).size(), 300'000U);
}

TEST_F(ForeignFiles, AbsenceIsToldFromALink) {
  EXPECT_FALSE(has_foreign_file(folder_, "none"));
  fs::create_symlink("/nowhere", folder_ / "dangling");
  EXPECT_TRUE(has_foreign_file(folder_, "dangling"));
  EXPECT_THAT(words_of(folder_, "none"), testing::HasSubstr("No such file"));
}

}  // namespace
}  // namespace nkigrid

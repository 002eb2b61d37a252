#include "jobs/base/files.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>

#include <fmt/core.h>

#include "jobs/base/error.hpp"

namespace nkigrid {
namespace {

namespace fs = std::filesystem;

std::string io_error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    return error.what();
  }
  return "nothing was thrown";
}

std::size_t entries_of(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

TEST(Files, ReadBackWhatWasWrittenAtomically) {
  const TemporaryDirectory folder;
  std::string bytes(200'000, 'x');
  bytes[77] = '\0';
  write_file_atomic(folder.path() / "a", bytes);
  write_file_atomic(folder.path() / "empty", "");
  EXPECT_EQ(read_file(folder.path() / "a"), bytes);
  EXPECT_EQ(read_file(folder.path() / "empty"), "");
  EXPECT_EQ(entries_of(folder.path()), 2U);
}

TEST(Files, AtomicWritesMakeAFileAsReadableAsItsFolder) {
  const TemporaryDirectory folder;
  for (const auto& [of_folder, of_file] : {std::pair{0755U, 0644U}, {0750U, 0640U}, {0700U, 0600U}}) {
    ASSERT_EQ(::chmod(folder.path().c_str(), of_folder), 0);
    write_file_atomic(folder.path() / "a", "x");
    struct stat status {};
    ASSERT_EQ(::stat((folder.path() / "a").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, of_file & ~file_mask());
  }
}

TEST(Files, AReaderOfTheOldFileKeepsItsBytes) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "a";
  write_file_atomic(path, "old");
  const Fd reader(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  write_file_atomic(path, "new!");
  char bytes[8] = {};
  EXPECT_EQ(::read(reader.get(), bytes, sizeof bytes), 3);
  EXPECT_STREQ(bytes, "old");
  EXPECT_EQ(read_file(path), "new!");
}

TEST(Files, ErrorsNameCallAndPath) {
  EXPECT_EQ(io_error_of([] { read_file("/no/such"); }), "cannot open '/no/such': No such file or directory");
  EXPECT_EQ(io_error_of([] { read_file("/"); }), "cannot read '/': Is a directory");
  EXPECT_EQ(io_error_of([] { write_file_atomic("/no/such", "x"); }),
            "cannot write '/no/such': No such file or directory");
  EXPECT_EQ(io_error_of([] { make_directories("/proc/version/x"); }),
            "cannot create folder '/proc/version/x': Not a directory");
  EXPECT_EQ(io_error_of([] { fsync_directory("/no/such"); }),
            "cannot open folder '/no/such': No such file or directory");
}

TEST(Files, NothingIsReadButARegularFile) {
  const TemporaryDirectory folder;
  const auto pipe = folder.path() / "pipe", socket = folder.path() / "socket";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_EQ(::mknod(socket.c_str(), S_IFSOCK | 0600, 0), 0);
  fs::create_symlink("/dev/zero", folder.path() / "link");
  for (const auto& path : {pipe, socket, folder.path() / "link", fs::path("/dev/null")}) {
    EXPECT_EQ(
        io_error_of([&] { read_file(path); }),
        fmt::format("'{}' is a pipe, socket or device (what is read is a regular file); put what it says into one",
                    path.native()));
  }
}

TEST(Files, AFolderInTheWayLeavesNoLitter) {
  const TemporaryDirectory folder;
  make_directories(folder.path() / "a" / "b");
  EXPECT_THAT(io_error_of([&] { write_file_atomic(folder.path() / "a", "x"); }),
              testing::StartsWith("cannot replace '"));
  EXPECT_EQ(entries_of(folder.path()), 1U);
}

TEST(Files, AFullDiskKeepsTheOldFileAndLeavesNoLitter) {
  const TemporaryDirectory folder;
  const auto disk = folder.path() / "disk";
  make_directories(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=64k") != 0) GTEST_SKIP() << "mounting needs root";
  write_file_atomic(disk / "a", "old");
  EXPECT_EQ(io_error_of([&] { write_file_atomic(disk / "a", std::string(1 << 20, 'x')); }),
            "cannot write '" + (disk / "a").native() + "': No space left on device");
  EXPECT_EQ(read_file(disk / "a"), "old");
  EXPECT_EQ(entries_of(disk), 1U);
  EXPECT_EQ(::umount2(disk.c_str(), MNT_DETACH), 0);
}

TEST(Files, ATemporaryDirectoryGoesWithAllItHolds) {
  fs::path path;
  {
    const TemporaryDirectory folder("nkigrid-test");
    path = folder.path();
    make_directories(path / "x" / "y");
    write_file_atomic(path / "x" / "y" / "z", "1");
    EXPECT_THAT(path.filename().native(), testing::StartsWith("nkigrid-test."));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(Files, AnFdMovesAndClosesOnce) {
  Fd a(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = a.get();
  Fd b = std::move(a);
  EXPECT_EQ(b.get(), number);
  EXPECT_FALSE(a);  // NOLINT(bugprone-use-after-move): a moved-from Fd is empty
  b.close();
  EXPECT_FALSE(b);
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

}  // namespace
}  // namespace nkigrid

#include "core/storage.h"

#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/run/child_process.h"

using namespace foxhunt;
using test::error_of;
using test::files_in;
using test::text_of;

TEST_CASE("storage: a file is created and replaced, and nothing else stays in its folder") {
  test::TemporaryFolder folder;
  write_file_atomically(folder / "a.json", "first, and longer");
  REQUIRE(text_of(folder / "a.json") == "first, and longer");
  write_file_atomically(folder / "a.json", "second");
  REQUIRE(text_of(folder / "a.json") == "second");
  write_file_atomically(folder / "empty", "");
  REQUIRE(std::filesystem::file_size(folder / "empty") == 0);
  REQUIRE(files_in(folder.path()) == 2);
}

TEST_CASE("storage: parts are written one after the other") {
  test::TemporaryFolder folder;
  const std::string one = "one", none, two(100'000, '2');
  const std::vector<std::span<const std::byte>> parts = {std::as_bytes(std::span(one)), std::as_bytes(std::span(none)),
                                                         std::as_bytes(std::span(two))};
  write_file_atomically(folder / "parts", parts);
  REQUIRE(text_of(folder / "parts") == one + two);
}

TEST_CASE("storage: what a killed writer left is overwritten") {
  test::TemporaryFolder folder;
  std::ofstream(folder / "a.tmp") << std::string(1000, 'x');
  write_file_atomically(folder / "a", "whole");
  REQUIRE(text_of(folder / "a") == "whole");
  REQUIRE(files_in(folder.path()) == 1);
}

TEST_CASE("storage: a full disk leaves the old file whole and no temporary file, and says the sizes") {
  test::TemporaryFolder folder, scratch;
  write_file_atomically(folder / "checkpoint", "old");
  const std::string big(50'000, 'n');
  const std::string error = test::error_with_file_limit(scratch / "result", 20'000,
                                                        [&] { write_file_atomically(folder / "checkpoint", big); });
  INFO(error);
  REQUIRE(error.starts_with("7 cannot write"));
  REQUIRE(error.find((folder / "checkpoint").string() + ":") != std::string::npos);
  REQUIRE(error.find("File too large") != std::string::npos);
  REQUIRE(error.find("50000 bytes wanted") != std::string::npos);
  REQUIRE(error.find(" free)") != std::string::npos);
  REQUIRE(text_of(folder / "checkpoint") == "old");
  REQUIRE(files_in(folder.path()) == 1);
}

TEST_CASE("storage: a writer killed at any moment leaves the old file or the new one") {
  test::TemporaryFolder folder;
  const std::string contents[2] = {std::string(300'000, 'a'), std::string(300'000, 'b')};
  write_file_atomically(folder / "file", contents[0]);
  for (int round = 0; round < 30; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 1; error_of([&] { write_file_atomically(folder / "file", contents[i % 2]); }).empty(); ++i) {}
      _exit(1);
    }
    usleep(static_cast<useconds_t>(200 + 331 * round));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(WIFSIGNALED(status));
    const std::string found = text_of(folder / "file");
    REQUIRE((found == contents[0] || found == contents[1]));
  }
  write_file_atomically(folder / "file", "after");
  REQUIRE(files_in(folder.path()) == 1);
}

TEST_CASE("storage: two writers of one file take turns") {
  test::TemporaryFolder folder;
  const std::string contents[2] = {std::string(100'000, 'a'), std::string(70'000, 'b')};
  pid_t children[2];
  for (int i = 0; i < 2; ++i) {
    children[i] = fork();
    if (children[i] == 0) {
      for (int round = 0; round < 50; ++round) {
        if (!error_of([&] { write_file_atomically(folder / "file", contents[i]); }).empty()) _exit(1);
        const std::string found = text_of(folder / "file");
        if (found != contents[0] && found != contents[1]) _exit(2);
      }
      _exit(0);
    }
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    REQUIRE(status == 0);
  }
  REQUIRE(files_in(folder.path()) == 1);
}

TEST_CASE("storage: a missing folder, a file for a folder and a device are refused") {
  test::TemporaryFolder folder;
  const std::string missing = error_of([&] { write_file_atomically(folder / "no/such/file", "x"); });
  REQUIRE(missing.starts_with("7 cannot create"));
  REQUIRE(missing.find("No such file or directory") != std::string::npos);

  write_file_atomically(folder / "plain", "x");
  REQUIRE(error_of([&] { write_file_atomically(folder / "plain/file", "x"); }).find("Not a directory") !=
          std::string::npos);

  std::filesystem::create_directory(folder / "folder");
  REQUIRE(error_of([&] { write_file_atomically(folder / "folder", "x"); }).find("not a plain file") !=
          std::string::npos);
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  REQUIRE(error_of([&] { write_file_atomically(folder / "pipe", "x"); }).find("not a plain file") != std::string::npos);
  REQUIRE(files_in(folder.path()) == 3);
}

TEST_CASE("storage: a folder that may not be written to is refused and named") {
  test::TemporaryFolder folder;
  if (geteuid() == 0) {
    // Root may write anywhere but where the kernel itself says no.
    const std::string error = error_of([] { write_file_atomically("/proc/foxhunt", "x"); });
    REQUIRE(error.starts_with("7 cannot create /proc/foxhunt"));
    return;
  }
  write_file_atomically(folder / "file", "old");
  chmod(folder.path().c_str(), 0500);
  const std::string error = error_of([&] { write_file_atomically(folder / "file", "new"); });
  chmod(folder.path().c_str(), 0700);
  REQUIRE(error.find("Permission denied") != std::string::npos);
  REQUIRE(text_of(folder / "file") == "old");
}

TEST_CASE("storage: each error number comes with its text and what to do") {
  const auto text = [](int number) { return std::string(storage_error("write", "/tmp/x", number, 10).what()); };
  REQUIRE(text(ENOSPC).find("No space left on device (10 bytes wanted, ") != std::string::npos);
  REQUIRE(text(ENOSPC).find("; free some space") != std::string::npos);
  REQUIRE(text(EROFS).find("Read-only file system") != std::string::npos);
  REQUIRE(text(EROFS).find("may write to") != std::string::npos);
  REQUIRE(storage_error("write", "x", EIO).code() == ExitCode::storage);
}

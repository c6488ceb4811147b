#include "core/market/source_sum.h"

#include <fstream>

#include "core/error.h"
#include "tests/catch.h"

using namespace foxhunt;
using market::sum_of_source;

namespace {

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

}  // namespace

TEST_CASE("source_sum: it tells bytes and names, not dates or places") {
  const test::TemporaryFolder folder, other;
  write(folder / "a.csv", "12345");
  const market::SourceSum sum = sum_of_source(folder / "a.csv");
  REQUIRE(sum.files == 1);
  REQUIRE(sum.bytes == 5);
  std::filesystem::last_write_time(folder / "a.csv", std::filesystem::file_time_type{});
  REQUIRE(sum_of_source(folder / "a.csv") == sum);
  REQUIRE(sum_of_source(folder.path()) == sum);
  write(other / "a.csv", "12345");
  REQUIRE(sum_of_source(other / "a.csv") == sum);
  write(folder / "a.csv", "12346");
  REQUIRE_FALSE(sum_of_source(folder / "a.csv") == sum);
  std::filesystem::rename(other / "a.csv", other / "b.csv");
  REQUIRE_FALSE(sum_of_source(other.path()) == sum);
}

TEST_CASE("source_sum: every file of a folder counts, and a byte that moves from one to the next does too") {
  const test::TemporaryFolder folder;
  write(folder / "a", "12");
  write(folder / "b", "3");
  const market::SourceSum sum = sum_of_source(folder.path());
  REQUIRE(sum.files == 2);
  REQUIRE(sum.bytes == 3);
  write(folder / "a", "1");
  write(folder / "b", "23");
  REQUIRE_FALSE(sum_of_source(folder.path()) == sum);
}

TEST_CASE("source_sum: a file that is not there is an error of the data") {
  try {
    sum_of_source("no/such/file.csv");
    FAIL("accepted");
  } catch (const Error& error) {
    REQUIRE(error.code() == ExitCode::data);
    REQUIRE(std::string(error.what()).find("no/such/file.csv") == 0);
  }
}

#include <cstring>
#include <vector>

#include "core/run/safetensors.h"
#include "core/run/safetensors_header.h"
#include "tests/catch.h"
#include "tests/run/child_process.h"

using namespace foxhunt;
using namespace foxhunt::run;

namespace {

void write(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// The error of loading `bytes` as a file; "" when they load.
std::string load_error(const test::TemporaryFolder& folder, const std::string& bytes) {
  write(folder / "damaged", bytes);
  return test::error_of([&] { SafetensorsFile::load(folder / "damaged"); });
}

std::string with_length(const std::string& header, const std::string& data = "") {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}

std::string checkpoint(const test::TemporaryFolder& folder) {
  std::vector<float> weights(64);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = 0.25F * static_cast<float>(i);
  const std::vector<std::uint8_t> flags = {1, 0, 1};
  const std::vector<TensorView> tensors = {tensor_view<float>("weights", {8, 8}, weights),
                                           tensor_view<std::uint8_t>("flags", {3}, flags)};
  save_safetensors(folder / "whole", tensors, {{"epoch", "3"}});
  return test::text_of(folder / "whole");
}

std::uint64_t header_end(const std::string& file) {
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), 8);
  return 8 + length;
}

/// Why a header is refused; "" when it is not.
std::string header_error(const std::string& text, std::uint64_t data_size) {
  try {
    parse_safetensors_header(text, data_size);
  } catch (const std::invalid_argument& reason) {
    return reason.what();
  }
  return "";
}

}  // namespace

TEST_CASE("safetensors: cut off anywhere, a file is refused with its name and the reason") {
  test::TemporaryFolder folder;
  const std::string whole = checkpoint(folder);
  REQUIRE(load_error(folder, whole).empty());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    INFO("cut to " << size << " of " << whole.size());
    const std::string error = load_error(folder, whole.substr(0, size));
    REQUIRE(error.starts_with("7 cannot load " + (folder / "damaged").string() + ": "));
  }
  REQUIRE(load_error(folder, whole + '\0').find("bytes of data") != std::string::npos);
}

TEST_CASE("safetensors: one flipped bit anywhere is found") {
  test::TemporaryFolder folder;
  const std::string whole = checkpoint(folder);
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    INFO("bit " << bit % 8 << " of byte " << bit / 8 << "; data from byte " << header_end(whole));
    const std::string error = load_error(folder, damaged);
    REQUIRE(error.starts_with("7 cannot load "));
    if (bit / 8 >= header_end(whole)) REQUIRE(error.find("its checksum is ") != std::string::npos);
  }
}

TEST_CASE("safetensors: a header length is not believed before it is checked") {
  test::TemporaryFolder folder;
  const std::string whole = checkpoint(folder);
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{whole.size() - 7}, UINT64_MAX,
                                     UINT64_MAX - 7, std::uint64_t{1} << 63, std::uint64_t{100'000'001}}) {
    std::string damaged = whole;
    std::memcpy(damaged.data(), &length, 8);
    INFO(length);
    REQUIRE(load_error(folder, damaged).starts_with("7 cannot load "));
  }
  // More than 100 MB of header, all of it there (a sparse file).
  const std::uint64_t length = 100'000'001;
  write(folder / "sparse", std::string(reinterpret_cast<const char*>(&length), 8));
  std::filesystem::resize_file(folder / "sparse", 200'000'000);
  REQUIRE(test::error_of([&] { SafetensorsFile::load(folder / "sparse"); }).find("100000000 are allowed") !=
          std::string::npos);
}

TEST_CASE("safetensors: offsets and shapes that do not hold together are refused") {
  const auto tensor = [](const std::string& name, const std::string& dtype, const std::string& shape,
                         const std::string& offsets) {
    return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
  };
  const std::string a = tensor("a", "F32", "[2]", "[0,8]");
  REQUIRE(header_error("{" + a + "}", 8).empty());
  REQUIRE(header_error("{}", 0).empty());

  const std::pair<std::string, std::string> cases[] = {
      {tensor("a", "F32", "[2]", "[0,4]"), "has 4 bytes of data"},
      {tensor("a", "F64", "[2]", "[0,8]"), "needs 16"},
      {tensor("a", "F16", "[4]", "[0,8]"), "dtype 'F16'"},
      {tensor("a", "F32", "[2]", "[8,0]"), "not a begin and an end"},
      {tensor("a", "F32", "[2]", "[0,8,8]"), "not a begin and an end"},
      {tensor("a", "F32", "[2]", "[-8,0]"), "not a list of whole numbers"},
      {tensor("a", "F32", "[2]", "[0.0,8.0]"), "not a list of whole numbers"},
      {tensor("a", "F32", "[-2]", "[0,8]"), "not a list of whole numbers"},
      {tensor("a", "F32", "[18446744073709551615]", "[0,8]"), "not a list of whole numbers"},
      {tensor("a", "F32", "2", "[0,8]"), "not a list of whole numbers"},
      {tensor("a", "F32", "[4611686018427387906]", "[0,8]"), "impossible"},
      {tensor("a", "F32", "[4294967296,4294967296,2]", "[0,8]"), "impossible"},
      {a + "," + a, "'a' comes twice"},
      {a + "," + tensor("b", "U8", "[4]", "[4,8]"), "expected 8"},
      {a + "," + tensor("b", "U8", "[4]", "[12,16]"), "expected 8"},
      {tensor("a", "F32", "[2]", "[8,16]"), "expected 0"},
      {tensor("a", "F32", "[4]", "[0,16]"), "its tensors need 16 bytes of data and the file has 8"},
      {tensor("a", "F32", "[1]", "[0,4]"), "its tensors need 4 bytes"},
      {"\"a\":3", "not described by"},
      {"\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"shape\":[2],\"data_offsets\":[0,8]}", "'shape' comes twice"},
      {"\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"more\":1}", "not described by"},
      {"\"a\":{\"dtype\":4,\"shape\":[2],\"data_offsets\":[0,8]}", "not described by"},
      {"\"__metadata__\":[]," + a, "not a map of strings"},
      {"\"__metadata__\":{\"k\":1}," + a, "is not a string"},
      {a + ",", "not valid JSON"},
  };
  for (const auto& [body, reason] : cases) {
    INFO(body);
    REQUIRE(header_error("{" + body + "}", 8).find(reason) != std::string::npos);
  }
  REQUIRE(header_error("", 0).find("does not begin") != std::string::npos);
  REQUIRE(header_error("[]", 0).find("does not begin") != std::string::npos);
  REQUIRE(header_error("{\"a\":" + std::string(1'000'000, '['), 0).find("too deep") != std::string::npos);
  REQUIRE(header_error("{\"a\":{\"b\":{\"c\":{}}}}", 0).find("too deep") != std::string::npos);
}

TEST_CASE("safetensors: what a file says of itself is quoted on one short line") {
  const test::TemporaryFolder folder;
  for (const std::string& name : {std::string("a\\nb\\u001b[31m"), std::string(100'000, 'n')}) {
    const std::string message = load_error(folder, with_length("{\"" + name + "\":1}"));
    REQUIRE(message.find("tensor '") != std::string::npos);
    REQUIRE(message.size() < 1000);
    REQUIRE(message == printable(message));
  }
}

TEST_CASE("safetensors: a header of very many names is read in time") {
  std::string header = "{";
  for (int i = 0; i < 200'000; ++i)
    header += (i ? ",\"" : "\"") + std::to_string(i) + "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}";
  REQUIRE(parse_safetensors_header(header + "}", 0).tensors.size() == 200'000);
}

TEST_CASE("safetensors: folders, pipes, empty and missing files are refused") {
  test::TemporaryFolder folder;
  REQUIRE(load_error(folder, "").find("0 bytes, too few") != std::string::npos);
  REQUIRE(load_error(folder, with_length("{}")).empty());
  REQUIRE(load_error(folder, with_length("nul")).find("damaged or not a safetensors file") != std::string::npos);
  REQUIRE(test::error_of([&] { SafetensorsFile::load(folder.path()); }).find("not a plain file") != std::string::npos);
  REQUIRE(test::error_of([] { SafetensorsFile::load("/dev/zero"); }).find("not a plain file") != std::string::npos);
  REQUIRE(test::error_of([&] { SafetensorsFile::load(folder / "none"); }).starts_with("7 cannot open "));
}

#include "core/run/safetensors.h"

#include <cstring>
#include <limits>
#include <random>

#include "core/checksum.h"
#include "tests/catch.h"
#include "tests/run/child_process.h"

using namespace foxhunt;
using namespace foxhunt::run;
using test::error_of;

namespace {

std::uint64_t hash(const std::string& text) { return xxh64(std::as_bytes(std::span(text))); }

std::string save_error(const std::vector<TensorView>& tensors,
                       const std::map<std::string, std::string>& metadata = {}) {
  test::TemporaryFolder folder;
  const std::string error = error_of([&] { save_safetensors(folder / "x.safetensors", tensors, metadata); });
  REQUIRE(std::filesystem::is_empty(folder.path()) == !error.empty());
  return error;
}

}  // namespace

TEST_CASE("safetensors: every dtype, shape and bit pattern comes back") {
  test::TemporaryFolder folder;
  std::mt19937_64 random(test::seed());
  const std::vector<std::uint8_t> bytes = {1, 2, 255};
  std::vector<float> floats(6);
  for (float& value : floats) {
    const auto bits = static_cast<std::uint32_t>(random());
    std::memcpy(&value, &bits, sizeof bits);
  }
  floats[0] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<double> doubles = {-0.0, std::numeric_limits<double>::infinity()};
  const std::vector<std::int32_t> ints = {INT32_MIN, INT32_MAX};
  const std::vector<std::uint32_t> words = {0, UINT32_MAX};
  const std::vector<std::int64_t> longs = {INT64_MIN, INT64_MAX};
  const std::vector<TensorView> saved = {
      tensor_view<std::uint8_t>("bytes", {3}, bytes),
      tensor_view<float>("layer/weight", {2, 3}, floats),
      tensor_view<double>("moment \"1\"\n", {2}, doubles),
      tensor_view<std::int32_t>("ints", {1, 2, 1}, ints),
      tensor_view<std::uint32_t>("words", {2}, words),
      tensor_view<std::int64_t>("longs", {2}, longs),
      tensor_view<float>("none", {4, 0}, {}),
      tensor_view<float>("scalar", {}, std::span(floats).first(1)),
  };
  const std::map<std::string, std::string> metadata = {
      {"epoch", "12"}, {"a \"foxhunt.checksum", "x"}, {"note", "\xCE\xB1 \"quoted\"\n"}, {"", ""}};
  save_safetensors(folder / "all.safetensors", saved, metadata);

  const auto loaded = SafetensorsFile::load(folder / "all.safetensors");
  REQUIRE(loaded.metadata() == metadata);
  REQUIRE(loaded.names().size() == saved.size());
  for (const TensorView& expected : saved) {
    INFO(expected.name);
    const TensorView& found = loaded.tensor(expected.name);
    REQUIRE(found.dtype == expected.dtype);
    REQUIRE(found.shape == expected.shape);
    REQUIRE(std::equal(found.data.begin(), found.data.end(), expected.data.begin(), expected.data.end()));
    REQUIRE(reinterpret_cast<std::uintptr_t>(found.data.data()) % dtype_size(found.dtype) == 0);
  }
  std::vector<std::int64_t> copied(2);
  loaded.copy<std::int64_t>("longs", copied);
  REQUIRE(copied == longs);
}

TEST_CASE("safetensors: the file is what the format says") {
  test::TemporaryFolder folder;
  const std::vector<float> values = {1, 2};
  const std::vector<TensorView> tensors = {tensor_view<float>("w", {2}, values)};
  save_safetensors(folder / "x", tensors, {{"k", "v"}});
  const std::string file = test::text_of(folder / "x");
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), 8);
  REQUIRE(length % 8 == 0);
  REQUIRE(file.size() == 8 + length + 8);
  const std::string header = file.substr(8, length);
  REQUIRE(header.starts_with(R"({"__metadata__":{"foxhunt.checksum":")"));
  REQUIRE(header.find(R"("foxhunt.format":"1","k":"v"},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})") !=
          std::string::npos);
  REQUIRE(std::memcmp(file.data() + 8 + length, values.data(), 8) == 0);
}

TEST_CASE("safetensors: a file written elsewhere is read") {
  test::TemporaryFolder folder;
  const std::string header =
      R"( {"b":{"data_offsets":[4,8],"shape":[1],"dtype":"I32"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  const auto write = [&](const std::string& text) {
    const std::uint64_t length = text.size();
    std::ofstream(folder / "x", std::ios::binary)
        << std::string(reinterpret_cast<const char*>(&length), 8) << text << std::string(8, '\1');
  };
  write(header.substr(1));
  const auto file = SafetensorsFile::load(folder / "x");
  REQUIRE(file.names() == std::vector<std::string>{"a", "b"});
  REQUIRE(file.metadata().empty());
  REQUIRE(file.tensor("b").dtype == DType::i32);
  write(header);
  REQUIRE(error_of([&] { SafetensorsFile::load(folder / "x"); }).find("does not begin with '{'") != std::string::npos);
}

TEST_CASE("safetensors: a missing tensor and one that does not fit name file, tensor and what was expected") {
  test::TemporaryFolder folder;
  const std::vector<float> values = {1, 2};
  const std::vector<TensorView> tensors = {tensor_view<float>("value_head.weight", {2}, values)};
  save_safetensors(folder / "x", tensors, {});
  const auto file = SafetensorsFile::load(folder / "x");
  REQUIRE(file.contains("value_head.weight"));
  REQUIRE_FALSE(file.contains("value_head"));

  const std::string missing = error_of([&] { file.tensor("value_head.wieght"); });
  REQUIRE(missing.starts_with("7 " + (folder / "x").string() + " has no tensor 'value_head.wieght'"));
  REQUIRE(missing.find("nearest: 'value_head.weight'") != std::string::npos);
  std::vector<float> three(3);
  std::vector<std::int32_t> two(2);
  REQUIRE(error_of([&] { file.copy<float>("value_head.weight", three); }).find("2 x F32, expected 3 x F32") !=
          std::string::npos);
  REQUIRE(error_of([&] { file.copy<std::int32_t>("value_head.weight", two); }).find("expected 2 x I32") !=
          std::string::npos);
}

TEST_CASE("safetensors: what cannot be told apart later is not saved") {
  const std::vector<float> values = {1, 2};
  const auto view = [&](const std::string& name, std::vector<std::int64_t> shape) {
    return tensor_view<float>(name, std::move(shape), values);
  };
  REQUIRE(save_error({view("a", {2})}).empty());
  REQUIRE(save_error({view("a", {2}), view("a", {1, 2})}).find("'a' is taken") != std::string::npos);
  REQUIRE(save_error({view("__metadata__", {2})}).find("is taken") != std::string::npos);
  REQUIRE(save_error({view("a", {3})}).find("has 8 bytes of data and its shape needs 12") != std::string::npos);
  REQUIRE(save_error({view("a", {-1, -2})}).find("impossible") != std::string::npos);
  REQUIRE(save_error({view("a", {INT64_MAX, INT64_MAX})}).find("impossible") != std::string::npos);
  REQUIRE(save_error({view("\xFF", {2})}).find("not UTF-8") != std::string::npos);
  REQUIRE(save_error({view("a", {2})}, {{"foxhunt.checksum", "x"}}).find("reserved") != std::string::npos);
}

TEST_CASE("safetensors: a full disk keeps the checkpoint before") {
  test::TemporaryFolder folder, scratch;
  const std::vector<float> old = {1, 2}, big(100'000, 3.0F);
  const std::vector<TensorView> before = {tensor_view<float>("w", {2}, old)};
  const std::vector<TensorView> after = {tensor_view<float>("w", {100'000}, big)};
  save_safetensors(folder / "c", before, {});
  const std::string error =
      test::error_with_file_limit(scratch / "result", 65'536, [&] { save_safetensors(folder / "c", after, {}); });
  REQUIRE(error.starts_with("7 cannot write"));
  REQUIRE(SafetensorsFile::load(folder / "c").tensor("w").shape == std::vector<std::int64_t>{2});
}

TEST_CASE("safetensors: the checksum is XXH64") {
  // Known answers of the reference implementation.
  REQUIRE(hash("") == 0xEF46DB3751D8E999);
  REQUIRE(hash("a") == 0xD24EC4F1A98C6E5B);
  REQUIRE(hash("abc") == 0x44BC2CF5AD770999);
  REQUIRE(hash("Nobody inspects the spammish repetition") == 0xFBCEA83C8A378BF1);
}

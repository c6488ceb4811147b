#include "core/run/safetensors_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

namespace foxhunt::run {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

struct DTypeRow {
  std::string_view name;
  std::size_t size;
};
constexpr DTypeRow kDTypes[] = {{"F32", 4}, {"F64", 8}, {"I32", 4}, {"U32", 4}, {"I64", 8}, {"U8", 1}};

[[noreturn]] void refuse(const std::string& reason) { throw std::invalid_argument(reason); }

DType parse_dtype(const std::string& tensor, const std::string& name) {
  for (std::size_t i = 0; i < std::size(kDTypes); ++i)
    if (kDTypes[i].name == name) return static_cast<DType>(i);
  refuse(fmt::format("tensor '{}' has dtype '{}'; F32, F64, I32, U32, I64 and U8 are read here", tensor, name));
}

/// Refuses what a plain parse would take: of two equal keys it keeps the last without a word, and it follows any depth.
class StrictReader : public json::json_sax_t {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_array() override { return leave(); }
  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second) refuse(fmt::format("'{}' comes twice in the header", name));
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const json::exception& error) override {
    refuse(fmt::format("the header is not valid JSON ({})", error.what()));
  }

 private:
  bool enter() {
    if (keys_.size() > 2) refuse("the header is nested too deep");
    keys_.emplace_back();
    return true;
  }
  bool leave() {
    keys_.pop_back();
    return true;
  }
  std::vector<std::set<std::string>> keys_;  // of the objects that are open; arrays have none
};

/// The JSON tree, sorted by name: to keep the order of the text, each name would be searched for among all before it.
json parse_strictly(std::string_view text) {
  if (text.empty() || text.front() != '{') refuse("the header does not begin with '{'");
  StrictReader reader;
  json::sax_parse(text.begin(), text.end(), &reader);
  return json::parse(text.begin(), text.end());
}

/// A list of integers from 0 to 2^63 - 1.
std::vector<std::int64_t> parse_integers(const std::string& tensor, const json& entry, const char* key) {
  const auto found = entry.find(key);
  std::vector<std::int64_t> integers;
  bool good = found != entry.end() && found->is_array();
  if (good) {
    for (const json& element : *found) {
      good = good && element.is_number_unsigned() && element.get<std::uint64_t>() <= INT64_MAX;
      if (good) integers.push_back(element.get<std::int64_t>());
    }
  }
  if (!good) refuse(fmt::format("'{}' of tensor '{}' is not a list of whole numbers", key, tensor));
  return integers;
}

TensorEntry parse_entry(const std::string& name, const json& value) {
  if (!value.is_object() || value.size() != 3 || !value.contains("dtype") || !value["dtype"].is_string())
    refuse(fmt::format("tensor '{}' is not described by dtype, shape and data_offsets", name));
  TensorEntry entry{name, parse_dtype(name, value["dtype"].get<std::string>()), parse_integers(name, value, "shape"), 0,
                    0};
  const auto offsets = parse_integers(name, value, "data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    refuse(fmt::format("data_offsets of tensor '{}' are not a begin and an end", name));
  entry.begin = static_cast<std::uint64_t>(offsets[0]);
  entry.end = static_cast<std::uint64_t>(offsets[1]);

  const std::uint64_t bytes = tensor_bytes(entry.dtype, entry.shape);
  if (entry.end - entry.begin != bytes)
    refuse(fmt::format("tensor '{}' has {} bytes of data; its shape [{}] in {} needs {}", name, entry.end - entry.begin,
                       fmt::join(entry.shape, ", "), dtype_name(entry.dtype), bytes));
  return entry;
}

std::map<std::string, std::string> parse_metadata(const json& value) {
  if (!value.is_object()) refuse("__metadata__ is not a map of strings");
  std::map<std::string, std::string> metadata;
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) refuse(fmt::format("'{}' in __metadata__ is not a string", key));
    metadata.emplace(key, text.get<std::string>());
  }
  return metadata;
}

}  // namespace

std::string_view dtype_name(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)].name; }
std::size_t dtype_size(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)].size; }

std::uint64_t tensor_bytes(DType dtype, const std::vector<std::int64_t>& shape) {
  std::int64_t bytes = static_cast<std::int64_t>(dtype_size(dtype));
  for (const std::int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes))
      refuse(fmt::format("shape [{}] is impossible", fmt::join(shape, ", ")));
  return static_cast<std::uint64_t>(bytes);
}

SafetensorsHeader parse_safetensors_header(std::string_view text, std::uint64_t data_size) {
  SafetensorsHeader header;
  const json root = parse_strictly(text);
  for (const auto& [name, value] : root.items()) {
    if (name == "__metadata__")
      header.metadata = parse_metadata(value);
    else
      header.tensors.push_back(parse_entry(name, value));
  }
  std::stable_sort(header.tensors.begin(), header.tensors.end(), [](const TensorEntry& a, const TensorEntry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });

  std::uint64_t expected = 0;
  for (const TensorEntry& entry : header.tensors) {
    if (entry.begin != expected)
      refuse(fmt::format("data of tensor '{}' begins at byte {}; expected {}, the end of the one before it", entry.name,
                         entry.begin, expected));
    expected = entry.end;
  }
  if (expected != data_size)
    refuse(fmt::format("its tensors need {} bytes of data and the file has {}", expected, data_size));
  return header;
}

std::string safetensors_header_text(const SafetensorsHeader& header) {
  ordered_json root;
  root["__metadata__"] = header.metadata;
  for (const TensorEntry& entry : header.tensors)
    root[entry.name] = {
        {"dtype", dtype_name(entry.dtype)}, {"shape", entry.shape}, {"data_offsets", {entry.begin, entry.end}}};
  try {
    return root.dump();
  } catch (const ordered_json::exception& error) {
    refuse(fmt::format("a name or a metadata text is not UTF-8 ({})", error.what()));
  }
}

}  // namespace foxhunt::run

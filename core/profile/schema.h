#pragma once
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/profile/profile.h"

namespace foxhunt::profile {

/// What a key can hold. An optional one that is not set leaves the choice to whoever reads it.
using Value = std::variant<bool, std::int64_t, double, std::string, std::optional<std::int64_t>, std::optional<double>,
                           std::vector<double>, std::vector<std::int64_t>, std::vector<std::string>>;

template <class T>
using Access = T& (*)(Profile&);

/// Reaches the member behind a key; the alternative in use is the key's type, in the order of Value.
using Member =
    std::variant<Access<bool>, Access<std::int64_t>, Access<double>, Access<std::string>,
                 Access<std::optional<std::int64_t>>, Access<std::optional<double>>, Access<std::vector<double>>,
                 Access<std::vector<std::int64_t>>, Access<std::vector<std::string>>>;

/// What values a key takes. Numbers (and elements of lists): an interval, each end open or closed. Lists: a length.
/// Text: one of `words`, or anything when there are none; the word "cuda:N" stands for cuda: and a number.
struct Limits {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool min_open = false;
  bool max_open = false;
  std::size_t min_length = 0;
  std::size_t max_length = std::numeric_limits<std::size_t>::max();
  std::vector<std::string> words{};
};

/// One row of the schema table.
struct Key {
  std::string name;  ///< dotted, as in TOML and --set: "optimizer.learning_rate"
  Member member;
  Value fallback;  ///< the default
  Limits limits;
  std::string unit;  ///< "" for a pure number or text
  std::string help;  ///< one line
};

/// The schema table: every key of a profile once, in the order of profile.h. The only place that knows them.
const std::vector<Key>& schema();

/// The row of a dotted name, or nullptr.
const Key* find_key(std::string_view name);
/// Sections in schema order: "run", "device", ...
const std::vector<std::string>& section_names();
bool is_section(const std::string& name);
/// "training" of "training.gamma"; "" of a key at the top of the file.
std::string_view section_of(std::string_view name);
/// "gamma" of "training.gamma".
std::string_view leaf_of(std::string_view name);
/// The known key that someone who wrote `name` most likely meant: the same leaf in another section, else the nearest
/// leaf in its own section, else the nearest leaf anywhere; "" when nothing is near.
std::string nearest_key(const std::string& name);

/// A profile with every key at its default.
Profile default_profile();
Value value_of(const Key& key, const Profile& profile);
/// Throws std::bad_variant_access when `value` is not of the key's type.
void set_value(const Key& key, const Value& value, Profile& profile);

/// "integer", "number", "true or false", "text", "list of numbers", ...
std::string type_name(const Key& key);
/// "[1, 4096]", "(0, 1]", "constant, linear, cosine", "2 to 32 of [-1, 1]", or "" when anything goes.
std::string range_text(const Key& key);
/// "an integer in [1, 4096]", "one of constant, linear, cosine": for error messages.
std::string expected_text(const Key& key);

/// Whether a number lies within the limits; false for NaN.
bool within(const Limits& limits, double number);
/// Whether text is one of the words (true when the key has none).
bool among(const Limits& limits, std::string_view text);

}  // namespace foxhunt::profile

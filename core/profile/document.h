#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/profile/schema.h"

namespace foxhunt::profile {

/// One key that a file or an override sets, its value checked against the schema.
struct Setting {
  const Key* key;
  Value value;
  std::string where;  ///< "dqn.toml:12" or "--set training.gamma=0.9"
};

/// A profile file on its own, before what it extends.
struct Document {
  std::filesystem::path file;
  std::string extends;  ///< "" when it stands alone
  std::string extends_where;
  std::vector<Setting> settings;  ///< in the order of their lines
};

/// Reads a file of at most 1 MiB. Throws Error(usage) with file and line on a file that cannot be read, a TOML syntax
/// error or duplicate key, an unknown section or key, a wrong type, or a value out of range.
Document read_document(const std::filesystem::path& file);
/// The same of a text; `file` is what errors name. Throws Error(usage).
Document parse_document(const std::string& text, const std::filesystem::path& file);

/// Reads the argument of --set, `dotted.key=TOML-VALUE`. Text that is not TOML is taken as it stands where the key
/// holds text. Throws Error(usage).
Setting read_override(const std::string& argument);

/// The text of a profile file as it was written. Throws Error(usage).
std::string read_text(const std::filesystem::path& file);

}  // namespace foxhunt::profile

#pragma once
#include <fstream>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/profile/loader.h"
#include "tests/catch.h"

namespace foxhunt::test {

/// A folder of profile files, the only one in which names are looked up.
class ProfileFolder {
 public:
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = folder_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }
  profile::ProfilePaths paths() const { return {{folder_.path()}}; }
  const std::filesystem::path& path() const { return folder_.path(); }

  /// Loads `text` as a.toml.
  profile::Profile load(const std::string& text, const std::vector<std::string>& overrides = {}) const {
    return profile::load_profile(write("a.toml", text), overrides, paths());
  }

  /// The message with which `text` as a.toml is refused; it has to be a usage error of one line.
  std::string refusal(const std::string& text, const std::vector<std::string>& overrides = {}) const {
    return refusal_of(write("a.toml", text), overrides);
  }

  std::string refusal_of(const std::string& name_or_path, const std::vector<std::string>& overrides = {}) const {
    try {
      profile::load_profile(name_or_path, overrides, paths());
    } catch (const Error& error) {
      const std::string message = error.what();
      INFO(message);
      REQUIRE(error.code() == ExitCode::usage);
      REQUIRE(message.find('\n') == std::string::npos);
      return message;
    }
    FAIL("loaded without complaint: " << name_or_path);
    return "";
  }

 private:
  TemporaryFolder folder_;
};

/// Requires every one of `words` in `message`.
inline void require_words(const std::string& message, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    INFO("message: " << message);
    INFO("missing: " << word);
    REQUIRE(message.find(word) != std::string::npos);
  }
}

}  // namespace foxhunt::test

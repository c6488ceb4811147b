// Profiles, parts divided by a NUL: the profile, the parent.toml that it may extend, arguments of --set.
#include <filesystem>
#include <fstream>

#include "core/profile/loader.h"
#include "core/profile/printer.h"
#include "tests/fuzz/target.h"

namespace foxhunt::fuzz {
namespace {

using namespace profile;

/// Holds the two files, for `extends` is looked up beside its file; removed at the end.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "foxhunt-fuzz-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("mkdtemp " + pattern);
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string write(const char* name, std::string_view text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

std::string_view take_part(std::string_view& input) {
  const std::string_view part = input.substr(0, input.find('\0'));
  input.remove_prefix(std::min(part.size() + 1, input.size()));
  return part;
}

}  // namespace

void fuzz_profile(std::string_view input) {
  static const Folder folder;
  constexpr std::size_t read_buffer = std::size_t{2} << 20;  // a file is read into as much as the largest may have
  const MemoryLimit limit{input.size(), 256, read_buffer + (std::size_t{4} << 20)};
  const std::string file = folder.write("profile.toml", take_part(input));
  folder.write("parent.toml", take_part(input));
  std::vector<std::string> overrides;
  while (!input.empty()) overrides.emplace_back(take_part(input));

  attempt(limit, [&] {
    const std::string text = to_toml(load_profile(file, overrides, {}));
    std::string again;
    if (!attempt(limit, [&] { again = to_toml(load_profile(folder.write("printed.toml", text), {}, {})); }))
      throw Finding("a profile that was printed does not load");
    require(again == text, "a profile that was printed and loaded differs");
  });
}

}  // namespace foxhunt::fuzz

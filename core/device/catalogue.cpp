#include "core/device/catalogue.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "core/error.h"
#include "core/kernels.h"

namespace foxhunt {
namespace {

/// "y[n], alpha[1], n" -> arguments. Commas inside brackets do not occur.
std::vector<KernelInfo::Argument> parse_arguments(std::string_view text) {
  std::vector<KernelInfo::Argument> result;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    const std::size_t bracket = word.find('[');
    if (bracket == std::string_view::npos) {
      result.push_back({std::string(word), ""});
    } else {
      result.push_back(
          {std::string(word.substr(0, bracket)), std::string(word.substr(bracket + 1, word.size() - bracket - 2))});
    }
  }
  return result;
}

template <class... P>
KernelInfo make_info(void (*kernel)(P...), const char* name, int threads, WorkUnit unit, const char* work,
                     const char* arguments) {
  KernelInfo info{name, reinterpret_cast<const void*>(kernel), threads, unit, work, parse_arguments(arguments)};
  if (info.arguments.size() != sizeof...(P))
    throw Error(ExitCode::device, std::string("kernel catalogue: ") + name + " takes " + std::to_string(sizeof...(P)) +
                                      " arguments, its row lists " + std::to_string(info.arguments.size()));
  return info;
}

}  // namespace

const std::vector<KernelInfo>& kernel_catalogue() {
  static const std::vector<KernelInfo> catalogue = {
#define X(kernel, threads, unit, work, arguments) make_info(kernel, #kernel, threads, WorkUnit::unit, work, arguments),
      FOXHUNT_KERNELS(X)
#undef X
  };
  return catalogue;
}

const KernelInfo& kernel_info(const void* host_function) {
  static const auto by_address = [] {
    std::unordered_map<const void*, const KernelInfo*> map;
    for (const KernelInfo& info : kernel_catalogue()) map[info.host_function] = &info;
    return map;
  }();
  const auto found = by_address.find(host_function);
  if (found == by_address.end())
    throw Error(ExitCode::device,
                "launch of a function that core/kernels.h does not list; add a row to FOXHUNT_KERNELS");
  return *found->second;
}

}  // namespace foxhunt

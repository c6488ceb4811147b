#include <set>

#include "core/device/expression.h"
#include "core/device/launch.h"
#include "tests/catch.h"

using namespace foxhunt;

namespace {

template <class... P>
std::vector<bool> pointers(void (*)(P...)) {
  return {std::is_pointer_v<P>...};
}
template <class... P>
std::vector<bool> integers(void (*)(P...)) {
  return {std::is_integral_v<P>...};
}

struct Row {
  const KernelInfo* info;
  std::vector<bool> is_pointer, is_integer;
};

std::vector<Row> rows() {
  std::vector<Row> all;
#define X(kernel, ...) \
  all.push_back({&kernel_info(reinterpret_cast<const void*>(kernel)), pointers(kernel), integers(kernel)});
  FOXHUNT_KERNELS(X)
#undef X
  return all;
}

}  // namespace

TEST_CASE("catalogue: every kernel has a name and a function of its own") {
  std::set<std::string> names;
  std::set<const void*> functions;
  for (const KernelInfo& kernel : kernel_catalogue()) {
    names.insert(kernel.name);
    functions.insert(kernel.host_function);
    REQUIRE(kernel.name.ends_with("_kernel"));
    REQUIRE(&kernel_info(kernel.host_function) == &kernel);
  }
  REQUIRE(names.size() == kernel_catalogue().size());
  REQUIRE(functions.size() == kernel_catalogue().size());
  REQUIRE(names.size() >= 26);
}

TEST_CASE("catalogue: every row fits its prototype") {
  for (const Row& row : rows()) {
    CAPTURE(row.info->name);
    REQUIRE(row.info->arguments.size() == row.is_pointer.size());
    std::set<std::string> names;
    for (std::size_t i = 0; i < row.is_pointer.size(); ++i) {
      const KernelInfo::Argument& argument = row.info->arguments[i];
      CAPTURE(argument.name, argument.size);
      REQUIRE(!argument.name.empty());
      REQUIRE(names.insert(argument.name).second);
      REQUIRE(argument.size.empty() != row.is_pointer[i]);
    }
  }
}

TEST_CASE("catalogue: every size and every work count can be computed from the integer arguments") {
  for (const Row& row : rows()) {
    IntegerArguments given;
    for (std::size_t i = 0; i < row.is_integer.size(); ++i)
      if (row.is_integer[i]) given[row.info->arguments[i].name] = 1000 + static_cast<int>(i);
    CAPTURE(row.info->name, row.info->work);
    REQUIRE(evaluate(row.info->work, given) > 0);
    for (const KernelInfo::Argument& argument : row.info->arguments) {
      CAPTURE(argument.name, argument.size);
      if (!argument.size.empty()) REQUIRE(evaluate(argument.size, given) > 0);
    }
  }
}

TEST_CASE("catalogue: blocks are whole warps that a GPU can run") {
  for (const KernelInfo& kernel : kernel_catalogue()) {
    CAPTURE(kernel.name, kernel.threads);
    REQUIRE(kernel.threads >= 32);
    REQUIRE(kernel.threads <= 1024);
    REQUIRE(kernel.threads % 32 == 0);
  }
}

TEST_CASE("catalogue: bus, counters and health word have the sizes of their slots") {
  int seen = 0;
  for (const KernelInfo& kernel : kernel_catalogue())
    for (const KernelInfo::Argument& argument : kernel.arguments) {
      CAPTURE(kernel.name, argument.name);
      const int expected = argument.name == "isv"        ? static_cast<int>(isv_slot_count)
                           : argument.name == "counters" ? static_cast<int>(counter_count)
                           : argument.name == "health"
                               ? static_cast<int>(isv_slot_count) + static_cast<int>(counter_count)
                               : 0;
      if (expected == 0) continue;
      REQUIRE(argument.size == std::to_string(expected));
      ++seen;
    }
  REQUIRE(seen > 10);
}

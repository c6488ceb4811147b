// Overlap and size checks, over every kernel of the catalogue and every pair of its spans. The checks look at
// addresses alone, so made-up ones serve.
#include "core/device/expression.h"
#include "core/device/launch.h"
#include "tests/cuda/kernel_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

/// A kernel's arguments as its prototype has them, with sizes from its row.
struct Prototype {
  const KernelInfo* info;
  std::vector<LaunchArgument> arguments;
  std::vector<std::size_t> element;  ///< bytes of one element; 0 for scalars
};

template <class P>
void describe_parameter(Prototype& prototype) {
  LaunchArgument argument;
  if constexpr (std::is_pointer_v<P>) {
    argument.is_span = true;
    argument.written = !std::is_const_v<std::remove_pointer_t<P>>;
    prototype.element.push_back(sizeof(std::remove_pointer_t<P>));
  } else {
    argument.is_integer = std::is_integral_v<P>;
    prototype.element.push_back(0);
  }
  prototype.arguments.push_back(argument);
}

void resize(Prototype& prototype, std::size_t argument, std::size_t elements) {
  prototype.arguments[argument].size = elements;
  prototype.arguments[argument].bytes = elements * prototype.element[argument];
}

void place(Prototype& prototype, std::size_t argument, std::uintptr_t address) {
  prototype.arguments[argument].data = reinterpret_cast<const void*>(address);
}

std::uintptr_t address(const LaunchArgument& argument) { return reinterpret_cast<std::uintptr_t>(argument.data); }

/// Exact sizes, each span in a region of its own.
template <class... P>
Prototype make_prototype(void (*kernel)(P...)) {
  Prototype prototype{&kernel_info(reinterpret_cast<const void*>(kernel)), {}, {}};
  (describe_parameter<P>(prototype), ...);
  IntegerArguments given;
  std::int64_t value = 5;
  for (std::size_t i = 0; i < prototype.arguments.size(); ++i) {
    if (!prototype.arguments[i].is_integer) continue;
    prototype.arguments[i].integer = value;
    given[prototype.info->arguments[i].name] = value;
    value += 2;
  }
  for (std::size_t i = 0; i < prototype.arguments.size(); ++i) {
    if (!prototype.arguments[i].is_span) continue;
    resize(prototype, i, static_cast<std::size_t>(evaluate(prototype.info->arguments[i].size, given)));
    place(prototype, i, (i + 1) << 40);
  }
  return prototype;
}

std::vector<Prototype> every_prototype() {
  std::vector<Prototype> all;
#define X(kernel, ...) all.push_back(make_prototype(kernel));
  FOXHUNT_KERNELS(X)
#undef X
  return all;
}

/// The refusal, or "" when the launch passes.
std::string refusal(const Prototype& prototype) {
  return device_error([&] { detail::check_launch(*devices()[0].device, *prototype.info, prototype.arguments); });
}

void require_refused(const Prototype& prototype, std::size_t i, std::size_t j) {
  const std::string message = refusal(prototype);
  const KernelInfo& kernel = *prototype.info;
  CAPTURE(message, kernel.name, kernel.arguments[i].name, kernel.arguments[j].name);
  REQUIRE(message.find("overlaps") != std::string::npos);
  REQUIRE(message.starts_with(kernel.name + ":"));
  REQUIRE(message.find("'" + kernel.arguments[i].name + "'") != std::string::npos);
  REQUIRE(message.find("'" + kernel.arguments[j].name + "'") != std::string::npos);
}

/// Calls f(prototype, i, j) for every two different spans of every kernel.
template <class F>
int for_each_pair(F f) {
  int pairs = 0;
  for (const Prototype& prototype : every_prototype())
    for (std::size_t i = 0; i < prototype.arguments.size(); ++i)
      for (std::size_t j = 0; j < prototype.arguments.size(); ++j)
        if (i != j && prototype.arguments[i].is_span && prototype.arguments[j].is_span) f(prototype, i, j), ++pairs;
  return pairs;
}

}  // namespace

TEST_CASE("launch: every kernel passes with distinct spans of the stated sizes") {
  for (const Prototype& prototype : every_prototype()) {
    CAPTURE(prototype.info->name);
    REQUIRE(refusal(prototype) == "");
  }
}

TEST_CASE("launch: a written span may overlap no other") {
  int refused = 0;
  for_each_pair([&](const Prototype& prototype, std::size_t i, std::size_t j) {
    if (!prototype.arguments[i].written) return;
    ++refused;
    const LaunchArgument& written = prototype.arguments[i];
    const LaunchArgument& other = prototype.arguments[j];
    Prototype exact = prototype;
    place(exact, j, address(written));
    require_refused(exact, i, j);
    Prototype last_element = prototype;
    place(last_element, j, address(written) + written.bytes - prototype.element[i]);
    require_refused(last_element, i, j);
    Prototype first_element = prototype;
    place(first_element, j, address(written) + prototype.element[j] - other.bytes);
    require_refused(first_element, i, j);
    Prototype inside = prototype;
    resize(inside, i, written.size + 2 * other.bytes);
    place(inside, j, address(written) + prototype.element[i]);
    require_refused(inside, i, j);
    Prototype around = prototype;
    resize(around, j, other.size + 2 * written.bytes);
    place(around, j, address(written) - prototype.element[j]);
    require_refused(around, i, j);
  });
  REQUIRE(refused > 200);
}

TEST_CASE("launch: spans side by side pass") {
  for_each_pair([](const Prototype& prototype, std::size_t i, std::size_t j) {
    CAPTURE(prototype.info->name, prototype.info->arguments[i].name, prototype.info->arguments[j].name);
    Prototype adjacent = prototype;
    place(adjacent, j, address(prototype.arguments[i]) + prototype.arguments[i].bytes);
    REQUIRE(refusal(adjacent) == "");
  });
}

TEST_CASE("launch: two spans that are only read may be one") {
  int shared = 0;
  for_each_pair([&](const Prototype& prototype, std::size_t i, std::size_t j) {
    if (prototype.arguments[i].written || prototype.arguments[j].written) return;
    CAPTURE(prototype.info->name, prototype.info->arguments[i].name, prototype.info->arguments[j].name);
    Prototype same = prototype;
    place(same, j, address(prototype.arguments[i]));
    REQUIRE(refusal(same) == "");
    ++shared;
  });
  REQUIRE(shared > 100);
}

TEST_CASE("launch: a span one element short is refused, a longer one is not") {
  for (const Prototype& prototype : every_prototype())
    for (std::size_t i = 0; i < prototype.arguments.size(); ++i) {
      if (!prototype.arguments[i].is_span) continue;
      const KernelInfo& kernel = *prototype.info;
      const std::size_t needed = prototype.arguments[i].size;
      CAPTURE(kernel.name, kernel.arguments[i].name, needed);
      REQUIRE(needed > 0);
      Prototype smaller = prototype, larger = prototype;
      resize(smaller, i, needed - 1);
      const std::string message = refusal(smaller);
      REQUIRE(message.starts_with(kernel.name + ":"));
      REQUIRE(message.find("'" + kernel.arguments[i].name + "' has " + std::to_string(needed - 1)) !=
              std::string::npos);
      REQUIRE(message.find("needs " + std::to_string(needed)) != std::string::npos);
      resize(larger, i, needed + 1);
      REQUIRE(refusal(larger) == "");
    }
}

TEST_CASE("launch: a span without memory is refused") {
  for (const Prototype& prototype : every_prototype())
    for (std::size_t i = 0; i < prototype.arguments.size(); ++i) {
      if (!prototype.arguments[i].is_span) continue;
      Prototype nowhere = prototype;
      place(nowhere, i, 0);
      CAPTURE(prototype.info->name, prototype.info->arguments[i].name);
      REQUIRE(refusal(nowhere).find("has no memory") != std::string::npos);
    }
}

TEST_CASE("launch: a pointer where the row has a scalar is refused") {
  for (const Prototype& prototype : every_prototype()) {
    Prototype wrong = prototype;
    wrong.arguments.back().is_span = !wrong.arguments.back().is_span;
    CAPTURE(prototype.info->name);
    REQUIRE(refusal(wrong).find(prototype.info->name) != std::string::npos);
  }
}

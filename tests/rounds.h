#pragma once
#include <vector>

namespace foxhunt::test {

/// The rounds of a long test. Where a sanitizer watches, each takes ten times as long and shows it what all show: then
/// every third, the last among them.
template <class T>
std::vector<T> rounds(std::vector<T> all) {
#ifdef FOXHUNT_SANITIZED
  std::vector<T> some;
  for (std::size_t i = (all.size() + 2) % 3; i < all.size(); i += 3) some.push_back(all[i]);
  return some;
#else
  return all;
#endif
}

}  // namespace foxhunt::test

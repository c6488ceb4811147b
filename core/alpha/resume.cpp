#include "core/alpha/resume.h"

#include <fmt/format.h>

#include "core/checksum.h"

namespace foxhunt::alpha {

run::MarketFingerprint fingerprint(const Dataset& data) {
  std::vector<std::int64_t> sizes = {static_cast<std::int64_t>(data.rows())};
  for (const market::Split* split : {&data.splits.train, &data.splits.validation, &data.splits.test})
    sizes.insert(sizes.end(), {split->begin, split->end});
  static_assert(std::has_unique_object_representations_v<Mbp10Level>);
  return {xxh64(std::as_bytes(std::span(data.session)), xxh64(std::as_bytes(std::span(sizes)))),
          xxh64(std::as_bytes(std::span(data.input)), xxh64(std::as_bytes(std::span(&data.tick, 1))))};
}

void require_same_windows(const run::ResumePoint& point) {
  for (const profile::SideBySide& change : point.changes)
    for (const char* key : {"alpha.windows", "alpha.steps", "alpha.state"})
      if (change.name == key)
        throw Error(ExitCode::usage, fmt::format("--set {}: the windows of a run that goes on cannot change (it was "
                                                 "trained with {}); start a new run",
                                                 key, change.first));
}

}  // namespace foxhunt::alpha

#include "core/dqn/resume.h"

#include "core/dqn/market_fingerprint.h"
#include "core/dqn/model_card.h"

namespace foxhunt::dqn {

void require_same_market(const run::ResumePoint& point, const LoadedMarket& market) {
  const std::string where = point.checkpoint.file.string();
  if (!point.overrides("features.alpha"))
    require_same_book_model(parse_model_card(point.checkpoint.contents.metadata(), where), where, point.profile,
                            market.book_model);
  run::require_same_market(point, fingerprint(market.tables), market.source);
}

}  // namespace foxhunt::dqn

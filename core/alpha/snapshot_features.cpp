#include "core/alpha/snapshot_features.h"

#include <fmt/format.h>

namespace foxhunt::alpha {

const std::array<SnapshotFeature, snapshot_features>& snapshot_feature_list() {
  static const auto list = [] {
    std::array<SnapshotFeature, snapshot_features> features;
    std::size_t next = 0;
    const auto add = [&](const std::string& name, const std::string& help) { features.at(next++) = {name, help}; };
    add("spread", "best ask less best bid, ticks");
    add("microprice", "size-weighted price less mid, ticks");
    add("mid_change", "mid less the mid of the snapshot before, ticks");
    for (int l = 1; l <= book_levels; ++l)
      add(fmt::format("size_imbalance_{}", l), fmt::format("bid against ask size of level {}", l));
    for (int l = 1; l <= book_levels; ++l)
      add(fmt::format("order_flow_{}", l),
          fmt::format("order-flow imbalance of level {} since the snapshot before", l));
    add("depth_imbalance_3", "bid against ask size of three levels");
    add("depth_imbalance_5", "the same of five");
    add("depth_imbalance_10", "the same of ten");
    add("order_imbalance_1", "bid against ask orders of the best level");
    add("order_imbalance_10", "the same of ten levels");
    add("trade_flow", "volume bought against sold by aggressors since the snapshot before");
    add("trade_volume", "log of that volume, over 4");
    add("trade_price", "last trade less mid, ticks");
    add("bid_gap", "best bid less second bid, ticks");
    add("ask_gap", "second ask less best ask, ticks");
    add("bid_away", "mean distance of bid size from the best bid, ten ticks");
    add("ask_away", "mean distance of ask size from the best ask, ten ticks");
    add("bid_depth", "log of the bid size of ten levels, over 4");
    add("ask_depth", "log of the ask size of ten levels, over 4");
    add("bid_levels", "share of the ten bid levels that are there");
    add("ask_levels", "share of the ten ask levels that are there");
    add("wait", "log of the milliseconds since the snapshot before, over 4");
    return features;
  }();
  return list;
}

}  // namespace foxhunt::alpha

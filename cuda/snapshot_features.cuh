#pragma once
// Forty bounded features of a ten-level book: what each is, core/alpha/snapshot_features.h says in the same order. A
// level that is not there is masked: it adds nothing, and what is left without a meaning is 0. One thread makes them
// all, or a block's threads share them out: the same sums in the same order, so the same bits.
#include "cuda/device.cuh"

#include "core/kernels.h"

namespace foxhunt::cuda {

/// x / (1 + |x|): any number into (-1, 1), and most of the range for the first few units.
DEVICE float bounded(float x) { return x / (1.0f + fabsf(x)); }
/// (a - b) / (a + b) for numbers that are not negative; 0 where there is neither.
DEVICE float imbalance(float a, float b) { return a + b > 0.0f ? (a - b) / (a + b) : 0.0f; }

DEVICE bool has_bid(const Mbp10Level& l) { return l.bid != undefined_price && l.bid_size != 0; }
DEVICE bool has_ask(const Mbp10Level& l) { return l.ask != undefined_price && l.ask_size != 0; }
/// A side of the book by number, for threads that do the same for both.
enum Side : int { bid_side, ask_side };
DEVICE bool has(const Mbp10Level& l, int side) { return side == bid_side ? has_bid(l) : has_ask(l); }

/// a - b in ticks. The difference wraps instead of overflowing: whatever a damaged file says, the result is finite.
DEVICE float ticks(int64_t a, int64_t b, float tick) {
  return static_cast<float>(static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b))) / tick;
}

/// What a level's change adds to one side (Cont, Kukanov & Stoikov 2014), contracts: `better` is the sign of a price
/// that moved towards the other side.
DEVICE float side_flow(int better, float size_before, float size_now) {
  return better > 0 ? size_now : better < 0 ? -size_before : size_now - size_before;
}
DEVICE int sign(int64_t a, int64_t b) { return a > b ? 1 : a < b ? -1 : 0; }

/// Order-flow imbalance of a level against the same level of the snapshot before, over all the sizes it knows of: a
/// side that is not there in both is left out.
DEVICE float order_flow(const Mbp10Level& before, const Mbp10Level& now) {
  float flow = 0.0f, sizes = 0.0f;
  if (has_bid(before) && has_bid(now)) {
    const float was = static_cast<float>(before.bid_size), is = static_cast<float>(now.bid_size);
    flow += side_flow(sign(now.bid, before.bid), was, is);
    sizes += was + is;
  }
  if (has_ask(before) && has_ask(now)) {
    const float was = static_cast<float>(before.ask_size), is = static_cast<float>(now.ask_size);
    flow -= side_flow(sign(before.ask, now.ask), was, is);
    sizes += was + is;
  }
  return sizes > 0.0f ? flow / sizes : 0.0f;
}

/// Sums over the first levels of one side.
struct SideSums {
  float size = 0.0f, count = 0.0f;
  float away = 0.0f;  // sizes times ticks from the best price
  int levels = 0;
  DEVICE void add(const Mbp10Level& level, const Mbp10Level& best, int side, float tick) {
    if (!has(level, side)) return;
    const float contracts = static_cast<float>(side == bid_side ? level.bid_size : level.ask_size);
    size += contracts, count += static_cast<float>(side == bid_side ? level.bid_count : level.ask_count), ++levels;
    const float distance = side == bid_side ? ticks(best.bid, level.bid, tick) : ticks(level.ask, best.ask, tick);
    away += contracts * (has(best, side) ? distance : 0.0f);
  }
};

/// Whether a book has a mid: both sides, and not crossed.
DEVICE bool has_mid(const Mbp10Level& best) { return has_bid(best) && has_ask(best) && best.ask >= best.bid; }
DEVICE float log_size(float size) { return bounded(log1pf(size) / 4.0f); }

// Places in the list.
enum SnapshotFeature : int {
  feature_spread,
  feature_microprice,
  feature_mid_move,
  feature_size_imbalance,                                     // [10]
  feature_order_flow = feature_size_imbalance + book_levels,  // [10]
  feature_imbalances = feature_order_flow + book_levels,      // sizes of 3, 5, 10 levels, orders of 1, 10, trades
  feature_trade_volume = feature_imbalances + 6,
  feature_trade_price,
  feature_bid_gap,
  feature_ask_gap,
  feature_away,  // [2], and so for the next two
  feature_side_size = feature_away + 2,
  feature_side_levels = feature_side_size + 2,
  feature_seconds = feature_side_levels + 2
};
static_assert(feature_seconds + 1 == snapshot_features);

DEVICE void level_features(const Mbp10RawInput& now, const Mbp10RawInput& before, int l, float* out) {
  const Mbp10Level& level = now.level[l];
  out[feature_size_imbalance + l] = imbalance(has_bid(level) ? static_cast<float>(level.bid_size) : 0.0f,
                                              has_ask(level) ? static_cast<float>(level.ask_size) : 0.0f);
  out[feature_order_flow + l] = now.first ? 0.0f : order_flow(before.level[l], level);
}

DEVICE void side_features(const SideSums& all, int side, float* out) {
  out[feature_away + side] = all.size > 0.0f ? bounded(all.away / all.size / 10.0f) : 0.0f;
  out[feature_side_size + side] = log_size(all.size);
  out[feature_side_levels + side] = static_cast<float>(all.levels) / book_levels;
}

/// What the best prices and the trades say.
DEVICE void price_features(const Mbp10RawInput& now, const Mbp10RawInput& before, float tick, float* out) {
  const Mbp10Level &best = now.level[0], &second = now.level[1], &was = before.level[0];
  const bool mid = has_mid(best), moved = mid && !now.first && has_mid(was);
  const float spread = mid ? ticks(best.ask, best.bid, tick) : 0.0f;
  const float lean = imbalance(static_cast<float>(best.bid_size), static_cast<float>(best.ask_size));
  out[feature_spread] = bounded(spread);
  out[feature_microprice] = mid ? bounded(0.5f * spread * lean) : 0.0f;  // less the mid, ticks
  // Twice the mid is a whole number of price units, so that no tick is lost to rounding.
  out[feature_mid_move] =
      moved ? bounded(0.5f * (ticks(best.bid, was.bid, tick) + ticks(best.ask, was.ask, tick))) : 0.0f;
  out[feature_trade_volume] = log_size(static_cast<float>(now.buy_volume) + static_cast<float>(now.sell_volume));
  const bool traded = mid && now.trade_price != undefined_price;
  out[feature_trade_price] =
      traded ? bounded(0.5f * (ticks(now.trade_price, best.bid, tick) + ticks(now.trade_price, best.ask, tick))) : 0.0f;
  out[feature_bid_gap] = has_bid(best) && has_bid(second) ? bounded(ticks(best.bid, second.bid, tick)) : 0.0f;
  out[feature_ask_gap] = has_ask(best) && has_ask(second) ? bounded(ticks(second.ask, best.ask, tick)) : 0.0f;
  out[feature_seconds] = bounded(log1pf(1000.0f * fminf(fmaxf(now.seconds, 0.0f), 1e6f)) / 4.0f);
}

DEVICE float trade_imbalance(const Mbp10RawInput& now) {
  return imbalance(static_cast<float>(now.buy_volume), static_cast<float>(now.sell_volume));
}

/// All features of one snapshot, by one thread.
DEVICE void snapshot_row(const Mbp10RawInput& now, const Mbp10RawInput& before, float tick, float* out) {
  SideSums bid, ask;
  float* imbalances = out + feature_imbalances;
  for (int l = 0; l < book_levels; ++l) {
    level_features(now, before, l, out);
    bid.add(now.level[l], now.level[0], bid_side, tick);
    ask.add(now.level[l], now.level[0], ask_side, tick);
    if (l == 0) imbalances[3] = imbalance(bid.count, ask.count);
    if (l == 2) imbalances[0] = imbalance(bid.size, ask.size);
    if (l == 4) imbalances[1] = imbalance(bid.size, ask.size);
  }
  imbalances[2] = imbalance(bid.size, ask.size);
  imbalances[4] = imbalance(bid.count, ask.count);
  imbalances[5] = trade_imbalance(now);
  side_features(bid, bid_side, out);
  side_features(ask, ask_side, out);
  price_features(now, before, tick, out);
}

/// One of the six imbalances, alone.
DEVICE float imbalance_feature(const Mbp10RawInput& now, int i, float tick) {
  if (i == 5) return trade_imbalance(now);
  const int levels = i == 0 ? 3 : i == 1 ? 5 : i == 3 ? 1 : book_levels;
  SideSums bid, ask;
  for (int l = 0; l < levels; ++l) {
    bid.add(now.level[l], now.level[0], bid_side, tick);
    ask.add(now.level[l], now.level[0], ask_side, tick);
  }
  return i < 3 ? imbalance(bid.size, ask.size) : imbalance(bid.count, ask.count);
}

/// All features of one snapshot, by the threads of the block: what takes another path has another warp.
DEVICE void snapshot_row_by_block(const Mbp10RawInput& now, const Mbp10RawInput& before, float tick, float* out) {
  for (int item : thread_stride(4 * 32)) {
    const int i = item % 32;
    if (item / 32 == 0 && i < book_levels) level_features(now, before, i, out);
    if (item / 32 == 1 && i < 6) out[feature_imbalances + i] = imbalance_feature(now, i, tick);
    if (item / 32 == 2 && i < 2) {
      SideSums sums;
      for (int l = 0; l < book_levels; ++l) sums.add(now.level[l], now.level[0], i, tick);
      side_features(sums, i, out);
    }
    if (item == 3 * 32) price_features(now, before, tick, out);
  }
}

}  // namespace foxhunt::cuda

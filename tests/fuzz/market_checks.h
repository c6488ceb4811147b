#pragma once
#include "core/market/reader.h"

// What rows hold whatever file they were read from.
namespace foxhunt::fuzz {

/// Columns of one length, a positive interval, times that ascend: a tape can be made of them. Throws Finding.
void check_bars(const market::Bars& bars);
/// Columns of one length; times that ascend within an instrument; no crossed and no empty book. Throws Finding.
void check_books(market::Books& books);
/// Columns of one length, times that ascend within an instrument, a size. Throws Finding.
void check_trades(market::Trades& trades);

bool same_rows(const market::Bars& a, const market::Bars& b);
bool same_rows(market::Books& a, market::Books& b);
bool same_rows(market::Trades& a, market::Trades& b);

}  // namespace foxhunt::fuzz

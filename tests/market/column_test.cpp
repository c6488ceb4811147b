#include "core/market/column.h"

#include <numeric>
#include <string>

#include "tests/catch.h"

namespace foxhunt::market {

TEST_CASE("column: grows without losing a value") {
  Column<int> column;
  REQUIRE(column.empty());
  for (int i = 0; i < 1000; ++i) column.push_back(i);
  const int more[] = {1000, 1001};
  column.append(more, 2);
  column.append(nullptr, 0);
  *column.extend(1) = 1002;
  REQUIRE(column.size() == 1003);
  REQUIRE(column.front() == 0);
  REQUIRE(column.back() == 1002);
  REQUIRE(std::accumulate(column.begin(), column.end(), 0) == 1002 * 1003 / 2);
  column.truncate(3);
  column.truncate(7);
  column.shrink_to_fit();
  REQUIRE(column == Column<int>{0, 1, 2});
  REQUIRE_FALSE(column == Column<int>{0, 1, 3});
  REQUIRE_FALSE(column == Column<int>{0, 1});
}

TEST_CASE("column: takes values from any address") {
  std::string bytes("x");
  const std::int64_t value = 0x0123456789ABCDEF;
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  Column<std::int64_t> column;
  column.append(bytes.data() + 1, 1);
  REQUIRE(column[0] == value);
}

TEST_CASE("column: copies are apart, moves leave nothing behind") {
  Column<int> a{1, 2, 3};
  Column<int> b = a;
  b[0] = 9;
  REQUIRE(a[0] == 1);
  a = std::move(b);
  REQUIRE(a == Column<int>{9, 2, 3});
  REQUIRE(Column<int>(2, 7) == Column<int>{7, 7});
  Column<int> none;
  none.shrink_to_fit();
  none = Column<int>();
  REQUIRE(none.size() == 0);
}

TEST_CASE("column: room that cannot be is refused") {
  Column<std::int64_t> column{1};
  REQUIRE_THROWS_AS(column.reserve(SIZE_MAX / 8), std::bad_alloc);
  REQUIRE_THROWS_AS(column.reserve(SIZE_MAX), std::bad_alloc);
  REQUIRE(column == Column<std::int64_t>{1});
}

}  // namespace foxhunt::market

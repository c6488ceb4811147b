#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct ZSTD_CCtx_s;

namespace foxhunt::market {

/// One zstd frame with a checksum, compressed as its bytes come.
class ZstdFrame {
 public:
  /// `level` is 1 to 19; `size` is how many bytes will be added in all.
  ZstdFrame(int level, std::uint64_t size);

  void add(std::string_view bytes) { compress(bytes, false); }

  /// The whole frame.
  std::string finish() &&;

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  void compress(std::string_view bytes, bool last);

  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
  std::string out_;
};

}  // namespace foxhunt::market

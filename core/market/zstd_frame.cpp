#include "core/market/zstd_frame.h"

#include <fmt/format.h>
#include <zstd.h>

#include <new>
#include <utility>

#include "core/error.h"

namespace foxhunt::market {

void ZstdFrame::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

ZstdFrame::ZstdFrame(int level, std::uint64_t size) : context_(ZSTD_createCCtx()) {
  if (!context_) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setPledgedSrcSize(context_.get(), size);
}

std::string ZstdFrame::finish() && {
  compress({}, true);
  return std::move(out_);
}

void ZstdFrame::compress(std::string_view bytes, bool last) {
  const std::size_t block = ZSTD_CStreamOutSize();
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  for (;;) {
    const std::size_t start = out_.size();
    out_.resize(start + block);
    ZSTD_outBuffer out{out_.data() + start, block, 0};
    const std::size_t left = ZSTD_compressStream2(context_.get(), &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left))
      throw Error(ExitCode::data, fmt::format("zstd could not compress: {}", ZSTD_getErrorName(left)));
    out_.resize(start + out.pos);
    if (last ? left == 0 : in.pos == in.size) return;
  }
}

}  // namespace foxhunt::market

#include "core/alpha/fill_book.h"

#include "core/device/launch.h"

namespace foxhunt::alpha {

void FillBook::take() { launch(device_, take_fill_kernel, slot_->device_ptr(), position_); }

}  // namespace foxhunt::alpha

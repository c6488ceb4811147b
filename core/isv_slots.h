#pragma once
// The IsvBus: a device vector of named float slots, read by kernels and host. Kernels read their schedules from it and
// write their statistics to it, so nothing that changes from step to step is passed by value into a recorded program.

namespace foxhunt {

#define FOXHUNT_ISV_SLOTS(X)                                                               \
  X(step)    /* iterations begun; exact up to 2^24, the counter of the same name always */ \
  X(epsilon) /* probability of a random action */                                          \
  X(beta)    /* exponent of the importance weights */                                      \
  X(learning_rate)                                                                         \
  X(c51_weight) /* alpha of the blend */                                                   \
  X(mse_weight) /* 1 - alpha */                                                            \
  X(cql_weight)                                                                            \
  X(loss)     /* batch mean of the blended loss and the CQL term, importance-weighted */   \
  X(c51_loss) /* batch mean of the cross-entropy */                                        \
  X(mse_loss)                                                                              \
  X(cql_loss)                                                                              \
  X(td_error_mean) /* batch mean of |E[Z](s, a) - target mean| */                          \
  X(gradient_norm) /* before clipping */                                                   \
  X(q_mean)        /* over the batch and all actions */                                    \
  X(q_max)                                                                                 \
  X(reward_mean)     /* over the episodes of this step */                                  \
  X(action_entropy)  /* nats, of the actions taken in this step */                         \
  X(nonfinite_count) /* of this iteration; not zero means that the update was skipped */

enum IsvSlot : int {
#define X(name) isv_##name,
  FOXHUNT_ISV_SLOTS(X)
#undef X
      isv_slot_count
};

/// Exact integers beside the float slots: positions in time and what the kernels of one iteration tell each other.
enum Counter : int {
  counter_iteration,       ///< iterations begun and finished
  counter_updates,         ///< optimiser steps taken
  counter_learning,        ///< 1 when this iteration samples and updates
  counter_nonfinite,       ///< non-finite values met in this iteration
  counter_nonfinite_mask,  ///< NonfiniteIn bits of this iteration
  counter_trips,           ///< iterations whose update was refused
  counter_trip_mask,       ///< NonfiniteIn bits of the first refused iteration
  counter_trip_iteration,  ///< the first refused iteration
  counter_min_priority,    ///< smallest sampled priority of this batch, float bits
  counter_max_priority,    ///< largest priority ever given, float bits
  counter_first_action,    ///< actions taken in this step: 32 counts
  counter_count = counter_first_action + 32
};

/// Words of the health buffer: the slots, then the counters.
inline constexpr int health_words = static_cast<int>(isv_slot_count) + static_cast<int>(counter_count);

/// Where a non-finite value was met.
enum NonfiniteIn : unsigned {
  nonfinite_feature = 1u << 0,
  nonfinite_portfolio = 1u << 1,
  nonfinite_price = 1u << 2,
  nonfinite_q_value = 1u << 3,
  nonfinite_return = 1u << 4,
  nonfinite_target = 1u << 5,
  nonfinite_loss = 1u << 6,
  nonfinite_gradient = 1u << 7,
  nonfinite_parameter = 1u << 8,
  nonfinite_moment = 1u << 9,
  nonfinite_learning_rate = 1u << 10,
  nonfinite_priority = 1u << 11,
};

}  // namespace foxhunt

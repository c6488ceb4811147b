#pragma once
#include <memory>

#include "core/alpha/checkpoint.h"
#include "core/device/device.h"
#include "core/market/book_model.h"
#include "core/profile/profile.h"

namespace foxhunt::alpha {

/// A trained model whose outputs are features of an agent. Each book gets what the Evaluator, and so the live path,
/// says after it: the state begins at zero with a session and sees every book of it.
class FrozenModel : public market::BookModel {
 public:
  enum class Output {
    projections,   ///< alpha_projection_1 to _8
    probabilities  ///< alpha_up_10_rows ..., one of each horizon
  };
  /// The device must outlive it; columns() takes memory of it, of `memory_limit` bytes at most unless that is 0. Throws
  /// Error(storage) for a file that is damaged or no alpha model.
  FrozenModel(Device& device, std::filesystem::path file, Output output, std::size_t memory_limit = 0);

  const std::filesystem::path& file() const override { return file_; }
  const std::string& checksum() const override { return checksum_; }
  const std::optional<market::SeenRows>& seen() const override { return model_.description.seen; }
  std::string identity() const override;
  std::vector<std::string> names() const override;
  /// Throws as BookModel says, for a contract of another tick size too, and Error(device) when the memory is not there.
  std::vector<market::ExtraColumn> columns(const market::Books& books, const market::Contract& contract,
                                           const market::TapeOptions& sessions) override;

 private:
  void require_tick(const market::Books& books, const market::Contract& contract) const;
  std::vector<float> outputs(const Dataset& data);

  Device& device_;
  std::filesystem::path file_;
  Output output_;
  std::size_t memory_limit_;
  SavedModel model_;
  std::string checksum_;
};

/// The model that features.alpha names; none where that is empty. Throws Error(usage) when there is no such run or
/// checkpoint, and as FrozenModel does.
std::unique_ptr<market::BookModel> open_book_model(Device& device, const profile::Profile& profile);

}  // namespace foxhunt::alpha

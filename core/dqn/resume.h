#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/dqn/checkpoint_folder.h"
#include "core/dqn/market_loader.h"
#include "core/profile/difference.h"
#include "core/run/run_directory.h"

namespace foxhunt::dqn {

/// What the command line says of a run to take up again.
struct ResumeRequest {
  std::string run;                          ///< its folder, its name in runs/, or one checkpoint file in it
  std::optional<profile::Profile> profile;  ///< what the run's must agree with; none: the run folder's latest
  std::vector<std::string> overrides;       ///< as given to --set
};

/// Where a run goes on.
struct ResumePoint {
  run::RunDirectory directory;  ///< locked
  FoundCheckpoint checkpoint;
  profile::Profile profile;                  ///< the checkpoint's, with the overrides
  std::vector<profile::SideBySide> changes;  ///< against the checkpoint's
  bool market_may_differ;                    ///< an override is of data.*, contract.* or features.*
  bool book_model_may_differ;                ///< an override is of features.alpha
};

/// Finds the newest checkpoint and the profile to go on with. The profile that the request names (else the run folder's
/// latest) may differ from the checkpoint's only in keys that an override speaks for. Changes nothing. Throws
/// Error(usage) for a folder that is no run's, for such a difference and for another gpu_profile, Error(storage) for
/// damaged files.
ResumePoint find_resume_point(const ResumeRequest& request);

/// Throws Error(data) when the market is not the one that the checkpoint was trained on; with market_may_differ its
/// values may be others, its rows not; with book_model_may_differ the alpha model behind its features may.
void require_same_market(const ResumePoint& point, const LoadedMarket& market);

/// Brings the run's folder back to where the checkpoint was written: records command, environment and a changed
/// profile, sets newer checkpoints aside, removes what is younger: metrics, a best learner, results and report.
/// Throws Error(storage).
void reopen_run(const ResumePoint& point, const TrainingState& state, const std::vector<std::string>& command_line,
                const nlohmann::ordered_json& environment);

}  // namespace foxhunt::dqn

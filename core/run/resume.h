#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/profile/difference.h"
#include "core/profile/profile.h"
#include "core/run/checkpoint_folder.h"
#include "core/run/market_fingerprint.h"
#include "core/run/run_directory.h"
#include "core/run/training_state.h"

namespace foxhunt::run {

/// What the command line says of a run to take up again.
struct ResumeRequest {
  std::string run;                          ///< its folder, its name in runs/, or one checkpoint file in it
  std::optional<profile::Profile> profile;  ///< what the run's must agree with; none: the run folder's latest
  std::vector<std::string> overrides;       ///< as given to --set
};

/// Where a run goes on.
struct ResumePoint {
  RunDirectory directory;  ///< locked
  FoundCheckpoint checkpoint;
  profile::Profile profile;                  ///< the checkpoint's, with the overrides
  std::vector<profile::SideBySide> changes;  ///< against the checkpoint's
  std::vector<std::string> overridden;       ///< keys that the overrides are of

  bool overrides(const std::string& key) const;
};

/// Finds the newest checkpoint and the profile to go on with. The profile that the request names (else the run folder's
/// latest) may differ from the checkpoint's only in keys that an override speaks for. Changes nothing. Throws
/// Error(usage) for a folder that is no run's, for such a difference and for another model or gpu_profile,
/// Error(storage) for damaged files.
ResumePoint find_resume_point(const ResumeRequest& request);

/// A checkpoint's metadata that require_same_market compares.
std::map<std::string, std::string> fingerprint_metadata(const MarketFingerprint& market);
/// Throws Error(data) when the market, read from `source`, is not the one that the checkpoint was trained on. With an
/// override of data.*, contract.* or features.* its values may be others, its rows not.
void require_same_market(const ResumePoint& point, const MarketFingerprint& market, const std::string& source);

/// Brings the run's folder back to where the checkpoint was written: records command, environment and a changed
/// profile, sets newer checkpoints aside, removes what is younger: metrics, a best learner, results and report.
/// Throws Error(storage).
void reopen_run(const ResumePoint& point, const TrainingState& state, const std::vector<std::string>& command_line,
                const nlohmann::ordered_json& environment);

/// The same for a trainer that has taken up the state; then opens the log again and says in it where the run goes on
/// and with what changed. Leaves the point without its checkpoint's tensors.
void go_on(ResumePoint& point, const TrainingState& state, const std::vector<std::string>& command_line,
           const nlohmann::ordered_json& environment);

}  // namespace foxhunt::run

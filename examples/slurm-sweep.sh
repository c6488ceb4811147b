#!/usr/bin/env bash
# One study on many machines of a Slurm cluster: sbatch examples/slurm-sweep.sh, from the top of the source tree.
# Each task takes trials from the journal file, which lies on a file system that all of them see, until there are 200.
# A task that runs out of time is interrupted, saves, and gives its parameters to the next; submit again to go on.
#SBATCH --job-name=foxhunt-sweep
#SBATCH --array=1-8
#SBATCH --gres=gpu:1
#SBATCH --cpus-per-task=4
#SBATCH --mem=16G
#SBATCH --time=04:00:00
#SBATCH --signal=B:INT@120
#SBATCH --output=runs/slurm-%A-%a.log
set -euo pipefail

study=${STUDY:-runs/sweep-baseline}
exec scripts/sweep run examples/sweep.toml --trials 200 --output "$study" --storage "$study/study.journal"

"""Trials of an Optuna study, each a foxhunt-train process."""
import math
import os
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import optuna
from optuna.trial import TrialState

from model_sweep import process, space

DONE = (TrialState.COMPLETE, TrialState.PRUNED)
MOST_FAILURES = 3  # in a row: then it is not the parameters


class StudyError(Exception):
    """Why a study cannot go on, on one line."""


def open_study(space_, storage, seed, jobs, pruner):
    """`storage`: a database URL, or the path of a journal file that several machines may share."""
    if "://" not in storage:
        from optuna.storages.journal import JournalFileBackend

        os.makedirs(os.path.dirname(os.path.abspath(storage)), exist_ok=True)
        storage = optuna.storages.JournalStorage(JournalFileBackend(storage))
    pruners = {"none": optuna.pruners.NopPruner, "median": optuna.pruners.MedianPruner}
    study = optuna.create_study(
        study_name=space_.name,
        storage=storage,
        direction="maximize" if space_.maximize else "minimize",
        pruner=pruners[pruner](),
        load_if_exists=True,
    )
    if seed is not None:
        seed += len(study.get_trials(deepcopy=False))  # a study that is taken up again does not draw the same again
    study.sampler = optuna.samplers.TPESampler(seed=seed, constant_liar=jobs > 1)
    return study


def give_up_orphans(study):
    """Trials of this machine whose process is gone count as failed, and their parameters come first again."""
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        host, pid = trial.user_attrs.get("host"), trial.user_attrs.get("pid")
        if host == socket.gethostname() and not alive(pid):
            again(study, trial.number, trial.params)


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def again(study, number, params):
    study.tell(number, state=TrialState.FAIL)
    if params:
        study.enqueue_trial(params)


class Sweep:
    def __init__(self, space_, study, program, output, trials, say):
        self.space, self.study, self.program, self.output = space_, study, program, output
        self.trials, self.say = trials, say
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.failures, self.error = 0, None

    def run(self, jobs):
        """Until there are as many trials as wanted; an interrupt stops them all, and the study is whole."""
        give_up_orphans(self.study)
        with ThreadPoolExecutor(jobs) as pool:
            workers = [pool.submit(self.work) for _ in range(jobs)]
            try:
                for worker in workers:
                    worker.result()
            except BaseException:
                self.stop.set()
                raise
        if self.error:
            raise StudyError(self.error)

    def work(self):
        while not self.stop.is_set():
            trial = self.next_trial()
            if trial is None:
                return
            try:
                self.attempt(trial)
            except BaseException:
                self.stop.set()
                again(self.study, trial.number, trial.params)
                raise

    def next_trial(self):
        with self.lock:
            taken = self.study.get_trials(deepcopy=False, states=(*DONE, TrialState.RUNNING))
            if len(taken) >= self.trials:
                return None
            trial = self.study.ask()
            trial.set_user_attr("host", socket.gethostname())
            trial.set_user_attr("pid", os.getpid())
            return trial

    def attempt(self, trial):
        chosen = [f"{d.key}={d.suggest(trial)}" for d in self.space.dimensions]
        output = os.path.join(self.output, f"trial-{trial.number:05}")
        trial.set_user_attr("output", output)
        watcher = Watcher(trial, self.space.metric())
        try:
            summary = process.train(
                self.program, self.space.profile, self.space.fixed + chosen, output, self.stop, watcher.go_on
            )
        except process.RunError as error:
            self.failed(trial, error)
            return
        if summary is None and not watcher.reason:
            again(self.study, trial.number, trial.params)
            return
        value = None if summary is None else process.value_at(summary, self.space.objective)
        if summary is not None and value is None:
            again(self.study, trial.number, {})
            self.error = f"summary.json of {output} has no {self.space.objective}"
            self.stop.set()
        elif value is None or math.isnan(value):
            self.pruned(trial, watcher.reason or "objective is NaN")
        else:
            self.failures = 0
            self.study.tell(trial, value)
            self.say(f"trial {trial.number}: {self.space.objective} {value:.6g}  {' '.join(chosen)}")

    def pruned(self, trial, why):
        self.failures = 0
        trial.set_user_attr("pruned", why)
        self.study.tell(trial, state=TrialState.PRUNED)
        self.say(f"trial {trial.number}: pruned, {why}")

    def failed(self, trial, error):
        if error.code == process.NON_FINITE:
            self.pruned(trial, str(error))
            return
        trial.set_user_attr("error", str(error))
        self.study.tell(trial, state=TrialState.FAIL)
        self.say(f"trial {trial.number}: failed, {error}")
        with self.lock:
            self.failures += 1
            if self.failures >= MOST_FAILURES:
                self.error = f"{self.failures} trials failed in a row, the last with: {error}"
                self.stop.set()


class Watcher:
    """Reports a run's validation results to its trial as they appear, and says when to stop it."""

    def __init__(self, trial, metric):
        self.trial, self.metric, self.reason = trial, metric, ""

    def go_on(self, line):
        value = float(line[self.metric])
        if math.isnan(value):
            self.reason = f"validation {self.metric} is NaN at iteration {line['step']}"
        else:
            self.trial.report(value, int(line["step"]))
            if self.trial.should_prune():
                self.reason = f"validation {self.metric} {value:.6g} at iteration {line['step']}"
        return not self.reason


def best_profile(space_, study):
    """The best trial as a profile of its own."""
    best = study.best_trial
    lines = [
        f"# Trial {best.number} of study {space_.name}: {space_.objective} = {best.value}",
        f"extends = {space.toml_text(extended(space_.profile))}",
    ]
    keys = {d.key: d for d in space_.dimensions}
    settings = [setting.split("=", 1) for setting in space_.fixed]
    settings += [(key, keys[key].text_of(value)) for key, value in best.params.items()]
    return "\n".join(lines + [f"{key} = {text}" for key, text in settings]) + "\n"


def extended(profile):
    return os.path.abspath(profile) if profile.endswith(".toml") or "/" in profile else profile


def report(space_, study):
    """A line for each state, and the best trials."""
    trials = study.get_trials(deepcopy=False)
    count = {state: sum(trial.state == state for trial in trials) for state in TrialState}
    lines = [f"{space_.name}: " + ", ".join(f"{n} {state.name.lower()}" for state, n in count.items() if n)]
    done = [trial for trial in trials if trial.state == TrialState.COMPLETE]
    for trial in sorted(done, key=lambda t: t.value, reverse=space_.maximize)[:5]:
        chosen = " ".join(f"{key}={value}" for key, value in trial.params.items())
        lines.append(f"  {trial.number:5}  {trial.value:14.6g}  {chosen}")
    return "\n".join(lines)

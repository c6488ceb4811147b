"""One foxhunt-train process, watched while it runs."""
import json
import os
import signal
import subprocess
import time

SMOOTH_END, NON_FINITE, INTERRUPTED = (0, 1), 5, (130, 143)
PATIENCE = 60  # seconds that a process which was asked to stop may take to save


class RunError(Exception):
    """A run that ended badly: its one line of error."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def runs_in(output):
    """Folders of runs below an output folder, the oldest first."""
    try:
        folders = [entry.path for entry in os.scandir(output) if entry.is_dir()]
    except FileNotFoundError:
        return []
    return sorted(folders, key=os.path.getmtime)


def summary_of(output):
    """Of the last run below an output folder that went to its end; None when there is none."""
    for run in reversed(runs_in(output)):
        try:
            with open(os.path.join(run, "summary.json"), encoding="utf-8") as file:
                summary = json.load(file)
        except (OSError, json.JSONDecodeError):
            continue
        if summary.get("test", {}).get("sessions"):
            return summary
    return None


def value_at(summary, dotted):
    """A number of a summary, where NaN and infinities are words; None when it has none of that name."""
    value = summary
    for name in dotted.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return None if value is None or isinstance(value, (dict, list)) else float(value)


class Lines:
    """The whole lines that a JSON-lines file has gained since they were last asked for."""

    def __init__(self, path):
        self.path, self.offset = path, 0

    def new(self):
        try:
            with open(self.path, "rb") as file:
                file.seek(self.offset)
                text = file.read()
        except FileNotFoundError:
            return []
        whole = text[: text.rfind(b"\n") + 1]
        self.offset += len(whole)
        return [json.loads(line) for line in whole.splitlines()]


def train(program, profile, overrides, output, stop, on_validation=lambda line: True):
    """Trains below `output`; calls on_validation with each line of validation.jsonl as it appears. The summary; None when
    on_validation answered False or `stop`, an event, was set: then the process was asked to save and end. Throws
    RunError."""
    os.makedirs(output, exist_ok=True)
    before = set(runs_in(output))
    command = [program, "--profile", profile, "--quiet", "--output", output]
    for override in overrides:
        command += ["--set", override]
    with open(os.path.join(output, "errors.txt"), "w+", encoding="utf-8") as errors:
        # A session of its own: Ctrl-C reaches this script alone, which then asks its processes one by one.
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True)
        try:
            went_on = watch(process, output, before, stop, on_validation)
        finally:
            end(process)
        errors.seek(0)
        message = errors.read().strip().splitlines()
    if not went_on or process.returncode in INTERRUPTED:
        return None
    if process.returncode not in SMOOTH_END:
        raise RunError(process.returncode, message[-1] if message else f"exit code {process.returncode}")
    return summary_of(output)


def watch(process, output, before, stop, on_validation):
    """False when the process is to be stopped before its end."""
    lines = None
    while True:
        ended = process.poll() is not None
        if lines is None:
            new = [run for run in runs_in(output) if run not in before]
            lines = Lines(os.path.join(new[-1], "validation.jsonl")) if new else None
        for line in lines.new() if lines else []:
            if not on_validation(line):
                return False
        if ended:
            return True
        if stop.is_set():
            return False
        time.sleep(0.1)


def end(process):
    """Asks a process that still runs to save and end."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

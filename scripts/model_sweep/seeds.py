"""One profile under several seeds: mean and 95% interval of the result table."""
import math
import os
import threading
from concurrent.futures import ThreadPoolExecutor

from model_sweep import process

SPLITS = ("validation", "test", "baselines.buy_and_hold", "baselines.momentum", "baselines.random")
METRICS = ("net_pnl", "gross_pnl", "costs", "sharpe", "sortino", "max_drawdown", "trades", "hit_rate", "time_in_market")


def seed_list(text):
    """[0, 1, 2, 3, 8] of "0..3,8". Throws ValueError."""
    seeds = []
    for part in text.split(","):
        first, dots, last = part.partition("..")
        seeds += range(int(first), int(last) + 1) if dots else [int(first)]
    if not seeds or len(set(seeds)) < len(seeds) or min(seeds) < 0:
        raise ValueError(text)
    return seeds


def student_within(t, degrees):
    """P(|T| < t) for a whole number of degrees of freedom (Abramowitz and Stegun 26.7.3, 26.7.4)."""
    angle = math.atan(t / math.sqrt(degrees))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees % 2
    term = total = cosine if odd else 1.0
    for k in range(2 + odd, degrees - 1, 2):
        term *= (k - 1) / k * cosine * cosine
        total += term
    if not odd:
        return sine * total
    return 2 / math.pi * (angle + (sine * total if degrees > 1 else 0))


def student_quantile(confidence, degrees):
    """t with P(|T| < t) = confidence."""
    low, high = 0.0, 1.0
    while student_within(high, degrees) < confidence:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if student_within(middle, degrees) < confidence else (low, middle)
    return (low + high) / 2


def interval(values):
    """Mean and half the width of its 95% interval; NaN where the values do not tell."""
    n = len(values)
    if n == 0 or not all(math.isfinite(value) for value in values):
        return math.nan, math.nan
    mean = math.fsum(values) / n
    if n < 2:
        return mean, math.nan
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    return mean, student_quantile(0.95, n - 1) * deviation / math.sqrt(n)


def run(program, profile, overrides, seeds, output, jobs, say):
    """{seed: summary}. A seed whose run below `output` went to its end is not run again."""
    stop = threading.Event()

    def one(seed):
        folder = os.path.join(output, f"seed-{seed}")
        summary = process.summary_of(folder)
        if summary is None and not stop.is_set():
            try:
                summary = process.train(program, profile, overrides + [f"run.seed={seed}"], folder, stop)
            except process.RunError:
                stop.set()
                raise
        if summary is None:
            raise process.RunError(process.INTERRUPTED[0], f"seed {seed} was interrupted; the same command goes on")
        say(f"seed {seed}: test net_pnl {process.value_at(summary, 'test.net_pnl'):.2f}")
        return summary

    with ThreadPoolExecutor(jobs) as pool:
        futures = {seed: pool.submit(one, seed) for seed in seeds}
        try:
            return {seed: future.result() for seed, future in futures.items()}
        except BaseException:
            stop.set()
            raise


def has_number(summary, split, metric):
    """False of a hit rate without a round trip to be a share of: the seed is left out of it."""
    return metric != "hit_rate" or process.value_at(summary, f"{split}.round_trips") != 0


def table(summaries):
    """{"validation": {"net_pnl": {"mean", "half_width", "seeds": that have it, "values": [by seed]}, ...}, ...}"""
    result = {}
    for split in SPLITS:
        rows = {}
        for metric in METRICS:
            values = [process.value_at(summary, f"{split}.{metric}") for summary in summaries.values()]
            if None not in values:
                numbers = [v for v, s in zip(values, summaries.values()) if has_number(s, split, metric)]
                mean, half_width = interval(numbers)
                rows[metric] = {"mean": mean, "half_width": half_width, "seeds": len(numbers), "values": values}
        if rows:
            result[split] = rows
    return result


def row_text(metric, row, seeds):
    if row["seeds"] == 0:
        return f"    {metric:<16}{'-':>14}  no seed made a round trip"
    of = "" if row["seeds"] == seeds else f"  of {row['seeds']} of {seeds} seeds, the others made no round trip"
    mean, half = row["mean"], row["half_width"]
    bounds = f"[{mean - half:.4g}, {mean + half:.4g}]" if row["seeds"] > 1 else "[-, -]"
    return f"    {metric:<16}{mean:>14.4g}  {bounds}{of}"


def text_of(result, seeds):
    lines = [f"{len(seeds)} seeds: mean and 95% interval of the mean (Student t)"]
    for split, rows in result.items():
        lines.append(f"  {split}")
        lines += [row_text(metric, row, len(seeds)) for metric, row in rows.items()]
    return "\n".join(lines)

"""Comparing and timing on the GPU, the same for every family of kernels."""

import statistics
import time

import torch


def randn(*shape, dtype=torch.bfloat16):
    return torch.randn(*shape, device="cuda", dtype=dtype)


class Checker:
    """Compares results with float64 ones and counts what is off."""

    def __init__(self):
        self.failures = self.passed = 0

    def outcome(self, good, text):
        self.passed += good
        self.failures += not good
        print(f"{'ok    ' if good else 'FAILED'} {text}", flush=True)

    def compare(self, label, actual, expected, limit):
        """Infinities and NaN must be equal, the rest may differ by `limit`."""
        same = (actual.double() == expected) | (actual.isnan() & expected.isnan())
        error = torch.where(same, 0.0, (actual.double() - expected).abs())
        worst = error.nan_to_num(nan=float("inf")).max().item() if error.numel() else 0.0
        self.outcome(worst <= limit, f"{label}: max abs error {worst:.2e}")

    def repeats(self, label, call):
        """A second run gives the same bits."""
        first = [result.clone() for result in call()]
        torch.cuda.synchronize()
        second = call()
        torch.cuda.synchronize()
        for a, b in zip(first, second):
            if not torch.equal(a.view(torch.uint8), b.view(torch.uint8)):
                self.outcome(False, f"{label}: two runs differ")


def graph_of(function, calls=1):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            function()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            function()
    return graph


def time_graph(graph, replays):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(replays):
        graph.replay()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / replays * 1e-3


def interleaved(contestants, rounds=7, burst=0.004, sustained=0.0):
    """Median seconds of each contestant.

    "burst": a pause before every measurement, so that the clock is high; the contestants take
    turns. "sustained" (when asked for): each runs that many seconds right after as many seconds
    of warming up, in an order that is reversed from round to round.
    """
    graphs = {name: graph_of(function) for name, function in contestants.items()}
    single = {name: max(time_graph(graph, 3), 1e-6) for name, graph in graphs.items()}
    times = {name: [] for name in graphs}
    for _ in range(rounds):
        for name, graph in graphs.items():
            time.sleep(0.05)
            times[name].append(time_graph(graph, max(1, int(burst / single[name]))))
    result = {"burst": {name: statistics.median(values) for name, values in times.items()}}
    if sustained:
        times = {name: [] for name in graphs}
        for turn in range(3):
            for name in sorted(graphs, reverse=turn % 2):
                replays = max(1, int(sustained / single[name]))
                time_graph(graphs[name], replays)
                times[name].append(time_graph(graphs[name], replays))
        result["sustained"] = {name: statistics.median(v) for name, v in times.items()}
    return result


def report(results, name, times, work, unit):
    """Prints a case and keeps it for the JSON; `work` is in units of 1e9 or 1e12 of `unit`."""
    results["cases"][name] = {mode: {k: round(t, 9) for k, t in of.items()}
                              for mode, of in times.items()}
    for mode, of in times.items():
        print(f"{name} {mode}: " + ", ".join(f"{k} {t * 1e6:.1f} us ({work / t:.0f} {unit})"
                                             for k, t in of.items()), flush=True)

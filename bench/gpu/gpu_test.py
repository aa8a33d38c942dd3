"""Everything that is checked on a GPU: gpu_test.py FOLDER [schedules|numeric|sanitizer ...].

    schedules   kernels.py check: the kernels of the schedules at real sizes (needs torch and the
                artifacts of `kernels.py prepare`)
    numeric     numeric.py check: the numeric tests of all ops
    sanitizer   numeric.py sanitize: small cases under compute-sanitizer

The closing line counts groups of kernels, tests and sanitizer runs. Exit status 1 when one failed
or none passed.
"""

import importlib.util
import pathlib
import sys

import numeric
from numeric import Outcome


def schedules(folder):
    why = "" if numeric.has_gpu() else "no GPU on this machine"
    if not why and importlib.util.find_spec("torch") is None:
        why = f"{sys.executable} has no torch"
    if not why and not (folder / "librudnn_rt.so").exists():
        why = f"no artifacts in {folder} (bench/gpu/kernels.py prepare)"
    if why:
        return numeric.whole_skip("kernels of the schedules", why)
    import kernels
    groups = list(kernels.table("check"))
    failed = kernels.in_children("check", folder, groups)
    return [Outcome(group, "failed" if group in failed else "passed") for group in groups]


PARTS = {"schedules": schedules, "numeric": numeric.check, "sanitizer": numeric.sanitize}


def main(arguments):
    if not arguments or any(part not in PARTS for part in arguments[1:]):
        print(__doc__, file=sys.stderr)
        return 2
    outcomes = []
    for part in arguments[1:] or PARTS:
        print(f"== {part}", flush=True)
        outcomes += PARTS[part](pathlib.Path(arguments[0]))
    for outcome in outcomes:
        if outcome.status == "failed":
            print(f"failed: {outcome.name}")
    print(f"gpu-test: {numeric.closing_line(outcomes)}")
    statuses = {outcome.status for outcome in outcomes}
    return 1 if "failed" in statuses or "passed" not in statuses else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

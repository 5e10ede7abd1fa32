"""What the help of each command ends with: examples of that command, on the files of the README."""

from __future__ import annotations

EXAMPLES = {
    "audit": (
        "likewise audit ratings.csv --out report",
        "likewise audit people.csv --id-columns name --outputs scores.csv --groups groups.csv",
        "likewise audit ratings.csv --check 'gap<=0.9' --check 'rmse<=1.0:warning'",
    ),
    "diff": ("likewise diff report again",),
    "estimate": (
        "likewise estimate ratings.csv --out factors.npz",
        "likewise estimate ratings.csv --pairs pairs.csv --confidence 0.95 --out predictions.csv",
    ),
    "frontier": (
        "likewise frontier ratings.csv --out frontier",
        "likewise frontier ratings.csv --out frontier --budgets 0.5,0.25 --model knn",
    ),
    "repair": (
        "likewise repair people.csv --id-columns name --outputs scores.csv --lipschitz 0.5 --value-range per-column --out fair.csv",
        "likewise repair people.csv --id-columns name --outputs scores.csv --lipschitz 1 --reference gower --out fair.csv",
    ),
    "reproduce": (
        "likewise reproduce --experiment 1 --quick --model identity --arms h,f-noise-edge --out look",
    ),
    "demo": ("likewise demo --out likewise-demo",),
    "doctor": ("likewise doctor",),
    "completion": ('eval "$(likewise completion bash)"',),
    "data": ("likewise data list", "likewise data describe ratings.csv"),
}

_COMMON = (
    '--config FILE.toml, after any command, reads options from a file: estimator = "svt", one per line; options on the command line take precedence. '
    "--dry-run, after audit, estimate, frontier and repair, says what would be done and prints these options. "
    "Exit codes: 0 fine, 1 input that cannot be used, 2 wrong usage, 3 a limit of --fail-above or --check is not shown to hold, "
    "70 an error in likewise itself."
)


def epilogue(command: str) -> str:
    """Return the end of the help of a command; that of likewise itself has the examples of its main one.

    >>> epilogue("doctor").splitlines()[:3]
    ['Examples:', '', '  likewise doctor']
    """
    shown = "".join(f"  {example}\n\n" for example in EXAMPLES[command])
    return f"Examples:\n\n{shown}{_COMMON}"

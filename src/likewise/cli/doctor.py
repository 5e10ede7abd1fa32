"""What is installed here and what does the arithmetic: for a bug report, or to see whether the kernels are in use."""

from __future__ import annotations


def doctor() -> None:
    """Print versions, kernels, threads and BLAS: what a bug report needs."""
    from likewise._kernels import kernel_info
    from likewise.memory import available_memory, format_bytes
    from likewise.report.json_document import versions

    kernels, found = kernel_info(), versions()
    lines = {
        "likewise": found["likewise"],
        "Python": found["python"],
        "system": found["system"],
        "kernels": f"{kernels.kernels} (instructions: {kernels.instruction_set})",
        "threads": str(kernels.threads),
        "BLAS": kernels.blas or "none found",
        "free memory": format_bytes(available_memory()),
    }
    lines |= {name: number or "not installed" for name, number in found["libraries"].items()}
    lines |= {"hint": kernels.advice} if kernels.advice else {}
    width = max(map(len, lines))
    for name, value in lines.items():
        print(f"{name:<{width}}  {value}")

"""What starts as ``likewise``, and as ``python -m likewise``."""

import sys


def main() -> int:
    """Run the command line; also while it is still being imported, an interruption ends it in one line."""
    try:
        from likewise.cli.main import run
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return 130
    return run()


if __name__ == "__main__":
    sys.exit(main())

"""``python -m likewise`` is ``likewise``."""

import sys

from likewise.cli.main import run

if __name__ == "__main__":
    sys.exit(run())

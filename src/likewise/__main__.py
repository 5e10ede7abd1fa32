"""What starts as ``likewise``, and as ``python -m likewise``."""

import signal
import sys


def main() -> int:
    """Run the command line; an interruption ends it in one line, while it is still imported and when it is nearly over, too."""
    try:
        from likewise.cli.main import run

        code = run()
        # What is left is to end, which an interruption would only fill with a traceback.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("error: interrupted", file=sys.stderr)
        return 130
    return code


if __name__ == "__main__":
    sys.exit(main())

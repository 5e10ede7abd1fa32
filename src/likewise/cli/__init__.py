"""The command line: parse, call, print. Whatever it does, a few lines of Python do too."""

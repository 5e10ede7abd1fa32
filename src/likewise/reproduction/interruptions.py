"""Requests to stop, put off while a step runs that must not be left half done, and kept from processes that are started."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType

_REQUESTS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def put_off() -> Iterator[None]:
    """Do what is within to its end, then stop if that was asked for meanwhile."""
    if current_thread() is not main_thread():  # it alone is interrupted, and may say what a signal does
        yield
        return
    came: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        came.append(number)

    # What does not run Python, as the default of SIGTERM, leaves nothing half done that could be set right.
    before = {number: handler for number in _REQUESTS if callable(handler := signal.getsignal(number))}
    for number in before:
        signal.signal(number, note)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


@contextmanager
def not_inherited() -> Iterator[None]:
    """Let processes that are started within leave Ctrl-C to this one from their first moment on, where a system can."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # where it is started with the first process, it lets the signal through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

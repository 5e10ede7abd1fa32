"""Things by name: those of the package, those registered while a program runs, and those of plug-ins that are installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

from likewise.errors import InputError, unknown_name

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """A mapping from names to things that a plug-in can add to without touching the package.

    Whoever writes a package of their own declares an entry point, in ``pyproject.toml``
    ``[project.entry-points."likewise.thresholds"]`` with a line ``my-rule = "my_package:rule"``. Entry points are looked up, and what they
    name is imported, only when a name is asked for that is not known: imports stay fast. Iterating gives what is known so far.

    `group` is that of the entry points, `kind` what errors call one of the things. The names in `known` are those of the package, which are not
    given away. `error` is raised for a name that is unknown or taken. `check` returns what is registered, as it is or made ready for use, or raises.

    >>> colours = Registry("example.colours", "colour", {"red": "#f00"})
    >>> colours.register("green", "#0f0")
    '#0f0'
    >>> colours.named("green"), list(colours)
    ('#0f0', ['red', 'green'])
    >>> colours.named("gren")
    Traceback (most recent call last):
    ...
    likewise.errors.InputError: unknown colour 'gren'; expected one of 'red', 'green'. Hint: did you mean 'green'?
    """

    def __init__(
        self,
        group: str,
        kind: str,
        known: Mapping[str, T],
        error: type[InputError] = InputError,
        check: Callable[[Any], T] = lambda thing: thing,
    ) -> None:
        self.group, self.kind = group, kind
        self._error, self._check = error, check
        self._own = frozenset(known)
        self._known = {name: check(thing) for name, thing in known.items()}

    def register(self, name: str, thing: Any) -> Any:
        """Add a thing under a name; a name that was registered before is given to the new one.

        Raises the error of this registry for what is no text, a name of the package, or a thing of another kind.
        """
        if not isinstance(name, str) or not name:
            raise self._error(f"{name!r} as the name of a {self.kind}", "some text")
        if name in self._own:
            raise self._error(
                f"a {self.kind} under the name {name!r}, which is likewise's own", "another name"
            )
        self._known[name] = self._check(thing)
        return thing

    def unregister(self, name: str) -> None:
        """Forget a name that was registered, if it was."""
        if name not in self._own:
            self._known.pop(name, None)

    def named(self, name: object) -> T:
        """Return what a name stands for, or raise the error of this registry."""
        if isinstance(name, str) and name in self:
            return self._known[name]
        raise self._error(*unknown_name(self.kind, name, self.names()))

    def names(self) -> list[str]:
        """Return every name that stands for something, also of plug-ins that nobody has asked for yet."""
        return list(
            dict.fromkeys((*self._known, *(plugin.name for plugin in entry_points(group=self.group))))
        )

    def __getitem__(self, name: str) -> T:
        if name not in self._known:
            # Only now, and only this one, so that no import pays for what is installed beside.
            for plugin in entry_points(group=self.group, name=name) if isinstance(name, str) else ():
                self._known[name] = self._check(plugin.load())
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def as_rule(thing: Any, rule: type[T], of_function: Callable[[Any], T], refused: InputError) -> T:
    """Return a rule, a class of rules with its defaults, or a plain function, as a rule; raise `refused` for anything else."""
    made = thing() if isinstance(thing, type) and issubclass(thing, rule) else thing
    if isinstance(made, rule):
        return made
    if callable(made):
        return of_function(made)
    raise refused

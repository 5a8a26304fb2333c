"""Settings: from the environment, from the program, or for the length of a with block.

>>> with config(cache=False):
...     config.cache
False
>>> config.debug_nans = "often"
Traceback (most recent call last):
...
ValueError: config.debug_nans is True or False, and not 'often'
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..backends.numba.cores import POOL, available
from .modes import DEFAULTS

WORDS = {
    "1": True,
    "true": True,
    "on": True,
    "yes": True,
    "0": False,
    "false": False,
    "off": False,
    "no": False,
}


@dataclass(frozen=True)
class Setting:
    """One setting: what it takes, and its value where nothing is said in the program."""

    accept: Callable[[str, Any], Any]
    default: Callable[[], Any]
    apply: Callable[[Any], None] | None = None


class Config:
    """chainrule's settings. They are the process's, and hold for what is compiled or called from then on.

    Attributes:
        cache: a bool, whether compiled programs are kept for later processes. True, unless the environment
            variable CHAINRULE_CACHE is "off".
        cache_dir: the folder where they are kept, a `pathlib.Path`; set to a str or path. By default
            CHAINRULE_CACHE, or else the platform's folder for caches (on Linux $XDG_CACHE_HOME/chainrule or
            ~/.cache/chainrule).
        cache_size: an int, how many megabytes they may take there, all together; those that were not used for
            longest go first. 1000, or CHAINRULE_CACHE_SIZE.
        disable_jit: a bool, whether everything runs line by line as NumPy, for a debugger. False, unless
            CHAINRULE_DISABLE_JIT is "on".
        debug_nans: a bool, whether the first operation that makes a NaN or an infinity raises. False, unless
            CHAINRULE_DEBUG_NANS is "on".
        cores: an int, how many of the processor's cores may share a loop. All that the process may use, or
            CHAINRULE_CORES. With 1, everything runs in the thread that calls.
        key_reuse: a bool, whether a function that uses a random key twice is warned of. True, unless
            CHAINRULE_KEY_REUSE is "off".

    Raises:
        AttributeError: there is no such setting. ValueError: it does not take this value.

    >>> import tempfile
    >>> import chainrule as cr
    >>> with cr.config(cache_dir=tempfile.mkdtemp(), cache=True):
    ...     cr.jit(lambda x: 2 * x)(3.0)
    6.0
    """

    def __getattr__(self, name: str) -> Any:
        return CHOSEN[name] if name in CHOSEN else setting(name).default()

    def __setattr__(self, name: str, value: Any) -> None:
        CHOSEN[name] = setting(name).accept(name, value)
        put_into_effect(name)

    def __dir__(self) -> list[str]:
        return [*SETTINGS]

    def __repr__(self) -> str:
        return f"config({', '.join(f'{name}={getattr(self, name)!r}' for name in SETTINGS)})"

    @contextlib.contextmanager
    def __call__(self, **settings: Any) -> Iterator[None]:
        """A with block in which the given settings hold."""
        accepted = {name: setting(name).accept(name, value) for name, value in settings.items()}
        before = {name: CHOSEN.get(name) for name in accepted}
        try:
            for name, value in accepted.items():
                setattr(self, name, value)
            yield
        finally:
            for name, value in before.items():
                restore(name, value)


CHOSEN: dict[str, Any] = {}


def restore(name: str, value: Any) -> None:
    """Give a setting its earlier value, None where nothing was said."""
    if value is None:
        CHOSEN.pop(name, None)
    else:
        CHOSEN[name] = value
    put_into_effect(name)


def put_into_effect(name: str) -> None:
    """Tell those who read a setting often what it is now."""
    if name in DEFAULTS:
        DEFAULTS[name] = getattr(config, name)
    if SETTINGS[name].apply is not None:
        SETTINGS[name].apply(getattr(config, name))


def setting(name: str) -> Setting:
    if name not in SETTINGS:
        raise AttributeError(f"there is no setting {name!r}; the settings are {', '.join(SETTINGS)}")
    return SETTINGS[name]


def as_bool(name: str, value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError(f"config.{name} is True or False, and not {value!r}")
    return value


def as_count(name: str, value: Any) -> int:
    if type(value) is not int or value < 1:
        raise ValueError(f"config.{name} is an int of at least 1, and not {value!r}")
    return value


def as_folder(name: str, value: Any) -> Path:
    if not isinstance(value, (str, os.PathLike)) or not os.fspath(value):
        raise ValueError(f"config.{name} is the path of a folder, and not {value!r}")
    return Path(value).expanduser().absolute()


def said(variable: str, default: bool) -> Callable[[], bool]:
    """What an environment variable says, in words such as "on" and "0"."""
    return lambda: WORDS.get(os.environ.get(variable, "").lower(), default)


def counted(variable: str, default: Callable[[], int]) -> Callable[[], int]:
    """What an environment variable says, if it is a number."""

    def read() -> int:
        given = os.environ.get(variable, "")
        return max(int(given), 1) if given.isdecimal() else default()

    return read


def cache_folder() -> Path:
    """The folder that the environment names, or where the platform keeps caches."""
    given = os.environ.get("CHAINRULE_CACHE", "")
    if given and given.lower() not in WORDS:
        return as_folder("cache_dir", given)
    home = Path(os.path.expanduser("~"))
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "chainrule"


SETTINGS = {
    "cache": Setting(as_bool, said("CHAINRULE_CACHE", True)),
    "cache_dir": Setting(as_folder, cache_folder),
    "cache_size": Setting(as_count, counted("CHAINRULE_CACHE_SIZE", lambda: 1000)),
    "disable_jit": Setting(as_bool, said("CHAINRULE_DISABLE_JIT", False)),
    "debug_nans": Setting(as_bool, said("CHAINRULE_DEBUG_NANS", False)),
    "cores": Setting(as_count, counted("CHAINRULE_CORES", available), POOL.resize),
    "key_reuse": Setting(as_bool, said("CHAINRULE_KEY_REUSE", True)),
}
config = Config()
POOL.resize(config.cores)
DEFAULTS.update({name: getattr(config, name) for name in DEFAULTS})

"""Machine code of kernels: made once by Numba, kept, and called without it.

To start Numba takes longer than to mine a small table. Its compiler is therefore only started for
kernels that are not in the cache. What it makes is ordinary machine code: a kernel allocates no
arrays and calls nothing but other kernels and the C library, so LLVM alone can load it.

A compiled kernel takes pointers for its return value and its error, then its arguments as plain
numbers: of an array two unused pointers, the number of items, their size, the data, the shape and
the strides; of a tuple its items. That is how Numba passes arguments. It is not documented, so
`compiled` compares it with what LLVM says, and a kernel that differs is left to Numba.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.metadata
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import llvmlite.binding as llvm
import numpy as np

from redveil.errors import InputError

# What compiled code may call: the C library has it everywhere.
LIBRARY: Final = frozenset({"exp", "memcpy", "memmove", "memset", "rint"})
# Types of numbers, as LLVM and as ctypes call them.
NUMBERS: Final[dict[str, tuple[str, Any]]] = {
    "pointer": ("ptr", ctypes.c_void_p),
    "int64": ("i64", ctypes.c_int64),
    "uint64": ("i64", ctypes.c_uint64),
    "float64": ("double", ctypes.c_double),
}
RETURNED: Final[dict[str, Any]] = {
    "int64": ctypes.c_int64,
    "uint64": ctypes.c_uint64,
    "float64": ctypes.c_double,
    "bool": ctypes.c_bool,
}
# The codes of success: with a result, and with none. All others are errors.
_SUCCESS: Final = (0, -2)


def started_numba() -> Any:
    """Start Numba, which reads its settings."""
    try:
        import numba  # slow to start, and mostly not needed
    except ValueError as problem:
        raise InputError(
            f"Numba cannot start ({problem}); correct the environment variables whose names begin "
            "with NUMBA_"
        ) from None
    # Only if nobody else has set it, and before anything is compiled.
    settings: Any = numba.config
    if settings.CPU_FEATURES is None:
        settings.CPU_FEATURES = _features()
    return numba


@dataclass(frozen=True, slots=True)
class MachineCode:
    """A compiled kernel.

    symbol:  the name of its function
    returns: the type of the numbers that it returns, as in RETURNED
    items:   how many it returns as a tuple; None for a single number
    """

    symbol: str
    returns: str
    items: int | None
    code: bytes

    def to_bytes(self) -> bytes:
        """Return the entry of a cache: a line that describes the code, and the code."""
        line = json.dumps([self.symbol, self.returns, self.items])
        return line.encode() + b"\n" + self.code

    @classmethod
    def from_bytes(cls, entry: bytes) -> MachineCode:
        """Read what `to_bytes` made."""
        line, _, code = entry.partition(b"\n")
        symbol, returns, items = json.loads(line)
        return cls(symbol, returns, items, code)


def description(value: object) -> str:
    """Return the type of an argument; kernels are compiled for each combination of types.

    >>> description((1, np.zeros((2, 3), np.int32)))
    'tuple(int64, <i4[2]Caw)'
    """
    if isinstance(value, np.ndarray):
        flags = value.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        aligned, writeable = "a" if flags.aligned else "", "w" if flags.writeable else ""
        return f"{value.dtype.str}[{value.ndim}]{layout}{aligned}{writeable}"
    if isinstance(value, tuple):
        return f"{type(value).__name__}({', '.join(map(description, value))})"
    if isinstance(value, np.generic):
        return value.dtype.name
    return {int: "int64", float: "float64"}.get(type(value), type(value).__name__)


# Whether an array owns its memory makes no difference to a kernel.
_OWNS_DATA: Final = 4


def types_key(value: Any) -> object:
    """Return what tells the types of arguments apart, as `description` does, but at once.

    >>> types_key(np.zeros(3)) == types_key(np.zeros(6)[:3]) != types_key(np.zeros(6)[::2])
    True
    """
    kind = type(value)
    if kind is np.ndarray:
        return value.dtype, value.ndim, value.flags.num & ~_OWNS_DATA
    if isinstance(value, tuple):
        return kind, *map(types_key, value)
    return description(value) if isinstance(value, np.ndarray) else kind


def flattened(arguments: Iterable[Any]) -> list[Any]:
    """Return arguments as plain numbers."""
    flat: list[Any] = []
    for value in arguments:
        if isinstance(value, np.ndarray):
            flat += (0, 0, value.size, value.itemsize, value.__array_interface__["data"][0])
            flat += value.shape
            flat += value.strides
        elif isinstance(value, tuple):
            flat += flattened(value)
        else:
            flat.append(value.item() if isinstance(value, np.generic) else value)
    return flat


def flat_types(value: object) -> Iterator[str]:
    """Yield the types of the numbers that `flattened` yields, as in NUMBERS."""
    if isinstance(value, np.ndarray):
        yield from ("pointer", "pointer", "int64", "int64", "pointer")
        yield from ["int64"] * (2 * value.ndim)
    elif isinstance(value, tuple):
        for item in value:
            yield from flat_types(item)
    else:
        yield description(value)


def entry_name(
    function: Callable[..., object], types: str, settings: Mapping[str, str]
) -> str | None:
    """Return the name under which machine code is kept; None if it cannot be known.

    Everything that decides what the compiler makes is part of it; settings are Numba's.
    """
    source = Path(function.__code__.co_filename)
    # A function from a shell or a doctest has no source that could be compared.
    if "<" in source.name:
        return None
    parts = (_compilers(), _package_digest(), source.read_bytes(), sorted(settings.items()), types)
    digest = hashlib.sha256(repr(parts).encode()).hexdigest()
    return f"{function.__name__}-{digest[:40]}"


def compiled(
    function: Callable[..., object], dispatcher: Any, given: tuple[Any, ...]
) -> MachineCode:
    """Compile a kernel for the types of some arguments.

    dispatcher: what Numba makes of the kernel, without wrappers for Python
    Raises ValueError if the code cannot be called without Numba.
    """
    numba = started_numba()
    types = tuple(numba.typeof(value) for value in given)
    dispatcher.compile(types)
    found = dispatcher.overloads[types]
    module = llvm.parse_assembly(dispatcher.inspect_llvm(types))
    symbol = found.fndesc.llvm_func_name
    expected = ["pointer", "pointer", *(kind for value in given for kind in flat_types(value))]
    if any(kind not in NUMBERS for kind in expected):
        raise ValueError(function.__name__)
    takes = ", ".join(NUMBERS[kind][0] for kind in expected)
    called = {each.name for each in module.functions if each.is_declaration}
    called = {name for name in called if not name.startswith("llvm.")}
    if str(module.get_function(symbol).global_value_type) != f"i32 ({takes})" or called - LIBRARY:
        raise ValueError(function.__name__)
    returns, items = _returned(found.signature.return_type)
    return MachineCode(symbol, returns, items, _machine().emit_object(module))


def _returned(kind: Any) -> tuple[str, int | None]:
    """Return the type of the numbers that a kernel returns, and their number if it is a tuple."""
    numba = started_numba()
    if isinstance(kind, numba.types.NoneType):
        return "int64", 0
    items = tuple(kind) if isinstance(kind, numba.types.BaseTuple) else (kind,)
    names = {str(numba.types.unliteral(item)) for item in items}
    if len(names) != 1 or not names <= RETURNED.keys():
        raise ValueError(str(kind))
    return names.pop(), len(items) if isinstance(kind, numba.types.BaseTuple) else None


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """Machine code that can be called.

    engine: owns the memory of the code
    native: the function
    room:   makes room for what it returns
    """

    code: MachineCode
    engine: Any
    native: Callable[..., int]
    room: Callable[[], Any]

    def __call__(self, *arguments: Any) -> Any:
        """Call the code, without the interpreter lock."""
        result, error = self.room(), ctypes.c_void_p()
        places = ctypes.addressof(result), ctypes.addressof(error)
        if self.native(*places, *flattened(arguments)) not in _SUCCESS:
            raise ArithmeticError(f"{self.code.symbol} failed")
        if self.code.items is None:
            return result[0]
        return tuple(result) if self.code.items else None


def loaded(found: MachineCode, given: tuple[Any, ...]) -> Loaded:
    """Make machine code callable, with arguments like those given."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(found.code))
    engine.finalize_object()
    numbers = [NUMBERS[kind][1] for value in given for kind in flat_types(value)]
    prototype = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *numbers)
    native = prototype(engine.get_function_address(found.symbol))
    # Room for one number even if nothing is returned.
    return Loaded(found, engine, native, RETURNED[found.returns] * max(found.items or 1, 1))


def _machine() -> Any:
    """Return what makes machine code for this processor, set up as Numba does it.

    A new one every time: an engine owns its machine.
    """
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=_features(), opt=3, jit=True
    )


@cache
def _compilers() -> tuple[str, ...]:
    """Return what makes machine code, and for what."""
    versions = tuple(importlib.metadata.version(name) for name in ("numba", "llvmlite", "numpy"))
    host = (llvm.get_process_triple(), llvm.get_host_cpu_name(), _features())
    return (*versions, *host, sys.version)


@cache
def _features() -> str:
    """Return what the processor can do, for LLVM."""
    found = str(llvm.get_host_cpu_features().flatten())
    # LLVM uses half of the registers of processors that were slow with all of it. Those that count
    # the bits of whole registers are not.
    return f"{found},-prefer-256-bit" if "+avx512vpopcntdq" in found else found


@cache
def _package_digest() -> bytes:
    """Return a digest of all kernels: each may be compiled into any other."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).digest()

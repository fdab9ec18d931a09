"""What the parser's child may answer: arrays, numbers and texts, and nothing that runs code in the parent."""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pipeline.c3d.parser_process import _Plain


def loaded(answer: bytes) -> Any:
    return _Plain(io.BytesIO(answer)).load()


class Call:
    """An object that a pickle makes by a call."""

    def __init__(self, function: Callable[..., object], *arguments: object) -> None:
        self.call = function, arguments

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return self.call


@pytest.mark.parametrize("protocol", [pickle.DEFAULT_PROTOCOL, pickle.HIGHEST_PROTOCOL])
def test_parameters_of_a_file_arrive(protocol: int) -> None:
    corners = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    content = {"POINT": {"RATE": 100.0, "LABELS": ["heel", "toe µ"], "CORNERS": corners, "USED": np.array(2)}}
    answer = content, {"points": (3, 2, 50)}
    np.testing.assert_equal(loaded(pickle.dumps(answer, protocol=protocol)), answer)


def test_of_numpy_only_arrays_and_their_types_arrive() -> None:
    def arrives(name: str) -> bool:
        try:
            _Plain(io.BytesIO()).find_class("numpy", name)
        except pickle.UnpicklingError:
            return False
        return True

    assert {name for name in dir(np) if arrives(name)} == {"ndarray", "dtype"}


@pytest.mark.parametrize("call", [Call(os.system, "true"), Call(eval, "1"), Call(np.fromfile, os.devnull)])
def test_no_call_arrives(call: Call) -> None:
    with pytest.raises(pickle.UnpicklingError):
        loaded(pickle.dumps(call))


@pytest.mark.parametrize("module", ["numpyx", "os", "pipeline.numpy"])
def test_no_namesake_of_another_module_arrives(module: str) -> None:
    with pytest.raises(pickle.UnpicklingError):
        loaded(f"c{module}\ndtype\n.".encode())

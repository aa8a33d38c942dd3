"""Calls functions of an artifact on torch tensors of the GPU."""

import ctypes
import pathlib

import torch

DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.bool, torch.int8,
          torch.int16, torch.int32, torch.int64, torch.int64]


class _ArgInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("shape", ctypes.POINTER(ctypes.c_int64))]


class _FunctionInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("num_args", ctypes.c_int32),
                ("num_results", ctypes.c_int32), ("args", ctypes.POINTER(_ArgInfo)),
                ("run", ctypes.c_void_p), ("result_shapes", ctypes.c_void_p),
                ("workspace_bytes", ctypes.c_void_p)]


class _ModuleInfo(ctypes.Structure):
    _fields_ = [("abi_version", ctypes.c_int32), ("target", ctypes.c_char_p),
                ("num_functions", ctypes.c_int32),
                ("functions", ctypes.POINTER(_FunctionInfo))]


def _descriptor(tensor):
    rank = tensor.dim()
    fields = (ctypes.c_int64 * (3 + 2 * rank))()
    fields[0] = fields[1] = tensor.data_ptr()
    fields[3:] = list(tensor.shape) + list(tensor.stride())
    return fields


class Call:
    """A function with its arguments and results; `call()` runs it on torch's stream."""

    def __init__(self, function, runtime, tensors):
        info = function.contents if hasattr(function, "contents") else function
        self.runtime = runtime
        self.tensors = list(tensors)
        rank = [info.args[info.num_args + i].rank for i in range(info.num_results)]
        extents = (ctypes.c_int64 * max(1, sum(rank)))()
        self.descriptors = [_descriptor(t) for t in self.tensors]
        pointers = self._pointers()
        ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(info.result_shapes)(
            ctypes.cast(pointers, ctypes.c_void_p), ctypes.cast(extents, ctypes.c_void_p))
        self.results, at = [], 0
        for i in range(info.num_results):
            dtype = DTYPES[info.args[info.num_args + i].dtype]
            shape = list(extents[at : at + rank[i]])
            at += rank[i]
            fill = float("nan") if dtype.is_floating_point else -1
            self.results.append(torch.full(shape, fill, dtype=dtype, device="cuda"))
        bytes_ = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(info.workspace_bytes)(
            ctypes.cast(pointers, ctypes.c_void_p))
        self.workspace = torch.empty(max(1, bytes_), dtype=torch.uint8, device="cuda")
        self.descriptors += [_descriptor(t) for t in self.results]
        self.pointers = self._pointers()
        self.run = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p,
                                    ctypes.c_void_p)(info.run)

    def _pointers(self):
        return (ctypes.c_void_p * len(self.descriptors))(
            *[ctypes.addressof(d) for d in self.descriptors])

    def __call__(self):
        status = self.run(ctypes.cast(self.pointers, ctypes.c_void_p), self.workspace.data_ptr(),
                          torch.cuda.current_stream().cuda_stream)
        if status:
            self.runtime.rudnn_rt_error_text.restype = ctypes.c_char_p
            raise RuntimeError(self.runtime.rudnn_rt_error_text().decode())
        return self.results


class Artifact:
    """A library made by rudnn-compile and the runtime beside it."""

    def __init__(self, path):
        path = pathlib.Path(path).resolve()
        self.runtime = ctypes.CDLL(path.parent / "librudnn_rt.so", mode=ctypes.RTLD_GLOBAL)
        self.library = ctypes.CDLL(path)
        self.library.rudnn_module.restype = ctypes.POINTER(_ModuleInfo)
        info = self.library.rudnn_module().contents
        self.functions = {info.functions[i].name.decode(): info.functions[i]
                          for i in range(info.num_functions)}

    def bind(self, name, *tensors):
        return Call(self.functions[name], self.runtime, tensors)

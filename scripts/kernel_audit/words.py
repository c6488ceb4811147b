"""Rules on CUDA's own names. They are looked for among words, comments and literals removed: its headers are not everywhere."""

import re

from kernel_audit.sources import DECLARING, LAUNCHER, PROTOTYPES

_LAUNCH_CALLS = re.compile(
    r"cudaLaunch(Cooperative)?Kernel\w*|cuLaunch(Cooperative)?Kernel\w*|cu(da)?Graph\w*KernelNode\w*|cu(da)?GraphAddNode\w*"
    r"|cu(da)?LibraryGetKernel\w*|cuModuleGetFunction\w*"
)
_COPIES = re.compile(r"cu(da)?(Memcpy|Graph\w*Memcpy)\w*|cublas[SG]et(Vector|Matrix)\w*")
_KINDS = re.compile(r"cudaMemcpy(Host|Device)To(Host|Device)|cudaMemcpyDefault")
_MANAGED = re.compile(r"cudaMallocManaged\w*|cuMemAllocManaged\w*|cu(da)?MemPrefetch\w*|__managed__")
_ON_DEVICE = "cudaMemcpyDeviceToDevice"


def check(sources, path):
    """(line, text) of every word of a file that is not allowed there."""
    tokens = sources.tokens(path)
    for i, (word, offset) in enumerate(tokens):
        if word == "<<<" or word == "KERNEL" or word.startswith(("cu", "__")):
            text = _wrong(path, tokens, i)
            if text:
                yield sources.line(path, offset), text


def _wrong(path, tokens, i):
    word = tokens[i][0]
    if _KINDS.fullmatch(word):
        return None  # an argument of a copy, which is looked at itself
    if _COPIES.fullmatch(word) and not (path == LAUNCHER and _stays_on_device(tokens, i)):
        return (
            f"raw copy between host and device ({word}): use Device::upload or Device::download, which go through "
            f"mapped-pinned staging, and between device spans Device::copy; {LAUNCHER} alone calls CUDA to copy, on the device"
        )
    if _MANAGED.fullmatch(word):
        return f"managed memory ({word}): take device memory from an Arena, staging from a MappedBuffer"
    if path != LAUNCHER and (word == "<<<" or _LAUNCH_CALLS.fullmatch(word)):
        return f"launch around launch() ({word}): call launch(device, kernel, ...) of core/device/launch.h"
    if word == "__global__" and path != "cuda/device.cuh":
        return "kernel not written with KERNEL (__global__): the host target and this audit do not see it"
    if word == "KERNEL" and path not in DECLARING and not path.startswith("cuda/"):
        return f"a KERNEL outside cuda/: define it in cuda/, and declare it in {PROTOTYPES}"
    return None


def _stays_on_device(tokens, i):
    """The call whose name is token i is asynchronous and states cudaMemcpyDeviceToDevice."""
    if not tokens[i][0].endswith("Async"):
        return False
    depth, kinds = 0, []
    for text, _ in tokens[i + 1 :]:
        depth += (text == "(") - (text == ")")
        if depth <= 0:
            break
        if text.startswith("cudaMemcpy"):
            kinds.append(text)
    return kinds == [_ON_DEVICE]

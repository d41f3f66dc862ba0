"""Torch arithmetic that is bit-identical on all x86-64 processors with FMA.

Torch and its linear algebra library select instructions by processor. Wider registers sum in
a different order, so the last bits of a sum differ, and training amplifies the differences.
"""

import os

import torch

#: Torch's own loops without wide registers, and matrix products summed in a fixed order.
_SETTINGS = {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE"}


def use_portable_arithmetic() -> None:
    """Make torch use portable instructions and one thread in this process.

    Call it before any computation. It makes ListNet about half as fast.

    Some functions are not affected: ``sqrt``, ``log`` and others on whole tensors come from a
    library that still detects the processor, so optimisers must be ``fused``, with their own
    square roots. A test compares a training run with results from two other processors. The C
    library matters too: other operating systems, and processors without FMA, give different bits.
    """
    os.environ.update(_SETTINGS)
    torch.set_num_threads(1)
    capability = torch.backends.cpu.get_cpu_capability()
    if capability not in ("DEFAULT", "NO AVX"):
        raise RuntimeError(
            f"Torch already uses {capability}: call use_portable_arithmetic() before the first "
            "computation of the process."
        )

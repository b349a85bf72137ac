"""Every public way on a real GPU gives what it gives on the processor; both in float32."""

import copy

import pytest
import torch

from tests.fixtures.ways import WAYS, compare


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_gpu_gives_what_the_processor_gives(choosy_models, pictures, way):
    """Equal depths and labels; after one step at most 2 levels apart, after twelve 1 on average."""
    moved = copy.deepcopy(choosy_models).to("cuda")
    assert moved.compute.precision == "float32"
    few = pictures[1::2]
    compare(way(choosy_models, few), way(moved, few), levels=2, mean=1)

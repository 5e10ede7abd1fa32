"""The dense net on a CUDA device, where there is one."""

import numpy as np
import pytest

from likewise.inference import NetSettings, train_dense_net
from likewise.observations import clustered

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


def test_a_gpu_learns_what_a_cpu_learns():
    """The same first weights and batches; sums are rounded in another order."""
    data = clustered(60, 90, 3, observed_fraction=0.5, random_state=0)
    Z = data.observed.values
    nets = [
        train_dense_net(Z, Z, settings=NetSettings(n_steps=50, check_every=10, device=device), random_state=0)
        for device in ("cpu", "cuda")
    ]
    np.testing.assert_array_equal(nets[0].record.is_validation, nets[1].record.is_validation)
    np.testing.assert_allclose(nets[0].record.errors, nets[1].record.errors, rtol=1e-2)
    np.testing.assert_allclose(nets[0].predict_all(Z), nets[1].predict_all(Z), atol=0.02)


def test_a_gpu_predicts_what_a_cpu_predicts():
    from dataclasses import replace

    data = clustered(50, 3000, 3, observed_fraction=0.2, random_state=0)
    Z = data.observed.values
    net = train_dense_net(Z, Z, settings=NetSettings(n_steps=20, device="cuda"), random_state=0)
    assert net.device.startswith("cuda")
    on_cpu = replace(net, device="cpu")
    np.testing.assert_allclose(net.predict_all(Z), on_cpu.predict_all(Z), atol=1e-4)
    rows, columns = np.arange(50), np.arange(50) * 7
    np.testing.assert_allclose(net.entries(Z, rows, columns), on_cpu.entries(Z, rows, columns), atol=1e-4)


def test_the_same_seed_gives_the_same_net():
    Z = clustered(60, 90, 3, observed_fraction=0.5, random_state=0).observed.values
    first, again = (
        train_dense_net(Z, Z, settings=NetSettings(n_steps=100, device="cuda"), random_state=0)
        for _ in range(2)
    )
    for one, other in zip(first.weights, again.weights, strict=True):
        np.testing.assert_array_equal(one, other)

"""K1 of torch nets: by hand, never exceeded, and refused by the name of the layer."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from likewise.certificates import Certificate, Unavailable, model_constant
from likewise.errors import ModelError

torch = pytest.importorskip("torch")
nn = torch.nn


def dense(weights):
    weights = torch.tensor(weights, dtype=torch.float64)
    layer = nn.Linear(weights.shape[1], weights.shape[0], dtype=torch.float64)
    layer.weight.data = weights
    return layer


FIRST, LAST = [[3.0, 4.0, 0.0], [0.0, 0.0, 5.0]], [[2.0, 0.0]]


def test_a_net_by_hand():
    """Norms 5 and 2, slopes 1 and 1/4."""
    net = nn.Sequential(dense(FIRST), nn.ReLU(), dense(LAST), nn.Sigmoid())
    found = model_constant(net)
    assert found.value == pytest.approx(5 * 2 / 4, rel=1e-12)
    assert (found.n_inputs, found.n_outputs) == (3, 1)
    assert found.assumptions == ("the input of an individual is one vector",)


def test_layers_without_activation_between_are_multiplied_first():
    net = nn.Sequential(
        dense([[5.0, 0.0], [0.0, 0.2]]), nn.Identity(), nn.Dropout(), dense([[0.2, 5.0]])
    ).eval()
    assert model_constant(net).value == pytest.approx(np.sqrt(2), rel=1e-12)


def test_a_layer_used_twice_counts_twice():
    layer = dense([[3.0, 0.0], [0.0, 3.0]])
    assert model_constant(nn.Sequential(layer, nn.ReLU(), layer)).value == pytest.approx(9.0, rel=1e-12)


def test_batch_norm_divides_by_the_running_deviation_by_hand():
    """Variances 4 and 1/4 (eps 0), weights 1 and 3: factors 1/2 and 6."""
    norm = nn.BatchNorm1d(2, eps=0.0, dtype=torch.float64).eval()
    norm.running_var.data, norm.weight.data = torch.tensor([4.0, 0.25]), torch.tensor([1.0, 3.0])
    assert model_constant(norm).value == pytest.approx(6.0, rel=1e-12)
    assert model_constant(nn.Sequential(dense(np.eye(2)), norm)).value == pytest.approx(6.0, rel=1e-12)


def test_only_the_individuals_inputs_count():
    net = nn.Sequential(dense([[3.0, 4.0, 12.0]]), nn.Sigmoid())
    assert model_constant(net, inputs=slice(0, 2)).value == pytest.approx(5 / 4, rel=1e-12)


ACTIVATIONS = [
    *(nn.ReLU(), nn.ReLU6(), nn.Tanh(), nn.Hardtanh(), nn.Softplus(2.0), nn.Softsign(), nn.LogSigmoid()),
    *(
        nn.Sigmoid(),
        nn.LeakyReLU(0.2),
        nn.LeakyReLU(1.5),
        nn.ELU(),
        nn.ELU(2.0),
        nn.PReLU(init=1.3),
        nn.SiLU(),
        nn.GELU(),
    ),
]


@pytest.mark.parametrize("activation", ACTIVATIONS, ids=str)
def test_the_slope_of_an_activation_is_its_largest(activation):
    """Automatic derivatives on a fine grid reach the slope and never exceed it."""
    x = torch.linspace(-30, 30, 600_001, dtype=torch.float64, requires_grad=True)
    activation.double()(x).sum().backward()
    largest = x.grad.abs().max().item()
    slope = model_constant(activation).value
    assert largest <= slope * (1 + 1e-12)
    assert largest >= 0.999 * slope


def random_net(seed, *activations, softmax):
    torch.manual_seed(seed)
    layers, width = [], 6
    for activation in activations:
        layers += [nn.Linear(width, 8), nn.BatchNorm1d(8), activation, nn.Dropout(0.3)]
        width = 8
    net = nn.Sequential(nn.Flatten(), nn.Sequential(*layers), nn.Linear(width, 4))
    for _ in range(5):
        net(torch.randn(64, 6) * 2)  # running statistics of batch normalisation
    return nn.Sequential(net, nn.Softmax(dim=-1)).double().eval() if softmax else net.double().eval()


@pytest.mark.parametrize("softmax", [False, True])
@pytest.mark.parametrize("activation", [nn.ReLU(), nn.Tanh(), nn.GELU(), nn.LeakyReLU()], ids=str)
@pytest.mark.parametrize("norms", [("l2", "l2"), ("l1", "l2"), ("l1", "l1"), ("linf", "linf")], ids=str)
def test_no_pair_exceeds_the_constant(activation, softmax, norms):
    net = random_net(3, activation, nn.ReLU(), softmax=softmax)
    rng = np.random.default_rng(0)
    base = rng.normal(size=(100, 6))
    rows = np.vstack(
        [base, base + 1e-3 * rng.normal(size=base.shape), base + 1e-2 * np.eye(6)[np.arange(100) % 6]]
    )
    with torch.no_grad():
        values = net(torch.tensor(rows)).numpy()
    metrics = {"l1": "cityblock", "l2": "euclidean", "linf": "chebyshev"}
    found = model_constant(net, from_norm=norms[0], to_norm=norms[1])
    assert isinstance(found, Certificate)
    d, D = cdist(rows, rows, metrics[norms[0]]), cdist(values, values, metrics[norms[1]])
    assert found.holds_for(d, D, slack=1e-11).holds


class Own(nn.Module):
    def forward(self, x):
        return 100 * x


class OwnLinear(nn.Linear):
    def forward(self, x):
        return 100 * super().forward(x)


def hooked():
    layer = nn.Linear(2, 2)
    layer.register_forward_hook(lambda _module, _args, output: 100 * output)
    return layer


def patched(attribute="forward"):
    layer = nn.Linear(2, 2)
    setattr(layer, attribute, lambda x: 100 * x)
    return layer


@pytest.mark.parametrize(
    ("layer", "reason"),
    [
        (nn.Conv1d(1, 1, 3), "Conv1d"),
        (nn.LayerNorm(2), "LayerNorm"),
        (nn.LogSoftmax(dim=-1), "LogSoftmax"),
        (Own(), "Own"),
        (OwnLinear(2, 2), "OwnLinear"),
        (nn.utils.parametrizations.weight_norm(nn.Linear(2, 2)), "ParametrizedLinear"),
        (hooked(), "hooks"),
        (patched(), "hooks"),
        (patched("_call_impl"), "hooks"),
        (nn.Softplus(threshold=1), "Softplus(beta=1, threshold=1) jumps by 0.31 at its threshold"),
        (nn.Softplus(beta=0.5, threshold=10), "jumps by 9.1e-05"),
        (nn.Softplus(threshold=float("nan")), "Softplus"),
        (nn.Softplus(beta=0.0), "Softplus"),
        (nn.Dropout(), "training mode"),
        (nn.BatchNorm1d(2), "training mode"),
        (nn.BatchNorm1d(2, track_running_stats=False).eval(), "who else is in the batch"),
        (nn.Softmax(dim=0), "dim=0"),
        (nn.Flatten(0), "Flatten"),
        (nn.GELU(approximate="tanh"), "tanh"),
        (nn.Linear(3, 2), "followed by"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_has_no_known_bound_is_named(layer, reason):
    found = model_constant(nn.Sequential(nn.Linear(2, 2), nn.ReLU(), layer))
    assert isinstance(found, Unavailable)
    assert reason in found.reason


def test_weights_that_are_not_finite_are_refused():
    layer = dense(FIRST)
    layer.weight.data[0, 0] = torch.nan
    with pytest.raises(ModelError, match="NaN or infinite"):
        model_constant(layer)
    with pytest.raises(ModelError, match="complex"):
        model_constant(nn.Linear(2, 2, dtype=torch.complex64))


def test_single_precision_weights_are_read_as_they_are():
    layer = nn.Linear(3, 2)
    exact = np.linalg.norm(layer.weight.detach().double().numpy(), 2)
    assert exact <= model_constant(layer).value <= exact * (1 + 1e-12)


def test_softplus_jumps_as_its_refusal_says():
    """log(1 + e) - 1 = .3133 just above and below x = 1, whatever the step: no constant holds."""
    softplus = nn.Softplus(threshold=1)
    below, above = softplus(torch.tensor([1.0, 1.0 + 1e-7], dtype=torch.float64)).tolist()
    assert below - above == pytest.approx(np.log1p(np.e) - 1, rel=1e-6)


def test_what_softplus_does_at_its_threshold_is_assumed_to_be_rounding():
    found = model_constant(nn.Sequential(dense(FIRST), nn.Softplus()))
    assert found.value == pytest.approx(5.0)
    assert found.assumptions[1:] == ("a step of 2e-09 of Softplus at its threshold counts as rounding",)


@pytest.mark.parametrize("register", ["register_module_forward_hook", "register_module_forward_pre_hook"])
def test_global_hooks_are_seen(register):
    handle = getattr(nn.modules.module, register)(lambda *_: None)
    try:
        found = model_constant(dense(FIRST))
    finally:
        handle.remove()
    assert isinstance(found, Unavailable)
    assert "global hooks" in found.reason
    assert isinstance(model_constant(dense(FIRST)), Certificate)


def test_a_forward_pass_that_was_replaced_for_all_is_seen(monkeypatch):
    monkeypatch.setattr(nn.ReLU, "forward", lambda _self, x: 100 * x)
    found = model_constant(nn.Sequential(dense(FIRST), nn.ReLU()))
    assert isinstance(found, Unavailable)
    assert "replaced" in found.reason


def test_two_layers_of_tiny_weights_are_not_zero():
    """1e-170 twice is 1e-340, which no number is: the smallest one is above it. With outputs that do move, 0 would be false."""
    net = nn.Sequential(dense([[1e-170]]), nn.Identity(), dense([[1e-170]]))
    assert 0 < model_constant(net).value < 1e-300
    through = nn.Sequential(dense([[1e-170]]), nn.ReLU(), dense([[1e-170]]), nn.ReLU(), dense([[1e200]]))
    assert model_constant(through).value >= 1e-140

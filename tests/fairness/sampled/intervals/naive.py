"""The intervals by their definitions, slowly: exact binomial sums, loops over people, and a plain search over candidates."""

from __future__ import annotations

import math
from fractions import Fraction


def binomial_at_most(k, n, p):
    """P(X <= k) as an exact sum."""
    p = Fraction(p)
    return sum((math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1)), Fraction(0))


def search(holds, inside, outside, steps=60):
    """Last point, on the way from inside to outside, at which a property holds that is lost once and for all."""
    for _ in range(steps):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside


def clopper_pearson(k, n, error):
    """Each end by searching for the probability at which its tail has the error."""
    low = 0.0 if k == 0 else search(lambda p: 1 - binomial_at_most(k - 1, n, p) < error, 0.0, k / n)
    high = 1.0 if k == n else search(lambda p: binomial_at_most(k, n, p) > error, k / n, 1.0)
    return low, high


def quantile_ranks(n, q, error):
    """Largest r with P(B <= r - 1) <= error and smallest s with P(B >= s) <= error, by trying all."""
    low = max(r for r in range(n + 1) if r == 0 or binomial_at_most(r - 1, n, q) <= error)
    high = min(s for s in range(n + 2) if s == n + 1 or 1 - binomial_at_most(s - 1, n, q) <= error)
    return low, high


def divergence(p, t):
    """Kullback-Leibler divergence of two coins."""
    total = 0.0
    for a, b in ((p, t), (1 - p, 1 - t)):
        if a > 0:
            total += math.inf if b == 0 else a * math.log(a / b)
    return total


def chernoff(p, n, error):
    """Both ends of Hoeffding's inequality in its sharp form, by search."""
    allowed = math.log(1 / error) / n
    low = search(lambda t: divergence(p, t) <= allowed, p, 0.0)
    high = search(lambda t: divergence(p, t) <= allowed, p, 1.0)
    return low, high


def stakes(values, error):
    """Each bet from the values before it, one at a time."""
    found, mean, squares = [], 0.0, 0.0
    for t in range(len(values)):
        spread = (squares + mean**2) / t if t else 0.0
        found.append(math.sqrt(2 * math.log(1 / error) / (len(values) * spread)) if spread > 0 else 0.0)
        mean = sum(values[: t + 1]) / (t + 1)
        squares += (values[t] - mean) ** 2
    return found


def learner_wins(values, error, candidate):
    """Bet against a candidate mean with learned stakes, one draw at a time: did the capital ever reach 1 / error?"""
    capital = 1.0
    for value, stake in zip(values, stakes(values, error), strict=True):
        capital *= 1 + min(stake, 0.75 / candidate) * (value - candidate)
        if capital >= 1 / error:
            return True
    return False


def fixed_shares_win(values, error, candidate):
    """Spread the capital over fixed shares: is its mean at the end 1 / error?"""
    shares, share = [0.75], 0.75
    while share > 0.75 / len(values) * (1 + 1e-9):
        share /= 8
        shares.append(share)
    capitals = [math.prod(1 + share * (value / candidate - 1) for value in values) for share in shares]
    return sum(capitals) / len(capitals) >= 1 / error


def is_disproved(values, error, candidate):
    """Does one of the two players, with 4/5 and 1/5 of the error, disprove a candidate mean?"""
    return learner_wins(values, 0.8 * error, candidate) or fixed_shares_win(values, 0.2 * error, candidate)

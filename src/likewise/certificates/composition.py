"""Certificates of functions that follow one another, and of outputs that are rescaled."""

from __future__ import annotations

from math import isfinite
from typing import TypeVar

from likewise.certificates.certificate import AffineCertificate, Certificate, Domain, Unavailable
from likewise.certificates.operator_norm import POWER_ROUNDINGS, product_upward, upward
from likewise.checks import checked_finite, checked_instance, checked_text
from likewise.norms import Norm, conversion, norm_name, norm_order

Proved = TypeVar("Proved", Certificate, AffineCertificate)


def compose(
    preprocessing: Proved | Unavailable, model: Certificate | Unavailable, *, name: str | None = None
) -> Proved | Unavailable:
    """Prove a bound for the model after the pre-processing: K1 times K*.

    Parameters
    ----------
    preprocessing : Certificate, AffineCertificate or Unavailable
        Of the first function.
    model : Certificate or Unavailable
        Of the second, on what the first puts out: the same features in the same units.
    name : str, optional
        By default both names.

    Returns
    -------
    Certificate, AffineCertificate or Unavailable
        Of the kind of the first; Unavailable if either is, or where the norms between them do not fit and the inequality that
        would join them needs a dimension that neither tells.

    Examples
    --------
    >>> first = Certificate(name="K*", value=0.5, from_norm="l1", to_norm="l2")
    >>> print(compose(first, Certificate(name="K1", value=4.0, from_norm="l2", to_norm="linf")))
    K1 K* = 2 (l1 to linf; every pair of rows, seen in the fit or not)
    """
    checked_instance(
        "preprocessing", preprocessing, Certificate | AffineCertificate | Unavailable, "a certificate"
    )
    checked_instance(
        "model", model, Certificate | Unavailable, "a Certificate", "model_constant(...) makes one"
    )
    joint = f"{model.name} {preprocessing.name}" if name is None else checked_text("name", name, "None")
    if isinstance(preprocessing, Unavailable):
        return Unavailable(joint, f"{preprocessing.name} has none: {preprocessing.reason}")
    if isinstance(model, Unavailable):
        return Unavailable(joint, f"{model.name} has none: {model.reason}")
    return _join(preprocessing, model, joint)


def _join(first: Proved, second: Certificate, name: str) -> Proved | Unavailable:
    known = [n for n in (first.n_outputs, second.n_inputs) if n is not None]
    if len(set(known)) > 1:
        return Unavailable(name, f"{first.name} gives {known[0]} features, {second.name} takes {known[1]}")
    inner, outer = norm_order(first.to_norm), norm_order(second.from_norm)
    # Of a smaller q the norm is larger, by a factor that grows with the number of features.
    if outer < inner and not known:
        return Unavailable(
            name, f"from {first.to_norm} to {second.from_norm} a bound needs the number of features"
        )
    factor = conversion(inner, outer, *known[:1]) if known else 1.0
    constant = product_upward(second.value, upward(factor, POWER_ROUNDINGS))
    # A product that overflows is no constant: said here, before a certificate would refuse it.
    largest = max(vars(first).get(part, 0.0) for part in ("value", "slope", "offset"))
    if not isfinite(product_upward(constant, largest)):
        return Unavailable(name, "the product of the constants is larger than the largest number")
    joined = f"{first.name} bounds features in {first.to_norm}, {second.name} takes them in {second.from_norm}: times {factor:.4g}"
    return first.times(
        constant,
        name=name,
        to_norm=second.to_norm,
        domain=_common(first.domain, second.domain),
        function=", then ".join(filter(None, (first.function, second.function))),
        assumptions=tuple(dict.fromkeys(first.assumptions + second.assumptions)),
        proof=(*first.proof, *second.proof, joined),
        n_outputs=second.n_outputs,
    )


def _common(*domains: Domain) -> Domain:
    return Domain.SEEN if Domain.SEEN in domains else Domain.SEEN_AND_UNSEEN


def from_norm(certificate: Certificate, norm: Norm) -> Certificate | Unavailable:
    """Restate a certificate for distances in another norm: times the smallest c with ``||x||_from <= c ||x||_q`` for every x.

    Unavailable where the number of inputs is needed and not known.

    >>> print(from_norm(Certificate(name="K*", value=0.5, from_norm="l1", to_norm="l2", n_inputs=9), "linf"))
    K* = 4.5 (linf to l2; every pair of rows, seen in the fit or not)
    """
    old, new = norm_order(certificate.from_norm), norm_order(norm)
    if old >= new:  # the smaller q, the larger the norm
        factor = 1.0
    elif certificate.n_inputs is None:
        return Unavailable(certificate.name, f"from {norm_name(new)} a bound needs the number of features")
    else:
        factor = upward(conversion(new, old, certificate.n_inputs), POWER_ROUNDINGS)
    step = f"||x||_{certificate.from_norm[1:]} <= {factor:.4g} ||x||_{norm_name(new)[1:]}"
    return certificate.times(factor, from_norm=norm_name(new), proof=(*certificate.proof, step))


def scaled(certificate: Proved, factor: float, *, name: str | None = None) -> Proved:
    """Return the certificate of ``factor * f + b``, such as ``2 h - 1`` of a probability h.

    Parameters
    ----------
    certificate : Certificate or AffineCertificate
        Of f.
    factor : float
        Of any sign.
    name : str, optional
        By default the certificate's.

    Raises
    ------
    InputError
        If the factor is not finite.

    Examples
    --------
    >>> h = Certificate(name="K1", value=0.25, from_norm="l2", to_norm="l2")
    >>> print(scaled(h, 2, name="2 h - 1"))
    2 h - 1 = 0.5 (l2 to l2; every pair of rows, seen in the fit or not)
    """
    checked_instance("certificate", certificate, Certificate | AffineCertificate, "a certificate")
    factor = checked_finite("factor", factor)
    title = certificate.name if name is None else checked_text("name", name, "None")
    step = f"outputs times {factor:g}"
    return certificate.times(abs(factor), name=title, proof=(*certificate.proof, step))

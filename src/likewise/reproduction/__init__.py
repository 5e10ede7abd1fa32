"""The paper's four experiments, every arm on the same data, beside the numbers that it prints."""

from likewise.reproduction.algorithm import Inferred
from likewise.reproduction.arms import ARMS, Arm
from likewise.reproduction.experiments import EXPERIMENTS, Experiment
from likewise.reproduction.published import PublishedCell, published_cell
from likewise.reproduction.reproduction import Reproduction, reproduce
from likewise.reproduction.results import Summary
from likewise.reproduction.settings import Settings

__all__ = [
    "ARMS",
    "EXPERIMENTS",
    "Arm",
    "Experiment",
    "Inferred",
    "PublishedCell",
    "Reproduction",
    "Settings",
    "Summary",
    "published_cell",
    "reproduce",
]

"""Room of the inference algorithms, h: from a complete matrix to an output for each individual."""

from likewise.inference.knn_recommender import KNNRecommender
from likewise.inference.model import MODELS, Model, as_model
from likewise.inference.nearest_neighbors import nearest_neighbor_outputs
from likewise.inference.read_groups import read_groups
from likewise.inference.read_outputs import read_outputs

__all__ = [
    "MODELS",
    "KNNRecommender",
    "Model",
    "as_model",
    "nearest_neighbor_outputs",
    "read_groups",
    "read_outputs",
]

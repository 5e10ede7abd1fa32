"""Room of the inference algorithms, h: from a complete matrix to an output for each individual."""

from likewise.inference.model import Model, TrainedModel
from likewise.inference.neighbors.nearest_neighbors import NearestNeighborModel, nearest_neighbor_outputs
from likewise.inference.neighbors.recommender import KNNRecommender
from likewise.inference.neighbors.smooth_neighbors import (
    SmoothNeighborModel,
    SmoothNeighbors,
    smooth_neighbor_outputs,
)
from likewise.inference.net.dense_net import DenseNet, TrainingRecord, dense_net_outputs, train_dense_net
from likewise.inference.net.recommender import DenseNetRecommender
from likewise.inference.net.training import NetSettings
from likewise.inference.registry import MODELS, as_model, register_model
from likewise.observations.reading.groups import read_groups
from likewise.observations.reading.outputs import read_outputs

__all__ = [
    "MODELS",
    "DenseNet",
    "DenseNetRecommender",
    "KNNRecommender",
    "Model",
    "NearestNeighborModel",
    "NetSettings",
    "SmoothNeighborModel",
    "SmoothNeighbors",
    "TrainedModel",
    "TrainingRecord",
    "as_model",
    "dense_net_outputs",
    "nearest_neighbor_outputs",
    "read_groups",
    "read_outputs",
    "register_model",
    "smooth_neighbor_outputs",
    "train_dense_net",
]

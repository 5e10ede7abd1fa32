"""Room of the inference algorithms, h: from a complete matrix to an output for each individual."""

from likewise.inference.model import MODELS, Model, as_model
from likewise.inference.neighbors.nearest_neighbors import nearest_neighbor_outputs
from likewise.inference.neighbors.recommender import KNNRecommender
from likewise.inference.net.dense_net import DenseNet, TrainingRecord, dense_net_outputs, train_dense_net
from likewise.inference.net.recommender import DenseNetRecommender
from likewise.inference.net.settings import NetSettings
from likewise.inference.trained_model import TrainedModel
from likewise.observations.reading.groups import read_groups
from likewise.observations.reading.outputs import read_outputs

__all__ = [
    "MODELS",
    "DenseNet",
    "DenseNetRecommender",
    "KNNRecommender",
    "Model",
    "NetSettings",
    "TrainedModel",
    "TrainingRecord",
    "as_model",
    "dense_net_outputs",
    "nearest_neighbor_outputs",
    "read_groups",
    "read_outputs",
    "train_dense_net",
]

"""Room of the inference algorithms, h: from a complete matrix to an output for each individual."""

from likewise.inference.dense_net import (
    DenseNet,
    NetSettings,
    TrainingRecord,
    dense_net_outputs,
    train_dense_net,
)
from likewise.inference.dense_net_recommender import DenseNetRecommender
from likewise.inference.knn_recommender import KNNRecommender
from likewise.inference.model import MODELS, Model, as_model
from likewise.inference.nearest_neighbors import nearest_neighbor_outputs
from likewise.inference.read_groups import read_groups
from likewise.inference.read_outputs import read_outputs
from likewise.inference.trained_model import TrainedModel

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

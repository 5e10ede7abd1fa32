"""Room of the inference algorithms, h: from a complete matrix to an output for each individual."""

from likewise.inference.knn_recommender import KNNRecommender
from likewise.inference.nearest_neighbors import nearest_neighbor_outputs

__all__ = ["KNNRecommender", "nearest_neighbor_outputs"]

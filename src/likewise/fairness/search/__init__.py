"""The worst pairs of all, found without looking at all: bounds on d and D, and a search that visits the most promising first."""

"""K1: Lipschitz constants of models, read as layers whatever library they come from."""

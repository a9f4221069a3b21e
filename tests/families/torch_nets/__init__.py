"""Small seeded PyTorch modules, one module of Python for each group of model families."""

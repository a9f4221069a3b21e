"""The parts of generate.py and generate_int8.py: a module for each family of operators, and the harness."""

"""What generate.py and generate_int8.py are made from: a module for each family of operators, and the harness."""

"""The parts of bindings/generate.py: a header as objects, and one module for each kind of file that is written."""

"""What bindings/generate.py consists of: a header as objects, and one module for each thing that is written."""

"""The operator cases: importing the modules of this folder and of `forms` registers them."""
import importlib
import pkgutil

import generator
import generator.forms
from generator.net import CASES  # noqa: F401, the program takes both lists from here
from generator.wire_net import CASES as WIRE_CASES  # noqa: F401

for package in (generator, generator.forms):
    for module in sorted(found.name for found in pkgutil.iter_modules(package.__path__)):
        importlib.import_module(f"{package.__name__}.{module}")

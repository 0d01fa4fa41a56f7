# SPDX-License-Identifier: MIT
"""A script of the lab as a module, for tests of its parts; it can import the modules of the lab."""

import importlib.machinery
import importlib.util
import os
import sys

LAB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lab")
sys.dont_write_bytecode = True
sys.path.insert(0, LAB)


def script_load(name):
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(LAB, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module

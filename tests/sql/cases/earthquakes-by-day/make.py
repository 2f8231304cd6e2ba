#!/usr/bin/env python3
"""make.py DATA IN: both catalogues as they are."""
import os
import shutil
import sys

for name in ("earthquakes.txt", "blasts.txt"):
    shutil.copyfile(os.path.join(sys.argv[1], name), os.path.join(sys.argv[2], name))

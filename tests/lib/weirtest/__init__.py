"""What the test layers share: running weir, comparing outputs, reporting. Python's standard library only."""

"""Cases made systematically: one operator in one form each, over ranks 0 to 6, odd sizes, extents of 1 and 0, and all of
its types."""

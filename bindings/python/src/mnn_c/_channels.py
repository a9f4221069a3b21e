"""A base of the enumeration of pixel formats: the numbers of their channels."""

from __future__ import annotations


class Channels:
    value: int

    @property
    def channels(self) -> int:
        """The values of a pixel; 0 for YUV formats."""
        return {0: 4, 1: 3, 2: 3, 3: 1, 4: 4}.get(self.value, 0)

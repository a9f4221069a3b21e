"""An older build of libmnn_c, through the same C interface: the engine of --before."""

from types import SimpleNamespace

from engines import ours


class Engine(ours.Engine):
    def __init__(self, options):
        super().__init__(SimpleNamespace(**{**vars(options), "library": options.before}))

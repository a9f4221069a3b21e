"""Predictions on a Spark cluster: a function for DataFrame.mapInPandas.

    model = mnn_c.spark.store(spark, "digits.mnn")
    digits = mnn_c.spark.predictor(model, keep=["id"], outputs={"digit": lambda out: out["scores"].argmax(1)})
    spark.read.parquet("images/").mapInPandas(digits, "id long, digit long").write.parquet("digits/")
"""

from __future__ import annotations

import os
import uuid
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, Union

import numpy as np

from ._node import Content, StoredModel, contents_of, digest_of
from ._optional import needed
from ._processes import Model
from .batches import Columns, Predictor

needed("pyspark", "spark")
_pandas: Any = needed("pandas", "spark")

_KEPT = 4  # the number of predictors that a worker process keeps, because Spark reuses it for further tasks
_predictors: Dict[str, Predictor] = {}


@dataclass(frozen=True)
class _FromBroadcast:
    """Fetches the contents of a StoredModel."""

    broadcast: Any

    def __call__(self) -> Dict[str, Any]:
        contents: Dict[str, Any] = self.broadcast.value
        return contents


def store(spark: Any, model: Union[str, "os.PathLike[str]", Content]) -> StoredModel:
    """Broadcasts a model, a file with its weights or bytes, in the session `spark`; each machine copies it once."""
    contents = {suffix: bytes(data) for suffix, data in contents_of(model).items()}
    return StoredModel(digest_of(contents), _FromBroadcast(spark.sparkContext.broadcast(contents)))


def predictor(model: Model, **options: Any) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The function for mapInPandas, whose schema names the columns that are kept and the new ones.

    options: those of batches.Predictor. `threads` is 1 unless it is given: set it to spark.task.cpus. A function
    `progress` may add to accumulators of Spark. A row of an array has the type array<float>, nested for more
    dimensions.
    """
    name = uuid.uuid4().hex

    def predict(frames: Iterator[Any]) -> Iterator[Any]:
        # pickled by its name, so that it uses the variables of the worker's own module
        return _predicted(name, model, options, frames)

    return predict


def _predicted(name: str, model: Model, options: Dict[str, Any], frames: Iterator[Any]) -> Iterator[Any]:
    predict = _predictors.get(name)
    if predict is not None:
        _predictors[name] = _predictors.pop(name)  # as the last one to be closed
    else:
        predict = _predictors[name] = Predictor(model, **options)
        while len(_predictors) > _KEPT:
            _predictors.pop(next(iter(_predictors))).close()
    predict.progress = options.get("progress")  # this task's, with the accumulators that Spark collects after it
    for frame in frames:
        yield _frame(predict({column: frame[column].to_numpy() for column in frame.columns}))


def _frame(columns: Columns) -> Any:
    """Returns a data frame, in which rows of several dimensions are lists of lists."""
    return _pandas.DataFrame({name: _series(column) for name, column in columns.items()})


def _series(column: Any) -> Any:
    if column.ndim == 1:
        return column
    rows = np.empty(len(column), object)
    for i, row in enumerate(column):
        rows[i] = row if row.ndim == 1 else row.tolist()
    return rows

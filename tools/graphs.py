"""ONNX graphs built node by node, in float32 and in int8, and how they are run and compared."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

MICROSOFT = "com.microsoft"
TABLE = "table"
"""The name of the embedding table, the one tensor that may lie in a file of its own."""

Array = npt.NDArray[Any]


class Graph:
    """A graph under construction. A subclass may say how a table is read and a matrix applied."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, value: Array | np.generic | list[int], name: str | None = None) -> str:
        """The name of a new constant."""
        name = name or f"c{len(self.constants)}"
        array = np.ascontiguousarray(value).reshape(np.shape(value))
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def node(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> list[str]:
        """The names of the outputs of a new node."""
        names = [f"n{len(self.nodes)}_{place}" for place in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, **attributes))
        return names

    def one(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """The name of the single output of a new node."""
        return self.node(kind, *inputs, **attributes)[0]

    def table(self, rows: Array) -> str:
        """The rows of a table that the input ids name."""
        return self.one("Gather", self.constant(rows, TABLE), "input_ids")

    def linear(self, x: str, weights: Array, bias: Array, after_gelu: bool = False) -> str:
        """x times the transposed weights, plus the bias."""
        return self.one("Add", self.one("MatMul", x, self.constant(weights.T)), self.constant(bias))

    def normalised(self, x: str, scale: Array, shift: Array, epsilon: float) -> str:
        """Layer normalisation over the last axis."""
        return self.one("LayerNormalization", x, self.constant(scale), self.constant(shift), epsilon=epsilon)

    def float_mask(self) -> str:
        """The attention mask as 0.0 and 1.0."""
        return self.one("Cast", "attention_mask", to=TensorProto.FLOAT)

    def finished(self, name: str, vector: str, width: int, centre: Array | None) -> onnx.ModelProto:
        """The model whose answer is the unit vector of *vector*, seen from *centre* if there is one."""
        if centre is not None:
            unit = self.one("LpNormalization", vector, axis=-1, p=2)
            vector = self.one("Sub", unit, self.constant(centre))
        self.nodes.append(helper.make_node("LpNormalization", [vector], ["embedding"], axis=-1, p=2))
        inputs = [
            helper.make_tensor_value_info(each, TensorProto.INT64, ["batch", "length"])
            for each in ("input_ids", "attention_mask")
        ]
        output = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", width])
        graph = helper.make_graph(self.nodes, name, inputs, [output], self.constants)
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="mnemic")


class Int8Graph(Graph):
    """The same graph with int8 weights, one scale a row, and activations of eight bits.

    Activations are scaled row by row and not, as dynamic quantisation does, by the extremes of the whole
    batch: a text's vector does not depend on the texts beside it.
    """

    def table(self, rows: Array) -> str:
        scales, whole = int8_rows(rows)
        found = self.one("Gather", self.constant(whole, TABLE), "input_ids")
        scale = self.one("Gather", self.constant(scales[:, None]), "input_ids")
        return self.one("Mul", self.one("Cast", found, to=TensorProto.FLOAT), scale)

    def linear(self, x: str, weights: Array, bias: Array, after_gelu: bool = False) -> str:
        size, step, zero = self.positive_rows(x) if after_gelu else self.signed_rows(x)
        whole = self.one("QuantizeLinear", self.one("Div", x, size), step, zero)
        scales, matrix = int8_rows(weights)
        inputs = (whole, self.constant(matrix.T), step, self.constant(scales), zero)
        product = self.one("MatMulIntegerToFloat", *inputs, domain=MICROSOFT)
        return self.one("Add", self.one("Mul", product, size), self.constant(bias))

    def signed_rows(self, x: str) -> tuple[str, str, str]:
        """The size of each row, and the step and zero of values between -1 and 1."""
        top = self.one("ReduceMax", self.one("Abs", x), self.constant(np.array([-1])), keepdims=1)
        size = self.one("Max", top, self.constant(np.float32(1e-9)))  # a padded row may be all zeros
        return size, self.constant(np.float32(1 / 127)), self.constant(np.uint8(128))

    def positive_rows(self, x: str) -> tuple[str, str, str]:
        """The same for what GELU gives: never below -0.17, so fewer steps are spent below zero."""
        top = self.one("ReduceMax", x, self.constant(np.array([-1])), keepdims=1)
        size = self.one("Max", top, self.constant(np.float32(1)))
        return size, self.constant(np.float32(1.17 / 255)), self.constant(np.uint8(37))


def int8_rows(matrix: Array) -> tuple[Array, Array]:
    """A scale a row, and the rows in whole numbers from -127 to 127."""
    scales = (np.abs(matrix).max(axis=1) / 127).astype(np.float32)
    scales[scales == 0] = 1
    return scales, np.clip(np.round(matrix / scales[:, None]), -127, 127).astype(np.int8)


def session(model: onnx.ModelProto) -> Any:
    """The model, run as the embedder runs it: by a runtime that tells nobody of this machine."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def vectors(model: onnx.ModelProto, texts_ids: Sequence[Sequence[int]]) -> Array:
    """The vectors of several texts, each run alone."""
    running = session(model)
    inputs = [
        {"input_ids": np.array([ids]), "attention_mask": np.ones((1, len(ids)), int)} for ids in texts_ids
    ]
    return np.concatenate([running.run(None, each)[0] for each in inputs])


def milliseconds(model: onnx.ModelProto, length: int) -> float:
    """The least time one text of *length* tokens takes, on one thread."""
    running, ids = session(model), np.full((1, length), 2000)
    best = float("inf")
    for _ in range(30):
        start = time.perf_counter()
        running.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        best = min(best, time.perf_counter() - start)
    return best * 1000


def files(model: onnx.ModelProto) -> dict[str, bytes]:
    """The model's files: the graph, and the table beside it, which the runtime then maps instead of copying."""
    (table,) = (tensor for tensor in model.graph.initializer if tensor.name == TABLE)
    rows = table.raw_data
    table.ClearField("raw_data")
    table.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "table.bin"), ("offset", "0"), ("length", str(len(rows)))):
        table.external_data.add(key=key, value=value)
    return {"model.onnx": model.SerializeToString(deterministic=True), "table.bin": rows}

"""Attention as converters write it (`--transformerFuse`): without a cache, with and without a mask."""
import numpy as np

from generator.wire_net import wire_cases


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def expected(q, k, v, add=None, scale=None, sinks=None):
    """Computes in double precision; q, k, v [batch, rows, heads, depth], `add` broadcast to [batch, heads, queries,
    keys]."""
    q, k, v = (a.astype(np.float64) for a in (q, k, v))
    k, v = (np.repeat(a, q.shape[2] // a.shape[2], 2) for a in (k, v))
    scores = np.einsum("bqhd,bkhd->bhqk", q, k) * (q.shape[3] ** -0.5 if scale is None else scale)
    if add is not None:
        scores = scores + add
    if sinks is not None:
        column = np.broadcast_to(sinks.astype(np.float64)[None, :, None, None], (*scores.shape[:3], 1))
        scores = np.concatenate([scores, column], -1)
    weights = softmax(scores)[..., :k.shape[1]]
    result = np.einsum("bhqk,bkhd->bqhd", weights, v)
    return result.reshape(*q.shape[:2], q.shape[2] * v.shape[3])


def operands(n, batch=1, queries=5, keys=None, heads=2, key_heads=None, depth=6, value_depth=None):
    keys, key_heads = keys or queries, key_heads or heads
    return [n.floats(batch, queries, heads, depth), n.floats(batch, keys, key_heads, depth),
            n.floats(batch, keys, key_heads, value_depth or depth)]


def attention(n, name, qkv, mask=None, sinks=None, main=None, **formula):
    inputs = [n.feed(a) for a in qkv]
    if mask is not None:
        inputs.append(n.feed(mask))
        keep = mask.dtype == np.int32
        formula["add"] = np.where(mask != 0, 0.0, -1e30) if keep else mask.astype(np.float64)
    if sinks is not None:
        inputs.append(n.feed(sinks))
    y = n.op("Attention", inputs, "AttentionParam", {"kv_cache": False, **(main or {})})
    value = expected(*qkv, sinks=sinks, **formula)
    if (main or {}).get("output_c4"):
        value = value.reshape(-1, value.shape[-1], 1, 1)
    n.expect(name, y, value)


@wire_cases("attention__plain")
def _(n):
    """Without a mask every query sees all keys, which is the converter's form of plain self-attention."""
    attention(n, "self", operands(n))
    attention(n, "batch", operands(n, batch=2, queries=7, heads=3, depth=4))
    attention(n, "cross", operands(n, queries=3, keys=9))


@wire_cases("attention__sizes")
def _(n):
    attention(n, "one_query", operands(n, queries=1, keys=17, depth=5))
    attention(n, "one_key", operands(n, queries=4, keys=1, depth=3))
    attention(n, "odd_depths", operands(n, queries=6, depth=7, value_depth=19))
    attention(n, "shared_keys", operands(n, queries=4, heads=6, key_heads=2, depth=4))
    attention(n, "scaled", operands(n), main={"attnScale": 0.125}, scale=0.125)
    attention(n, "packed_output", operands(n, batch=2, queries=3), main={"output_c4": True})


@wire_cases("attention__long")
def _(n):
    """Several blocks of keys, the last of them short."""
    attention(n, "self", operands(n, queries=2, keys=530, heads=1, depth=1))
    n2 = operands(n, queries=2, keys=300, heads=1, depth=1)
    mask = np.where(np.arange(300) < 256, np.float32(-1e9), n.floats(300)).astype(np.float32)
    attention(n, "first_block_masked", n2, mask=mask)


@wire_cases("attention__mask")
def _(n):
    causal = np.where(np.tri(5, dtype=bool), np.float32(0), np.float32(np.finfo(np.float32).min))
    attention(n, "causal", operands(n), mask=causal.reshape(1, 1, 5, 5).astype(np.float32))
    attention(n, "causal_rank2", operands(n), mask=np.where(np.tri(5) > 0, 0, -np.inf).astype(np.float32))
    attention(n, "padding", operands(n, batch=2), mask=np.where(n.floats(2, 1, 1, 5) > 0.5, -1e4, 0).astype(np.float32))
    attention(n, "heads", operands(n, heads=3), mask=n.floats(1, 3, 5, 5))


@wire_cases("attention__mask_ranks")
def _(n):
    """A mask is broadcast like the addition that it represents."""
    attention(n, "batch_and_heads", operands(n, batch=2, queries=3), mask=n.floats(2, 2, 3, 3))
    attention(n, "rank3", operands(n), mask=n.floats(2, 1, 5))
    attention(n, "cross", operands(n, queries=3, keys=7), mask=n.floats(1, 1, 3, 7))
    attention(n, "one_column", operands(n), mask=n.floats(1, 1, 5, 1))
    attention(n, "keys_only", operands(n), mask=n.floats(5))


@wire_cases("attention__condition")
def _(n):
    """A mask of int32 is the condition of a Where that kept the scores."""
    attention(n, "causal", operands(n), mask=np.tri(5, dtype=np.int32).reshape(1, 1, 5, 5))
    attention(n, "padding", operands(n, batch=2, queries=11), mask=(n.floats(2, 1, 1, 11) > -1).astype(np.int32))
    attention(n, "one_column", operands(n), mask=np.array([1, 0, 7, -1, 0], np.int32).reshape(1, 1, 5, 1))


@wire_cases("attention__sinks")
def _(n):
    """A score of each head that only takes part in the denominator."""
    zero = np.zeros((1, 1, 1, 1), np.float32)
    attention(n, "own", operands(n, queries=4), mask=zero, sinks=n.floats(2))
    attention(n, "large", operands(n, queries=4, heads=3), mask=zero, sinks=np.array([30, -30, 100], np.float32))


@wire_cases("attention__empty")
def _(n):
    q, k, v = operands(n, queries=3)
    attention(n, "no_query", [q[:, :0], k, v])
    attention(n, "no_batch", [q[:0], k[:0], v[:0]])
    attention(n, "no_value", [q, k, v[..., :0]])
    attention(n, "no_depth", [q[..., :0], k[..., :0], v], scale=1)
    inputs = [n.feed(a) for a in (q, k[:, :0], v[:, :0])]
    y = n.op("Attention", inputs, "AttentionParam", {"kv_cache": False})
    n.expect("no_key", y, np.zeros((1, 3, 12)))  # as a product without terms

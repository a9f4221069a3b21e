"""Operators of ai.onnx.ml, as converters of scikit-learn, XGBoost and LightGBM write them."""
import itertools

import numpy as np
from onnx import helper, numpy_helper

from cases.packing import LEARNED, RANDOM, floats, own_case

NAN, INFINITE = float("nan"), float("inf")
TRANSFORMS = "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"
MODES = "LEQ", "LT", "GTE", "GT", "EQ", "NEQ"


def node(op, inputs=("x",), outputs=("y",), **attributes):
    return helper.make_node(op, list(inputs), list(outputs), domain=LEARNED, **attributes)


def case(name, op, feed, outputs=("y",), learned=3, free=True, **attributes):
    """A case of one node whose rows are free."""
    feed = feed if isinstance(feed, dict) else {"x": feed}
    rows = {key: (0,) for key, value in feed.items() if value.ndim > 1} if free else ()
    return own_case(f"learned_{name}", [node(op, feed, outputs, **attributes)], feed, outputs=outputs, free=rows, learned=learned)


def numbers(*shape):
    return [float(one) for one in floats(*shape).ravel()]


def preparation_cases():
    x = floats(5, 3)
    gaps = np.where(RANDOM.random((5, 3)) < .4, np.float32(NAN), x)
    yield case("scaler", "Scaler", x, scale=[2., -.5, 3.], offset=[1., 0., -2.])
    yield case("scaler_of_one_number", "Scaler", floats(2, 3, 4), scale=[2.], offset=[1.], free=False)
    yield case("scaler_of_a_list", "Scaler", x[0], scale=[2., -.5, 3.], offset=[1., 0., -2.])
    yield case("scaler_of_integers", "Scaler", RANDOM.integers(-9, 9, (4, 2)), scale=[2., .5], offset=[1., -3.])
    with_zeros = np.concatenate([x, np.zeros((1, 3), np.float32), -np.abs(x[:1])])
    for norm in "MAX", "L1", "L2":
        yield case(f"normalizer_{norm}", "Normalizer", with_zeros, norm=norm)
        yield case(f"normalizer_{norm}_of_a_list", "Normalizer", x[1], norm=norm)
    yield case("normalizer_of_integers", "Normalizer", RANDOM.integers(-9, 9, (4, 3)), norm="L2")
    yield case("binarizer", "Binarizer", np.round(x, 1), threshold=.3)
    yield case("imputer_one_value", "Imputer", gaps, imputed_value_floats=[5.], replaced_value_float=NAN)
    yield case("imputer_value_for_each", "Imputer", gaps, imputed_value_floats=[5., 6., 7.], replaced_value_float=NAN)
    yield case("imputer_of_a_number", "Imputer", np.round(x), imputed_value_floats=[5., 6., 7.], replaced_value_float=1.)
    yield case("imputer_of_integers", "Imputer", RANDOM.integers(0, 3, (4, 2)), imputed_value_int64s=[5, 6], replaced_value_int64=2)
    yield case("vectorizer", "FeatureVectorizer", {"a": x, "b": floats(5, 2), "c": floats(5, 4)}, inputdimensions=[3, 4, 1], free=False)
    yield case("vectorizer_of_integers", "FeatureVectorizer", {"a": RANDOM.integers(0, 9, (4, 2))}, inputdimensions=[2])
    yield case("extractor", "ArrayFeatureExtractor", {"x": x, "i": np.array([2, 0])}, free=False)
    yield case("extractor_of_a_number", "ArrayFeatureExtractor", {"x": x, "i": np.array(1)})
    yield case("extractor_of_a_list", "ArrayFeatureExtractor", {"x": x[0], "i": np.array([[1, 2]])}, free=False)
    yield case("one_hot", "OneHotEncoder", RANDOM.integers(0, 6, (4, 2)), cats_int64s=[4, 1, 3])
    yield case("one_hot_of_floats", "OneHotEncoder", np.array([[1.5, 2], [-1.5, 7]], np.float32), cats_int64s=[-1, 1, 2])
    yield case("one_hot_of_a_list", "OneHotEncoder", np.array([3, 1, 8]), cats_int64s=[1, 3])


def label_cases():
    integers, real = RANDOM.integers(0, 5, (4, 3)), np.array([[1, NAN, .5], [2.5, -0., 1]], np.float32)
    yield case("labels", "LabelEncoder", integers, keys_int64s=[1, 3, 2], values_int64s=[10, -20, 30], learned=2)
    yield case("labels_listed_twice", "LabelEncoder", integers, keys_int64s=[1, 3, 1], values_int64s=[10, 20, 30], default_int64=7, learned=2)
    yield case("labels_to_floats", "LabelEncoder", integers, keys_int64s=[1, 3, 2], values_floats=[.1, INFINITE, .3], default_float=9., learned=2)
    for opset in 2, 4:  # NaN is a key from 4 on
        yield case(f"labels_of_floats_{opset}", "LabelEncoder", real, keys_floats=[0., NAN, 2.5], values_int64s=[10, 20, 30], learned=opset)
    tensors = {name: numpy_helper.from_array(np.array(values), name) for name, values in
               (("keys_tensor", [1, 2]), ("values_tensor", [1.5, 2.]), ("default_tensor", [-7.]))}
    yield case("labels_of_tensors", "LabelEncoder", integers, learned=4, **tensors)


def linear_cases():
    x, both = floats(6, 5), ("label", "scores")
    for transform in TRANSFORMS:
        yield case(f"regressor_{transform}", "LinearRegressor", x, coefficients=numbers(3, 5), intercepts=numbers(3), targets=3,
                   post_transform=transform)
        yield case(f"classifier_{transform}", "LinearClassifier", x, both, coefficients=numbers(4, 5), intercepts=numbers(4),
                   classlabels_ints=[7, -2, 9, 4], post_transform=transform, multi_class=1)
        yield case(f"two_classes_{transform}", "LinearClassifier", x, both, coefficients=numbers(2, 5), intercepts=numbers(2),
                   classlabels_ints=[7, 3], post_transform=transform)
        yield case(f"one_row_{transform}", "LinearClassifier", x, both, coefficients=numbers(5), intercepts=[.1],
                   classlabels_ints=[7, 3], post_transform=transform)
    yield case("regressor_of_one", "LinearRegressor", x, coefficients=numbers(5), intercepts=[.3], post_transform="LOGISTIC")
    yield case("regressor_without_intercepts", "LinearRegressor", x[0], coefficients=numbers(5))
    zeros = np.array([[0, 0], [1, -1], [0, 2]], np.float32)
    yield case("zeros_stay", "LinearRegressor", zeros, coefficients=[1., 0., 0., 1., 1., 1.], intercepts=[0., 0., 1.], targets=3,
               post_transform="SOFTMAX_ZERO")
    yield case("classifier_of_integers", "LinearClassifier", RANDOM.integers(-5, 5, (4, 3)), both, coefficients=numbers(3, 3),
               intercepts=numbers(3), classlabels_ints=[0, 1, 2])


class Trees:
    """Random trees as attributes. modes: those of the nodes; depth: of the deepest leaves; steps: whether thresholds are whole."""

    def __init__(self, count, features, modes=("LEQ",), depth=4, missing=False, whole=False):
        self.nodes = {key: [] for key in ("treeids", "nodeids", "modes", "featureids", "values", "truenodeids", "falsenodeids")}
        self.missing, self.leaves = [], []
        for tree in range(count):
            self.free = itertools.count()
            self.grow(tree, features, modes, depth, missing, whole)

    def grow(self, tree, features, modes, depth, missing, whole):
        me, place = next(self.free), len(self.missing)
        leaf = depth == 0 or (me and RANDOM.random() < .2)
        value = 0 if leaf else RANDOM.integers(-2, 3) if whole else floats()
        mode = "LEAF" if leaf else "BRANCH_" + str(RANDOM.choice(modes))
        for key, one in zip(self.nodes, (tree, me, mode, 0 if leaf else int(RANDOM.integers(features)), float(value), 0, 0)):
            self.nodes[key].append(one)
        self.missing.append(int(missing and not leaf and RANDOM.random() < .5))
        if leaf:
            self.leaves.append((tree, me))
            return me
        for branch in "truenodeids", "falsenodeids":
            self.nodes[branch][place] = self.grow(tree, features, modes, depth - 1, missing, whole)
        return me

    def attributes(self, prefix, weights):
        """weights: (leaf, column, number)."""
        made = {f"nodes_{key}": values for key, values in self.nodes.items()}
        if any(self.missing):
            made["nodes_missing_value_tracks_true"] = self.missing
        made |= {f"{prefix}_treeids": [self.leaves[leaf][0] for leaf, _, _ in weights],
                 f"{prefix}_nodeids": [self.leaves[leaf][1] for leaf, _, _ in weights],
                 f"{prefix}_ids": [column for _, column, _ in weights], f"{prefix}_weights": [float(one) for _, _, one in weights]}
        return made

    def target(self, columns=1, share=1.):
        """A weight of each leaf for each column, or for a share of them."""
        weights = [(leaf, column, floats()) for leaf in range(len(self.leaves)) for column in range(columns) if RANDOM.random() < share]
        return self.attributes("target", weights) | {"n_targets": columns}

    def classes(self, columns, labels, positive=False):
        weights = [(leaf, column, abs(floats()) * .2 if positive else floats()) for leaf in range(len(self.leaves)) for column in columns]
        return self.attributes("class", weights) | {"classlabels_int64s": labels}


def rows_of(count, features, missing=False, whole=False):
    x = RANDOM.integers(-3, 4, (count, features)).astype(np.float32) if whole else floats(count, features)
    return np.where(RANDOM.random(x.shape) < .3, np.float32(NAN), x) if missing else x


def regressor_cases():
    for mode in MODES:
        for missing in False, True:
            name = f"trees_{mode}" + ("_missing" if missing else "")
            yield case(name, "TreeEnsembleRegressor", rows_of(20, 3, missing=True, whole=True),
                       **Trees(3, 3, (mode,), missing=missing, whole=True).target())
    for name, modes in ("below", ("LEQ", "LT")), ("all", MODES), ("categories", ("LEQ", "EQ")), ("above", ("GT", "GTE")):
        yield case(f"trees_mixed_{name}", "TreeEnsembleRegressor", rows_of(30, 4, missing=True, whole=True),
                   **Trees(5, 4, modes, missing=True, whole=True).target())
    for aggregate in "SUM", "AVERAGE", "MIN", "MAX":
        for columns, share in (1, 1.), (1, .5), (3, 1.), (3, .4):
            name = f"trees_{aggregate}_{columns}" + ("_some" if share < 1 else "")
            trees = Trees(3, 3, depth=2)
            yield case(name, "TreeEnsembleRegressor", rows_of(9, 3), aggregate_function=aggregate, **trees.target(columns, share))
            yield case(f"{name}_base", "TreeEnsembleRegressor", rows_of(9, 3), aggregate_function=aggregate, base_values=numbers(columns),
                       **trees.target(columns, share))
    for transform in TRANSFORMS:
        for columns in 1, 3:
            yield case(f"trees_{transform}_{columns}", "TreeEnsembleRegressor", rows_of(7, 5), post_transform=transform,
                       **Trees(4, 5).target(columns))
    many = Trees(30, 6, depth=5)
    yield case("trees_many", "TreeEnsembleRegressor", rows_of(3, 6), **many.target())
    leaf = {"nodes_treeids": [4], "nodes_nodeids": [9], "nodes_modes": ["LEAF"], "nodes_featureids": [0], "nodes_values": [0.],
            "nodes_truenodeids": [0], "nodes_falsenodeids": [0], "target_treeids": [4], "target_nodeids": [9], "target_ids": [0],
            "target_weights": [3.5], "n_targets": 1}
    yield case("tree_of_one_leaf", "TreeEnsembleRegressor", rows_of(3, 2), **leaf)
    # LightGBM writes a set of categories as a chain whose nodes share a leaf.
    chain = {"nodes_treeids": [0] * 4, "nodes_nodeids": [0, 1, 2, 3], "nodes_modes": ["BRANCH_EQ", "BRANCH_EQ", "LEAF", "LEAF"],
             "nodes_featureids": [0] * 4, "nodes_values": [0., 1., 0., 0.], "nodes_truenodeids": [2, 2, 0, 0],
             "nodes_falsenodeids": [1, 3, 0, 0], "target_treeids": [0] * 3, "target_nodeids": [0, 2, 3], "target_ids": [0] * 3,
             "target_weights": [100., 3., 4.], "n_targets": 1}
    yield case("tree_that_joins", "TreeEnsembleRegressor", np.array([[0], [1], [2], [NAN], [-0.]], np.float32), **chain)
    bounds = Trees(2, 2, ("LEQ", "GT"), depth=3, missing=True)
    edges = np.array(list(itertools.product([-INFINITE, INFINITE, NAN, 0, 3.4e38], repeat=2)), np.float32)
    bounds.nodes["values"] = [value if mode == "LEAF" else float(RANDOM.choice([-INFINITE, INFINITE, 0])) for value, mode in
                              zip(bounds.nodes["values"], bounds.nodes["modes"])]
    yield case("trees_of_infinite_thresholds", "TreeEnsembleRegressor", edges, **bounds.target())


def classifier_cases():
    both = ("label", "scores")
    for transform in TRANSFORMS:
        name = f"forest_{transform}"
        yield case(name, "TreeEnsembleClassifier", rows_of(12, 4), both, post_transform=transform,
                   **Trees(4, 4).classes([0, 1, 2], [5, -8, 9], positive=True))
        yield case(f"{name}_base", "TreeEnsembleClassifier", rows_of(12, 4), both, post_transform=transform, base_values=numbers(3),
                   **Trees(4, 4).classes([0, 1, 2], [5, -8, 9]))
        for positive in False, True:
            kind = "positive" if positive else "mixed"
            yield case(f"{name}_two_{kind}", "TreeEnsembleClassifier", rows_of(12, 4), both, post_transform=transform,
                       **Trees(4, 4).classes([0], [5, 8], positive))
            yield case(f"{name}_two_{kind}_base", "TreeEnsembleClassifier", rows_of(12, 4), both, post_transform=transform, base_values=[.2],
                       **Trees(4, 4).classes([0], [5, 8], positive))
            yield case(f"{name}_second_{kind}", "TreeEnsembleClassifier", rows_of(12, 4), both, post_transform=transform,
                       **Trees(4, 4).classes([1], [5, 8], positive))
        trees = Trees(2, 4, depth=2)
        weights = [(leaf, column, floats()) for leaf in range(len(trees.leaves)) for column in range(4) if column == leaf % 4 or floats() > .5]
        yield case(f"{name}_some", "TreeEnsembleClassifier", rows_of(20, 4), both, post_transform=transform,
                   classlabels_int64s=[5, -8, 9, 2], **trees.attributes("class", weights))
    yield case("forest_one_of_three", "TreeEnsembleClassifier", rows_of(6, 4), both, **Trees(3, 4).classes([1], [5, 8, 9]))
    # The scores of two classes, which are probabilities. onnxruntime's label is not that of the larger one.
    trees = Trees(1, 4)
    likely = [float(RANDOM.random()) for _ in trees.leaves]
    weights = [(leaf, column, abs(column - one)) for leaf, one in enumerate(likely) for column in (0, 1)]
    yield own_case("learned_forest_of_probabilities",
                   [node("TreeEnsembleClassifier", ["x"], both, classlabels_int64s=[0, 1], **trees.attributes("class", weights))],
                   {"x": rows_of(12, 4)}, outputs=("scores",), free={"x": (0,)})
    yield case("forest_of_integers", "TreeEnsembleClassifier", RANDOM.integers(-3, 4, (8, 3)), both, learned=1,
               **Trees(3, 3, whole=True).classes([0, 1, 2], [0, 1, 2]))
    tensors = Trees(3, 3).classes([0, 1, 2], [0, 1, 2])
    for key in "nodes_values", "class_weights":
        tensors[key + "_as_tensor"] = numpy_helper.from_array(np.array(tensors.pop(key)), key)
    yield case("forest_of_tensors", "TreeEnsembleClassifier", rows_of(8, 3).astype(np.float64), both, **tensors)
    # Gradient boosting: each tree adds to one class.
    trees = Trees(9, 5)
    weights = [(leaf, tree % 3, floats()) for leaf, (tree, _) in enumerate(trees.leaves)]
    yield case("boosting", "TreeEnsembleClassifier", rows_of(10, 5), both, post_transform="SOFTMAX", classlabels_int64s=[0, 1, 2],
               **trees.attributes("class", weights))


def vector_cases():
    both, kernels = ("label", "scores"), (("LINEAR", [0., 0., 0.]), ("POLY", [.3, .2, 3.]), ("POLY", [.3, 4., 2.5]), ("RBF", [.3, 0., 0.]),
                                          ("SIGMOID", [.3, .1, 0.]))
    for i, (kernel, params) in enumerate(kernels):
        x = np.abs(floats(6, 4)) if params[2] % 1 else floats(6, 4)
        spread = {"kernel_type": kernel, "kernel_params": params}
        yield case(f"vectors_{i}_{kernel}", "SVMRegressor", x, support_vectors=[abs(one) if params[2] % 1 else one for one in numbers(7, 4)],
                   n_supports=7, coefficients=numbers(7), rho=[.4], **spread)
        for count in 2, 4:
            pairs, sizes = count * (count - 1) // 2, [3, 1, 2, 4][:count]
            shape = dict(support_vectors=[abs(one) if params[2] % 1 else one for one in numbers(sum(sizes), 4)], vectors_per_class=sizes,
                         coefficients=numbers(count - 1, sum(sizes)), rho=numbers(pairs), classlabels_ints=[9, 3, 5, -4][:count], **spread)
            yield case(f"vectors_{i}_{kernel}_{count}", "SVMClassifier", x, both, **shape)
            yield case(f"vectors_{i}_{kernel}_{count}_likely", "SVMClassifier", x, both, prob_a=[-1.5 + .1 * p for p in range(pairs)],
                       prob_b=[.05 * p for p in range(pairs)], **shape)
            if kernel == "RBF":
                for transform in TRANSFORMS[1:]:
                    yield case(f"vectors_{i}_{count}_{transform}", "SVMClassifier", x, both, post_transform=transform, **shape)
    yield case("vectors_of_one_class", "SVMRegressor", floats(6, 3), support_vectors=numbers(5, 3), n_supports=5, coefficients=numbers(5),
               rho=[-.1], one_class=1, kernel_type="RBF", kernel_params=[.5, 0., 0.])
    yield case("vectors_far_away", "SVMRegressor", floats(6, 3) + 1000, support_vectors=[one + 1000 for one in numbers(5, 3)], n_supports=5,
               coefficients=numbers(5), rho=[-.1], kernel_type="RBF", kernel_params=[.5, 0., 0.])
    yield case("vectors_none", "SVMRegressor", floats(6, 3), coefficients=numbers(3), rho=[-.1], kernel_params=[0., 0., 0.])
    for transform in TRANSFORMS:
        yield case(f"vectors_none_{transform}", "SVMClassifier", floats(6, 3), both, coefficients=numbers(3, 3), rho=[.5, .1, .2],
                   classlabels_ints=[3, 5, 9], kernel_params=[0., 0., 0.], post_transform=transform)


def learned_cases():
    for maker in preparation_cases, label_cases, linear_cases, regressor_cases, classifier_cases, vector_cases:
        yield from maker()
    # A sequence of maps cannot be packed: the truth of a ZipMap is the tensor that it reads.
    both, x = ["label", "scores"], floats(4, 3)
    linear = dict(coefficients=numbers(3, 3), intercepts=numbers(3), classlabels_ints=[0, 1, 2], post_transform="SOFTMAX")
    yield own_case("learned_zipmap", [node("LinearClassifier", ["x"], both, **linear), node("ZipMap", ["scores"], ["y"], classlabels_int64s=[0, 1, 2])],
                   {"x": x}, outputs=("label", "y"), free={"x": (0,)}, same=[node("LinearClassifier", ["x"], ["label", "y"], **linear)])

"""Texts that are the same program, or nearly: by normalised syntax trees, and by MinHash over 5-grams of tokens."""

import ast
import collections
import hashlib
import io
import tokenize
import warnings

import numpy as np

GRAM = 5  # tokens
HASHES = 128
BANDS = 32  # of 4 hashes each: texts that share half of their grams meet in one with 87 %, 70 % with nearly 100 %
PRIME = (1 << 61) - 1
SEED = 2607


def _begins_with_text(body):
    first = body[0] if body else None
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)


class _Normalised(ast.NodeTransformer):
    """Docstrings and annotations fall away; names that the text itself gives are numbered as they come."""

    def __init__(self, own):
        self.own, self.numbers = own, {}

    def _name(self, name):
        return f"n{self.numbers.setdefault(name, len(self.numbers))}" if name in self.own else name

    def generic_visit(self, node):
        if isinstance(getattr(node, "body", None), list) and _begins_with_text(node.body):
            node.body = node.body[1:] or [ast.Pass()]
        for field in ("annotation", "returns", "type_comment"):
            if hasattr(node, field):
                setattr(node, field, None)
        for field in ("name", "id", "arg"):
            if isinstance(getattr(node, field, None), str):
                setattr(node, field, self._name(getattr(node, field)))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            node.attr = self._name(node.attr)
        return super().generic_visit(node)


def _own_names(tree):
    """What the text defines: functions, arguments, variables, attributes of self. What is imported keeps its names."""
    own = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            own.add(node.name)
        elif isinstance(node, ast.arg):
            own.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            own.add(node.attr)
    return own - {"Model", "get_inputs", "get_init_inputs", "forward", "__init__", "kernel", "self"}


def _parsed(source):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None


def tree_digest(source):
    """A digest of what the text does, whatever its comments, layout and own names; None where it is no Python."""
    tree = _parsed(source)
    if tree is None:
        return None
    try:
        text = ast.dump(_Normalised(_own_names(tree)).visit(tree))
    except RecursionError:
        return None
    return hashlib.sha256(text.encode()).hexdigest()


def exact_pairs(a, b):
    """Yields (id of a, id of b) of texts with one digest."""
    of = collections.defaultdict(list)
    for text in b:
        if (digest := tree_digest(text["source"])) is not None:
            of[digest].append(text["id"])
    for text in a:
        for other in of.get(tree_digest(text["source"]), []):
            yield text["id"], other


def grams_of(source):
    """The set of 5-grams of its tokens, as numbers; comments and strings that stand alone are left out."""
    words = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type in (tokenize.NAME, tokenize.NUMBER, tokenize.OP) or (
                token.type == tokenize.STRING and not token.line.lstrip().startswith(('"""', "'''"))
            ):
                words.append(token.string)
    except (tokenize.TokenError, SyntaxError, IndentationError):
        words = words or source.split()
    grams = {" ".join(words[i : i + GRAM]) for i in range(len(words) - GRAM + 1)} or {" ".join(words)}
    return {int.from_bytes(hashlib.blake2b(gram.encode(), digest_size=7).digest(), "big") for gram in grams}


def _signature(grams, factors, shifts):
    """MinHash. @param grams a set of numbers"""
    numbers = np.array(sorted(grams), dtype=object)
    return tuple(int(min((numbers * factor + shift) % PRIME)) for factor, shift in zip(factors, shifts))


def near_pairs(a, b, least):
    """Yields (id of a, id of b, share) of texts that share at least `least` of the grams of both (Jaccard's index)."""
    random = np.random.Generator(np.random.Philox(SEED))
    factors = [int(x) for x in random.integers(1, 1 << 60, HASHES)]
    shifts = [int(x) for x in random.integers(0, 1 << 60, HASHES)]
    rows = HASHES // BANDS

    def bands(grams):
        signature = _signature(grams, factors, shifts)
        return [(band, signature[band * rows : (band + 1) * rows]) for band in range(BANDS)]

    of_b, places = {}, collections.defaultdict(set)
    for text in b:
        of_b[text["id"]] = grams_of(text["source"])
        for band in bands(of_b[text["id"]]):
            places[band].add(text["id"])
    for text in a:
        grams = grams_of(text["source"])
        for other in sorted(set().union(*(places.get(band, ()) for band in bands(grams)))):
            share = len(grams & of_b[other]) / len(grams | of_b[other])
            if share >= least:
                yield text["id"], other, share

"""The AST pass: rewrites what tracing alone cannot see. docs/decisions/tracing.md lists the rewrites.

One walk over a function. While it rewrites, it sums up each stretch of statements: the names that it binds, those that
it reads before it binds them, and whether it leaves its block. Line numbers are those of the submitted file."""

import ast
import copy

from .syntax import STORE, assign, at, attribute, call, constant, local_scope, name_tuple, runtime, statement, variable

# Plain names that are called as they stand: `locals` and `super` look at the frame that calls them; the others call
# nothing of the kernel's and are frequent.
_NEVER_WRAPPED = ("locals", "super", "globals", "print", "len", "isinstance")
_GROWING = ("append", "extend", "insert", "add", "pop", "remove", "clear")  # methods of lists and sets


class Stretch:
    """What some statements do to names, in the order of their first appearance.

    bound: names that a way through them may bind. assigned: names that every way binds, so that a later read sees the
    new value. reads: names that are read while they may hold what they held before; in a loop's body, what the last
    trip left. `assigned` may hold fewer names than is true, never more: a read would be missed. held: names of objects
    of the host that may be changed (a list that grows, an entry or a field that is set)."""

    __slots__ = ("bound", "reads", "assigned", "held")

    def __init__(self):
        self.bound, self.reads, self.assigned, self.held = {}, {}, set(), {}

    def bind(self, name):
        self.bound[name] = True
        self.assigned.add(name)

    def read(self, name):
        if name not in self.assigned:
            self.reads[name] = True

    def follow(self, later, assigned):
        """Adds a stretch that comes next; assigned: what it binds for certain."""
        self.bound.update(later.bound)
        self.held.update(later.held)
        for name in later.reads:
            self.read(name)
        self.assigned |= assigned


class Rewriter:
    """One function definition, nested ones included.

    @param is_api (name, attribute) -> bool: does `name.attribute` in this function mean a function that needs no
      rewriting?
    """

    def __init__(self, is_api=lambda name, attribute: False):
        self.is_api = is_api
        self.count = self.comprehensions = 0
        self.stretch = Stretch()
        self.function = None  # the one that is walked
        self.shared = {}  # nested function -> (names that it rebinds by nonlocal, those whose objects it changes)
        self.returns = self.jumps = False  # a return or yield; a break or continue of a loop outside of the stretch

    def visit(self, node):
        """@returns the node in its place, or a list of statements"""
        handler = _HANDLERS.get(type(node))
        return handler(self, node) if handler is not None else self._generic(node)

    def _generic(self, node):
        for field in node._fields:
            value = getattr(node, field, None)
            if type(value) is list:
                if value and isinstance(value[0], ast.AST):
                    setattr(node, field, self._block(value))
                elif value:  # some dictionaries and keyword defaults hold None
                    setattr(node, field, [self.visit(v) if isinstance(v, ast.AST) else v for v in value])
            elif isinstance(value, ast.AST):
                setattr(node, field, self.visit(value))
        return node

    def _block(self, nodes):
        out = []
        for node in nodes:
            new = self.visit(node) if node is not None else None
            if type(new) is list:
                out += new
            else:
                out.append(new)
        return out

    # -- summaries
    def _begin(self):
        outer, self.stretch = self.stretch, Stretch()
        return outer

    def _end(self, outer):
        inner, self.stretch = self.stretch, outer
        return inner

    def _apart(self, work, *nodes):
        """Work whose names belong to another scope."""
        outer, flags = self._begin(), (self.returns, self.jumps)
        out = [work(n) for n in nodes]
        self._end(outer)
        self.returns, self.jumps = flags
        return out

    # -- names and expressions
    def _visit_name(self, node):
        if type(node.ctx) is ast.Load:
            self.stretch.read(node.id)
        else:
            self.stretch.bind(node.id)
        return node

    def _leaf(self, node):
        return node

    def _visit_attribute(self, node):
        node.value = self.visit(node.value)
        return node

    def _visit_binary(self, node):
        node.left, node.right = self.visit(node.left), self.visit(node.right)
        return node

    def _visit_subscript(self, node):
        node.value, node.slice = self.visit(node.value), self.visit(node.slice)
        return node

    def _visit_call(self, node):
        function = node.func = self.visit(node.func)
        node.args = [self.visit(a) for a in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        # Helpers of the kernel's file run in their rewritten form, and what a name means is known at the call only:
        # there `callee` looks. Functions of modules that are not the user's need no look, and are most calls.
        kind = type(function)
        if kind is ast.Name and function.id in self.shared:
            self._count_shared(*self.shared[function.id])
        if kind is ast.Attribute:
            owner = function.value
            if type(owner) is ast.Name and self.is_api(owner.id, function.attr):
                return node
            if type(owner) is ast.Name and function.attr in _GROWING:
                self.stretch.held[owner.id] = True
        elif kind is not ast.Name or function.id in _NEVER_WRAPPED:
            return node
        node.func = runtime(function, "callee", function)
        return node

    def _count_shared(self, rebound, held):
        """What a call of a nested function does to this function's names: as `name += 1` here."""
        for name in self._own(rebound):
            self.stretch.bound[name] = True
            self.stretch.read(name)
        self.stretch.held.update(held)

    def _visit_walrus(self, node):
        node.value = self.visit(node.value)
        node.target = self.visit(node.target)
        return node

    def _visit_conditional(self, node):
        """`a if test else b`: both sides are evaluated, and selected when the program runs, if the test is symbolic.

        The sides stand twice in the result and the test is kept by a walrus: where a side is not safe to copy, or a
        walrus would bind outside of its comprehension, the test must be static."""
        plain = not any(
            isinstance(n, (ast.IfExp, ast.NamedExpr, ast.Lambda))
            for side in (node.body, node.orelse)
            for n in ast.walk(side)
        )
        self._generic(node)
        if not plain or self.comprehensions:
            node.test = runtime(node.test, "static_test", node.test, constant(node.test, "ternary"))
            return node
        self.count += 1
        test = f"__nki_test{self.count}"
        taken = at(ast.IfExp(variable(node, test), node.body, node.orelse), node)
        chosen = runtime(node, "choose", variable(node, test), copy.deepcopy(node.body), copy.deepcopy(node.orelse))
        keep = at(ast.NamedExpr(variable(node, test, STORE), node.test), node)
        return at(ast.IfExp(runtime(node, "symbolic", keep), chosen, taken), node)

    def _visit_comprehension(self, node):
        """Its variables are its own; what else it reads counts."""
        outer = self._begin()
        self.comprehensions += 1
        self._generic(node)
        self.comprehensions -= 1
        inner = self._end(outer)
        for name in inner.reads:
            if name not in inner.bound:
                self.stretch.read(name)
        return node

    def _visit_lambda(self, node):
        self._apart(self._generic, node)
        return node

    def _visit_yield(self, node):
        self.returns = True
        return self._generic(node)

    # -- statements
    def _visit_jump(self, node):
        self.jumps = True
        return node

    def _visit_assign(self, node):
        node.value = self.visit(node.value)
        node.targets = [self.visit(t) for t in node.targets]
        for target in node.targets:
            owner = _owner(target)
            if owner and any(type(n) is ast.Name and n.id == owner for n in ast.walk(node.value)):
                self.stretch.held[owner] = True
        return node

    def _visit_augmented(self, node):
        if type(node.target) is ast.Name:
            self.stretch.bound[node.target.id] = True  # not assigned: the next += reads the name, too
            self.stretch.read(node.target.id)
        else:
            node.target = self.visit(node.target)
            if owner := _owner(node.target):
                self.stretch.held[owner] = True
        node.value = self.visit(node.value)
        return node

    def _visit_annotated(self, node):
        if node.value is not None:
            node.value = self.visit(node.value)
        node.target = self.visit(node.target)
        if node.value is None:
            return node
        (annotation,) = self._apart(self.visit, node.annotation)
        # A lambda: annotations that cannot be evaluated are none of ours, and must not fail.
        check = at(ast.Lambda(ast.arguments([], [], None, [], [], None, []), annotation), node)
        name = constant(node, node.target.id if isinstance(node.target, ast.Name) else "value")
        return at(ast.Assign([node.target], runtime(node, "annotated", node.value, check, name)), node)

    def _visit_function(self, node):
        self.stretch.bind(node.name)
        (self.shared[node.name],) = self._apart(self._function, node)
        return node

    def _function(self, node):
        """@returns what a call of it may do to names of the function around it"""
        rebound = [name for n in node.body if type(n) is ast.Nonlocal for name in n.names]
        outer, self.function = self.function, node
        node.args = self._generic(node.args)
        node.body = self._block(node.body)
        self.function = outer
        own = self.stretch
        return rebound, {name: True for name in own.held if name not in own.bound}

    def _own(self, names):
        """Those of some names that are variables of the function: no other may be bound by what is written into it."""
        if not names:
            return names
        stored, left = {a.arg for a in ast.walk(self.function.args) if type(a) is ast.arg}, list(self.function.body)
        while left:
            node = left.pop()
            if type(node) is ast.Name and type(node.ctx) is ast.Store:
                stored.add(node.id)
            elif type(node) is ast.Global:
                return []
            elif type(node) not in (ast.FunctionDef, ast.Lambda, ast.ClassDef):
                left += ast.iter_child_nodes(node)
        return [name for name in names if name in stored]

    def _visit_class(self, node):
        self.stretch.bound[node.name] = True
        self._apart(self._generic, node)
        return node

    def _visit_if(self, node):
        """`for side in branch(test): if side: A else: B`: one turn for a static test, both for a symbolic one."""
        test = self.visit(node.test)
        flags = self.returns, self.jumps
        self.returns = self.jumps = False
        body, first = self._side(node.body)
        orelse, other = self._side(node.orelse)
        leaving = self.returns or self.jumps
        self.returns, self.jumps = self.returns or flags[0], self.jumps or flags[1]
        self.stretch.follow(first, set())
        self.stretch.follow(other, first.assigned & other.assigned)
        if leaving:  # of two sides that both run, neither can leave; and the made loop would catch a break
            return at(ast.If(runtime(node, "static_test", test), body, orelse), node)
        return self._branch(node, test, body, orelse, list(first.bound), list({**first.bound, **other.bound}))

    def _side(self, nodes):
        outer = self._begin()
        return self._block(nodes), self._end(outer)

    def _branch(self, node, test, body, orelse, first, names):
        """first: names that the first side binds; names: those that either does.

        While both sides are recorded, Python runs one after the other in one scope. So the second side gets back the
        names as they were when the statement began, and after both no name may stand for either side's value: it
        becomes an object that refuses every use, unless no side rebound it."""
        self.count += 1
        branch, side = f"__nki_branch{self.count}", f"__nki_side{self.count}"
        out = [assign(node, branch, runtime(node, "branch", test, local_scope(node), name_tuple(node, names)))]
        if orelse and first:
            back = [assign(node, n, call(node, attribute(node, branch, "before"), constant(node, n))) for n in first]
            orelse = [at(ast.If(attribute(node, branch, "symbolic"), back, []), node)] + orelse
        sides = at(ast.If(variable(node, side), body, orelse), node)
        out.append(at(ast.For(variable(node, side, STORE), variable(node, branch), [sides], []), node))
        after = [
            assign(node, n, call(node, attribute(node, branch, "after"), constant(node, n), local_scope(node)))
            for n in names
        ]
        if after:
            out.append(at(ast.If(attribute(node, branch, "symbolic"), after, []), node))
        return out

    def _iterator(self, iterator):
        """Python's `range` is symbolic here and nowhere else: as a value it may be anything's argument."""
        if (
            type(iterator) is ast.Call
            and type(iterator.func) is ast.Name
            and iterator.func.id == "range"
            and not iterator.keywords
        ):
            iterator.args = [self.visit(a) for a in iterator.args]
            iterator.func = runtime(iterator, "range_of", iterator.func)
            return iterator
        return runtime(iterator, "iterate", self.visit(iterator))

    def _visit_for(self, node):
        """A symbolic loop's body runs once. Names that it reads before it binds them would carry a value from trip to
        trip, and so would objects that it changes: they are compared at its two ends. No other name can; most loops
        have none and stay as they are."""
        iterator = self._iterator(node.iter)
        outer = self._begin()
        target = self.visit(node.target)
        targets = self._end(outer)
        self.stretch.follow(targets, targets.assigned)
        jumps = self.jumps
        body, inner = self._side(node.body)
        self.jumps = jumps  # a break or continue in the body is this loop's own
        self.stretch.follow(inner, inner.assigned)
        orelse = self._block(node.orelse)
        carried = [n for n in inner.bound if n in inner.reads and n not in targets.bound]
        held = self._own([n for n in inner.held if n not in inner.bound and n not in targets.bound])
        last = node.body[-1]
        returns = type(last) is ast.Return
        if not (carried or held or returns) or isinstance(last, (ast.Break, ast.Continue, ast.Raise)):
            return at(ast.For(target, iterator, body, orelse), node)
        self.count += 1
        loop = f"__nki_loop{self.count}"
        body.insert(0, self._end_of_loop("loop_begin", node, loop, carried, held))
        end = self._end_of_loop("loop_end", last, loop, carried, held)
        body[-1:] = [body[-1], end] if not returns else [end, self._leave(last, loop), body[-1]]
        counters = [
            assign(node, n, runtime(node, "counter", variable(node, loop), constant(node, n), local_scope(node)))
            for n in carried + held
        ]
        after = [at(ast.If(runtime(node, "counted", variable(node, loop)), counters, []), node)] if counters else []
        return [assign(node, loop, iterator), at(ast.For(target, variable(node, loop), body, orelse), node), *after]

    @staticmethod
    def _leave(old, loop):
        return statement(old, runtime(old, "leave", variable(old, loop)))

    @staticmethod
    def _end_of_loop(helper, old, loop, names, held):
        lists = name_tuple(old, names), name_tuple(old, held)
        return statement(old, runtime(old, helper, variable(old, loop), local_scope(old), *lists))

    def _visit_while(self, node):
        test = self.visit(node.test)
        test = runtime(node.test, "static_test", test, constant(node.test, "while"))
        jumps = self.jumps
        body = self._block(node.body)
        self.jumps = jumps
        return at(ast.While(test, body, self._block(node.orelse)), node)


def _owner(target):
    """The variable whose field, or entry under a constant, a statement sets; "" for any other target."""
    key = getattr(target, "slice", None)
    entry = type(key) is ast.Constant and type(key.value) in (int, str)
    return target.value.id if (entry or type(target) is ast.Attribute) and type(target.value) is ast.Name else ""


# By node type, in place of getattr on names: the walk is a good part of a trace.
_HANDLERS = {
    ast.Name: Rewriter._visit_name,
    ast.Constant: Rewriter._leaf,
    ast.Global: Rewriter._leaf,
    ast.Nonlocal: Rewriter._leaf,
    ast.Pass: Rewriter._leaf,
    ast.Attribute: Rewriter._visit_attribute,
    ast.BinOp: Rewriter._visit_binary,
    ast.Subscript: Rewriter._visit_subscript,
    ast.Call: Rewriter._visit_call,
    ast.IfExp: Rewriter._visit_conditional,
    ast.Lambda: Rewriter._visit_lambda,
    ast.NamedExpr: Rewriter._visit_walrus,
    ast.Assign: Rewriter._visit_assign,
    ast.AugAssign: Rewriter._visit_augmented,
    ast.AnnAssign: Rewriter._visit_annotated,
    ast.ClassDef: Rewriter._visit_class,
    ast.If: Rewriter._visit_if,
    ast.For: Rewriter._visit_for,
    ast.While: Rewriter._visit_while,
}
_HANDLERS.update(
    dict.fromkeys((ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp), Rewriter._visit_comprehension)
)
_HANDLERS.update(dict.fromkeys((ast.Return, ast.Yield, ast.YieldFrom, ast.Await), Rewriter._visit_yield))
_HANDLERS.update(dict.fromkeys((ast.Break, ast.Continue), Rewriter._visit_jump))
_HANDLERS.update(dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef), Rewriter._visit_function))
_LEAVES = [
    kind
    for base in (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
    for kind in base.__subclasses__()
]
_HANDLERS.update(dict.fromkeys(_LEAVES, Rewriter._leaf))

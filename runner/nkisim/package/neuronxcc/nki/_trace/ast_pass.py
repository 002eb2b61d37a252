"""The AST pass: rewrites what tracing alone cannot see. docs/decisions/tracing.md lists the rewrites.

One walk over a function. While it rewrites, it sums up each stretch of statements: the names that it binds, those that it reads before
it binds them, and whether it leaves its block. Line numbers are those of the submitted file; every helper is reached through one
global name."""

import ast
import copy

RUNTIME = "__nki__"
_LOAD, _STORE = ast.Load(), ast.Store()
_NEVER_WRAPPED = ("locals", "super", "globals", "print", "len", "isinstance")


def at(node, old):
    """Gives a made node the first line of `old`: a call that spans lines would report its last one."""
    node.lineno = node.end_lineno = old.lineno
    node.col_offset = old.col_offset
    node.end_col_offset = old.col_offset + 1
    return node


def _name(old, name, context=_LOAD):
    return at(ast.Name(name, context), old)


def _attribute(old, value, name):
    return at(ast.Attribute(_name(old, value), name, _LOAD), old)


def _call(old, function, *args):
    return at(ast.Call(function, list(args), []), old)


def _runtime(old, name, *args):
    return _call(old, _attribute(old, RUNTIME, name), *args)


def _locals(old):
    return _call(old, _name(old, "locals"))


def _names(old, names):
    return at(ast.Tuple([at(ast.Constant(n), old) for n in names], _LOAD), old)


def _assign(old, name, value):
    return at(ast.Assign([_name(old, name, _STORE)], value), old)


class Rewriter:
    """One function definition, nested ones included.

    @param is_api (name, attribute) -> bool: does `name.attribute` in this function mean a function that needs no rewriting?
    """

    def __init__(self, is_api=lambda name, attribute: False):
        self.is_api = is_api
        self.count = self.comprehensions = 0
        self.bound, self.reads, self.assigned = {}, {}, set()  # the stretch's summary; dicts keep the order
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
        outer = self.bound, self.reads, self.assigned
        self.bound, self.reads, self.assigned = {}, {}, set()
        return outer

    def _end(self, outer):
        inner = self.bound, self.reads, self.assigned
        self.bound, self.reads, self.assigned = outer
        return inner

    def _follow(self, inner, assigned):
        """Adds the summary of a stretch that comes next."""
        self.bound.update(inner[0])
        for name in inner[1]:
            if name not in self.assigned:
                self.reads[name] = True
        self.assigned |= assigned

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
            if node.id not in self.assigned:
                self.reads[node.id] = True
        else:
            self.bound[node.id] = True
            self.assigned.add(node.id)
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
        kind = type(function)
        if kind is ast.Attribute:
            owner = function.value
            if type(owner) is ast.Name and self.is_api(owner.id, function.attr):
                return node
        elif kind is not ast.Name or function.id in _NEVER_WRAPPED:
            return node
        node.func = _runtime(function, "callee", function)
        return node

    def _visit_conditional(self, node):
        """`a if test else b`: both sides are evaluated, and selected when the program runs, if the test is symbolic."""
        plain = not any(
            isinstance(n, (ast.IfExp, ast.NamedExpr, ast.Lambda))
            for side in (node.body, node.orelse)
            for n in ast.walk(side)
        )
        self._generic(node)
        if not plain or self.comprehensions:
            node.test = _runtime(node.test, "static_test", node.test, at(ast.Constant("ternary"), node.test))
            return node
        self.count += 1
        test = f"__nki_test{self.count}"
        taken = at(ast.IfExp(_name(node, test), node.body, node.orelse), node)
        chosen = _runtime(node, "choose", _name(node, test), copy.deepcopy(node.body), copy.deepcopy(node.orelse))
        keep = at(ast.NamedExpr(_name(node, test, _STORE), node.test), node)
        return at(ast.IfExp(_runtime(node, "symbolic", keep), chosen, taken), node)

    def _visit_comprehension(self, node):
        bound, self.bound = self.bound, {}
        self.comprehensions += 1
        self._generic(node)
        self.comprehensions -= 1
        self.bound = bound
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
        return node

    def _visit_augmented(self, node):
        if type(node.target) is ast.Name:
            name = node.target.id
            self.bound[name] = True
            if name not in self.assigned:
                self.reads[name] = True
        else:
            node.target = self.visit(node.target)
        node.value = self.visit(node.value)
        return node

    def _visit_annotated(self, node):
        if node.value is not None:
            node.value = self.visit(node.value)
        node.target = self.visit(node.target)
        if node.value is None:
            return node
        (annotation,) = self._apart(self.visit, node.annotation)
        check = at(ast.Lambda(ast.arguments([], [], None, [], [], None, []), annotation), node)
        name = node.target.id if isinstance(node.target, ast.Name) else "value"
        return at(
            ast.Assign([node.target], _runtime(node, "annotated", node.value, check, at(ast.Constant(name), node))),
            node,
        )

    def _visit_function(self, node):
        self.bound[node.name] = True
        self.assigned.add(node.name)
        self._apart(self._function, node)
        return node

    def _function(self, node):
        node.args = self._generic(node.args)
        node.body = self._block(node.body)

    def _visit_class(self, node):
        self.bound[node.name] = True
        self._apart(self._generic, node)
        return node

    def _visit_if(self, node):
        test = self.visit(node.test)
        flags = self.returns, self.jumps
        self.returns = self.jumps = False
        outer = self._begin()
        body = self._block(node.body)
        first = self._end(outer)
        outer = self._begin()
        orelse = self._block(node.orelse)
        other = self._end(outer)
        leaving = self.returns or self.jumps
        self.returns, self.jumps = self.returns or flags[0], self.jumps or flags[1]
        both = first[2] & other[2]
        self._follow(first, set())
        self._follow(other, both)
        if leaving:
            return at(ast.If(_runtime(node, "static_test", test), body, orelse), node)
        return self._branch(node, test, body, orelse, list(first[0]), list({**first[0], **other[0]}))

    def _branch(self, node, test, body, orelse, first, names):
        self.count += 1
        branch, side = f"__nki_branch{self.count}", f"__nki_side{self.count}"
        out = [_assign(node, branch, _runtime(node, "branch", test, _locals(node), _names(node, names)))]
        if orelse and first:  # the other side starts from the names as they were
            back = [
                _assign(node, n, _call(node, _attribute(node, branch, "before"), at(ast.Constant(n), node)))
                for n in first
            ]
            orelse = [at(ast.If(_attribute(node, branch, "symbolic"), back, []), node)] + orelse
        sides = at(ast.If(_name(node, side), body, orelse), node)
        out.append(at(ast.For(_name(node, side, _STORE), _name(node, branch), [sides], []), node))
        after = [
            _assign(node, n, _call(node, _attribute(node, branch, "after"), at(ast.Constant(n), node), _locals(node)))
            for n in names
        ]
        if after:
            out.append(at(ast.If(_attribute(node, branch, "symbolic"), after, []), node))
        return out

    def _iterator(self, iterator):
        if (
            type(iterator) is ast.Call
            and type(iterator.func) is ast.Name
            and iterator.func.id == "range"
            and not iterator.keywords
        ):
            iterator.args = [self.visit(a) for a in iterator.args]
            iterator.func = _runtime(iterator, "range_of", iterator.func)
            return iterator
        return _runtime(iterator, "iterate", self.visit(iterator))

    def _visit_for(self, node):
        iterator = self._iterator(node.iter)
        outer = self._begin()
        target = self.visit(node.target)
        targets = self._end(outer)
        self._follow(targets, targets[2])
        jumps, outer = self.jumps, self._begin()
        body = self._block(node.body)
        inner = self._end(outer)
        self.jumps = jumps
        self._follow(inner, inner[2])
        orelse = self._block(node.orelse)
        read = [n for n in inner[0] if n in inner[1] and n not in targets[0]]
        last = node.body[-1]
        if not read or isinstance(last, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
            return at(ast.For(target, iterator, body, orelse), node)
        self.count += 1
        loop = f"__nki_loop{self.count}"
        body.insert(
            0, at(ast.Expr(_runtime(node, "loop_begin", _name(node, loop), _locals(node), _names(node, read))), node)
        )
        body.append(
            at(ast.Expr(_runtime(last, "loop_end", _name(last, loop), _locals(last), _names(last, read))), last)
        )
        return [_assign(node, loop, iterator), at(ast.For(target, _name(node, loop), body, orelse), node)]

    def _visit_while(self, node):
        test = self.visit(node.test)
        test = _runtime(node.test, "static_test", test, at(ast.Constant("while"), node.test))
        jumps = self.jumps
        body = self._block(node.body)
        self.jumps = jumps
        return at(ast.While(test, body, self._block(node.orelse)), node)


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

"""The AST pass: rewrites what tracing alone cannot see. docs/decisions/tracing.md lists the rewrites.

Line numbers are those of the submitted file; every helper is reached through one global name."""

import ast
import copy

RUNTIME = "__nki__"


def _runtime(name, *args):
    return ast.Call(ast.Attribute(ast.Name(RUNTIME, ast.Load()), name, ast.Load()), list(args), [])


def _locals():
    return ast.Call(ast.Name("locals", ast.Load()), [], [])


def _names(names):
    return ast.Tuple([ast.Constant(n) for n in names], ast.Load())


class _Bound(ast.NodeVisitor):
    """Names bound by statements, without looking into nested functions."""

    def __init__(self):
        self.names = []

    def _add(self, name):
        if name not in self.names and not name.startswith("__nki"):
            self.names.append(name)

    def visit_Name(self, node):
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            self._add(node.id)

    def visit_FunctionDef(self, node):
        self._add(node.name)

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef

    def visit_Lambda(self, node):
        pass

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_Lambda


def bound_names(statements):
    visitor = _Bound()
    for s in statements:
        visitor.visit(s)
    return visitor.names


class _Leaves(ast.NodeVisitor):
    """Does a statement list leave its own block by break, continue or return?"""

    def __init__(self):
        self.found, self.loops = False, 0

    def visit_Return(self, node):
        self.found = True

    def visit_Break(self, node):
        self.found = self.found or self.loops == 0

    visit_Continue = visit_Break

    def visit_Yield(self, node):
        self.found = True

    visit_YieldFrom = visit_Await = visit_Yield

    def _loop(self, node):
        self.loops += 1
        for s in node.body:
            self.visit(s)
        self.loops -= 1
        for s in node.orelse:
            self.visit(s)

    visit_For = visit_While = visit_AsyncFor = _loop

    def visit_FunctionDef(self, node):
        pass

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef


def leaves_block(statements):
    visitor = _Leaves()
    for s in statements:
        visitor.visit(s)
    return visitor.found


class Rewriter(ast.NodeTransformer):
    """One function definition, nested ones included."""

    def __init__(self):
        self.count = self.comprehensions = 0

    def _at(self, new, old):
        """Gives made nodes the first line of `old`: a call that spans lines would report its last one."""
        line, column = old.lineno, old.col_offset
        for root in new if isinstance(new, list) else [new]:
            stack = [root]
            while stack:
                node = stack.pop()
                if "lineno" in node._attributes:
                    if hasattr(node, "lineno"):
                        continue
                    node.lineno = node.end_lineno = line
                    node.col_offset, node.end_col_offset = column, column + 1
                stack.extend(ast.iter_child_nodes(node))
        return new

    def visit_If(self, node):
        bodies = node.body + node.orelse
        test = self.visit(node.test)
        leaving = leaves_block(bodies)
        names = bound_names(bodies)
        body = self._block(node.body)
        orelse = self._block(node.orelse)
        if leaving:
            return self._at(ast.If(_runtime("static_test", test), body, orelse), node)
        self.count += 1
        branch, side = f"__nki_branch{self.count}", f"__nki_side{self.count}"
        make = ast.Assign([ast.Name(branch, ast.Store())], _runtime("branch", test, _locals(), _names(names)))
        first = bound_names(node.body)
        if orelse and first:  # the other side starts from the names as they were
            back = [ast.Assign([ast.Name(n, ast.Store())], ast.Call(ast.Attribute(ast.Name(branch, ast.Load()), "before", ast.Load()),
                                                                    [ast.Constant(n)], [])) for n in first]
            orelse = [ast.If(ast.Attribute(ast.Name(branch, ast.Load()), "symbolic", ast.Load()), back, [])] + orelse
        loop = ast.For(ast.Name(side, ast.Store()), ast.Name(branch, ast.Load()),
                       [ast.If(ast.Name(side, ast.Load()), body, orelse)], [])
        after = [ast.Assign([ast.Name(n, ast.Store())], ast.Call(ast.Attribute(ast.Name(branch, ast.Load()), "after", ast.Load()),
                                                                [ast.Constant(n), _locals()], [])) for n in names]
        out = [make, loop]
        if after:
            out.append(ast.If(ast.Attribute(ast.Name(branch, ast.Load()), "symbolic", ast.Load()), after, []))
        return self._at(out, node)

    def _block(self, statements):
        out = []
        for s in statements:
            new = self.visit(s)
            if isinstance(new, list):
                out += new
            elif new is not None:
                out.append(new)
        return out

    def visit_For(self, node):
        names = [n for n in bound_names(node.body) if n not in bound_names([ast.Assign([node.target], ast.Constant(0))])]
        iterator = node.iter
        if isinstance(iterator, ast.Call) and isinstance(iterator.func, ast.Name) and iterator.func.id == "range" and not iterator.keywords:
            call = ast.Call(_runtime("range_of", ast.Name("range", ast.Load())), [self.visit(a) for a in iterator.args], [])
            new_iter = self._at(call, iterator)
        else:
            new_iter = self._at(_runtime("iterate", self.visit(iterator)), iterator)
        target = self.visit(node.target)
        body, orelse = self._block(node.body), self._block(node.orelse)
        read = _read_first(node.body, names)
        if not read or isinstance(node.body[-1], (ast.Return, ast.Break, ast.Continue, ast.Raise)):
            return self._at(ast.For(target, new_iter, body, orelse), node)
        self.count += 1
        loop = f"__nki_loop{self.count}"
        body.insert(0, self._at(ast.Expr(_runtime("loop_begin", ast.Name(loop, ast.Load()), _locals(), _names(read))), node))
        body.append(self._at(ast.Expr(_runtime("loop_end", ast.Name(loop, ast.Load()), _locals(), _names(read))), node.body[-1]))
        return self._at([ast.Assign([ast.Name(loop, ast.Store())], new_iter), ast.For(target, ast.Name(loop, ast.Load()), body, orelse)], node)

    def visit_While(self, node):
        test = self._at(_runtime("static_test", self.visit(node.test), ast.Constant("while")), node.test)
        return self._at(ast.While(test, self._block(node.body), self._block(node.orelse)), node)

    def visit_IfExp(self, node):
        """`a if test else b`: both sides are evaluated, and selected when the program runs, if the test is symbolic."""
        plain = not any(isinstance(n, (ast.IfExp, ast.NamedExpr, ast.Lambda)) for side in (node.body, node.orelse) for n in ast.walk(side))
        self.generic_visit(node)
        if not plain or self.comprehensions:
            node.test = self._at(_runtime("static_test", node.test, ast.Constant("ternary")), node.test)
            return node
        self.count += 1
        test = f"__nki_test{self.count}"
        taken = ast.IfExp(ast.Name(test, ast.Load()), node.body, node.orelse)
        chosen = _runtime("choose", ast.Name(test, ast.Load()), copy.deepcopy(node.body), copy.deepcopy(node.orelse))
        return self._at(ast.IfExp(_runtime("symbolic", ast.NamedExpr(ast.Name(test, ast.Store()), node.test)), chosen, taken), node)

    def _comprehension(self, node):
        self.comprehensions += 1
        self.generic_visit(node)
        self.comprehensions -= 1
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_AnnAssign(self, node):
        self.generic_visit(node)
        if node.value is None:
            return node
        check = ast.Lambda(ast.arguments([], [], None, [], [], None, []), node.annotation)
        name = node.target.id if isinstance(node.target, ast.Name) else "value"
        value = _runtime("annotated", node.value, check, ast.Constant(name))
        return self._at(ast.Assign([node.target], value), node)

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in ("locals", "super", "globals", "print", "len", "isinstance"):
            return node
        if isinstance(node.func, (ast.Name, ast.Attribute)):
            node.func = self._at(_runtime("callee", node.func), node.func)
        return node

    def visit_FunctionDef(self, node):
        node.args = self.visit(node.args)
        node.body = self._block(node.body)
        return node


class _FirstUse(ast.NodeVisitor):
    """Names read before they are assigned, in the order of execution of straight-line code."""

    def __init__(self, names):
        self.wanted, self.assigned, self.read = set(names), set(), []

    def visit_Name(self, node):
        if node.id in self.wanted:
            if isinstance(node.ctx, ast.Load):
                if node.id not in self.assigned and node.id not in self.read:
                    self.read.append(node.id)
            else:
                self.assigned.add(node.id)

    def visit_Assign(self, node):
        self.visit(node.value)
        for t in node.targets:
            self.visit(t)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.visit(node.value)
        self.visit(node.target)

    def visit_AugAssign(self, node):
        if isinstance(node.target, ast.Name) and node.target.id in self.wanted:
            if node.target.id not in self.assigned and node.target.id not in self.read:
                self.read.append(node.target.id)
        else:
            self.visit(node.target)
        self.visit(node.value)

    def visit_For(self, node):
        self.visit(node.iter)
        self.visit(node.target)
        for s in node.body + node.orelse:
            self.visit(s)

    def visit_If(self, node):
        self.visit(node.test)
        before = set(self.assigned)
        for s in node.body:
            self.visit(s)
        then, self.assigned = self.assigned, set(before)
        for s in node.orelse:
            self.visit(s)
        self.assigned &= then

    def visit_FunctionDef(self, node):
        self.assigned.add(node.name)

    def visit_Lambda(self, node):
        pass


def _read_first(statements, names):
    visitor = _FirstUse(names)
    for s in statements:
        visitor.visit(s)
    return [n for n in names if n in visitor.read]

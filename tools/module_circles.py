"""Circles between the modules of a crate: who uses whom, read from the paths in the source.

A module's uses are the paths of its `use` declarations and those in its code that begin with `crate`, `self`, `super` or a child's
name. A name that a module re-exports counts as a use of the module that defines it, so a façade hides nothing. Methods cannot be
seen. Tests do not count.
"""

import re


def without_tests_and_comments(source):
    source = re.sub(r"^#\[cfg\(test\)\]\n(?:pub(?:\([\w: ]+\))? )?mod \w+ \{.*?^\}\n", "", source, flags=re.M | re.S)
    source = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', source)
    source = re.sub(r"\bpub\(in [\w:]+\)", "pub", source)
    return re.sub(r"//.*", "", source)


def expand(tree):
    """The paths of a `use` tree: `a::{b, c::d}` has a::b and a::c::d."""
    tree = tree.strip()
    brace = tree.find("{")
    if brace < 0:
        yield re.sub(r"\s+as\s+\w+$", "", tree)
        return
    head, body, depth, begin = tree[:brace], tree[brace + 1:tree.rindex("}")] + ",", 0, 0
    for place, character in enumerate(body):
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            if body[begin:place].strip():
                yield from (head + rest for rest in expand(body[begin:place]))
            begin = place + 1


class Crate:
    """The modules of a crate; a module's name is a tuple: ("plan", "range", "interval"). The root is ()."""

    USE = re.compile(r"^\s*(pub(?:\([\w: ]+\))? )?use ([^;]+);", re.M)

    TEST_MODULE = re.compile(r"^#\[cfg\(test\)\]\n(?:pub(?:\([\w: ]+\))? )?mod (\w+);", re.M)

    def __init__(self, source):
        self.code, of_tests = {}, set()
        for path in sorted(source.rglob("*.rs")):
            parts = path.relative_to(source).with_suffix("").parts
            name = parts[:-1] if parts[-1] in ("mod", "lib") else parts
            text = path.read_text(encoding="utf-8")
            of_tests |= {(*name, child) for child in self.TEST_MODULE.findall(text)}
            self.code[name] = without_tests_and_comments(text)
        for name in [name for name in self.code if any(name[:length] in of_tests for length in range(1, len(name) + 1))]:
            del self.code[name]
        self.exports = {}
        for module in self.code:
            for public, tree in self.USE.findall(self.code[module]):
                for path in expand(tree) if public else ():
                    if target := self.absolute(module, path):
                        self.exports[(*module, path.split("::")[-1].strip())] = target

    def absolute(self, module, path):
        """A path as seen from the crate's root, or None if it leads out of the crate."""
        parts = [part.strip() for part in path.split("::")]
        if parts[0] == "crate":
            return tuple(parts[1:])
        if parts[0] == "self":
            return (*module, *parts[1:])
        base = module
        while parts and parts[0] == "super":
            base, parts = base[:-1], parts[1:]
        return (*base, *parts) if base != module or (*module, *parts[:1]) in self.code else None

    def definer(self, path):
        """The module that defines what a path means."""
        for _ in range(8):
            for length in range(len(path), 0, -1):
                # A module may export a function or type of its own name: `pub use columns::columns`.
                if path[:length] in self.code and length < len(path):
                    return path[:length]
                if path[:length] in self.exports:
                    path = self.exports[path[:length]] + path[length:]
                    break
                if path[:length] in self.code:
                    return path[:length]
            else:
                break
        return ()

    def uses(self, module):
        code = self.code[module]
        paths = [path for public, tree in self.USE.findall(code) if not public for path in expand(tree)]
        code = self.USE.sub("", code)
        paths += re.findall(r"(?<![\w:])(?:crate|self|super)(?:::\w+)+", code)
        for child in {name[-1] for name in self.code if name and name[:-1] == module}:
            paths += re.findall(rf"(?<![\w:.]){child}::\w+", code)
        targets = (self.absolute(module, path) for path in paths)
        return {self.definer(target) for target in targets if target} - {module}

    def folders(self):
        """All modules that have children, and the root."""
        return sorted({name[:length] for name in self.code for length in range(len(name))} | {()})

    def graph(self, folder):
        """Which children of a module use which. What the folder's own file defines is the child "mod"."""
        graph = {}
        for module in self.code:
            if module[:len(folder)] == folder:
                child = module[len(folder)] if module != folder else "mod"
                used = {name[len(folder)] if name != folder else "mod" for name in self.uses(module) if name[:len(folder)] == folder}
                graph.setdefault(child, set()).update(used - {child})
        return graph


def circles(graph):
    """The sets of more than one node in which each reaches each other one."""
    def reach(node):
        seen, open_nodes = set(), [node]
        while open_nodes:
            new = graph.get(open_nodes.pop(), set()) - seen
            seen |= new
            open_nodes += new
        return seen

    reached = {node: reach(node) for node in graph}
    sets = {frozenset(other for other in reached[node] if node in reached.get(other, ())) for node in graph}
    return sorted((sorted(found) for found in sets if len(found) > 1), key=len)

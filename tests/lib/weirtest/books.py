"""The books, added up from outside: the equations of docs/time.md over `weir status --json`."""
from .report import Failure


def unbalanced(books, settled=True):
    """Every equation that does not hold. The kind of a node shows in the counts that it has."""
    wrong = []
    for node, counts in books.items():
        def c(*names, counts=counts):
            return sum(counts.get(name, 0) for name in names)

        def hold(equation, left, right, node=node):
            if left != right:
                wrong.append(f"{node}: {equation}: {left} != {right}")

        if "read" in counts:
            hold("read = decoded + dead + skipped", c("read"), c("decoded", "dead", "skipped"))
        elif "placed" in counts or "late" in counts or "assigned" in counts:
            hold("in = placed + late + dead", c("in"), c("placed", "late", "dead"))
            hold("assigned = open + fired", c("assigned"), c("open", "fired"))
        elif "staged" in counts or "sealed" in counts:
            hold("in = staged + dead", c("in"), c("staged", "dead"))
            if settled:
                hold("staged = sealed", c("staged"), c("sealed"))
                hold("sealed = acked + dropped", c("sealed"), c("acked", "dropped"))
        elif "filtered" in counts or "out" in counts:
            hold("in = out + filtered + dead", c("in"), c("out", "filtered", "dead"))
    return wrong


def require_balance(status, log="", settled=True):
    """Nothing that weir itself admits, nothing that the equations show, and books that exist at all."""
    books = status.get("books")
    # A node that has seen nothing has no counts, but it is there.
    if not books or not any("read" in counts or name.startswith("scan:") for name, counts in books.items()):
        raise Failure(f"no books of a scan in the status: {str(status)[:300]}", log)
    wrong = unbalanced(books, settled)
    wrong += [r for r in status.get("reasons", []) if "books" in r]
    if wrong:
        raise Failure("the books do not balance:\n" + "\n".join(wrong), log)

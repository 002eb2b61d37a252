"""What a walled child says of a stranger's task, as JSON. Its words are its own: whatever they are, they become an
answer or a reason why there is none, and never end the program that asked or the one that reads its lines."""

import json
import sys

from child_sandbox import ChildEnded


def ask(walls, act, checked, address_space_bytes, cpu_seconds, most_bytes):
    """Runs `act` in a child behind the walls. @param act gives an object that JSON can say
    @param checked makes an answer of that object, or raises @returns the answer @raises ChildEnded with the reason"""
    try:
        words = walls.run(lambda: json.dumps(act()).encode(), address_space_bytes, cpu_seconds, most_bytes)
        answer = checked(json.loads(words))
        line_of(answer)
        return answer
    except ChildEnded:
        raise
    except Exception as error:  # no JSON, too deep, no such keys, no numbers
        raise ChildEnded(f"{type(error).__name__}: {error}") from None


def line_of(answer):
    """Its line, in UTF-8: what that has no place for (half a surrogate pair) becomes `?`.
    @raises ValueError for numbers that JSON has no word for"""
    return json.dumps(answer, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace") + b"\n"


def say(answer):
    """One line on stdout, at once."""
    sys.stdout.buffer.write(line_of(answer))
    sys.stdout.buffer.flush()

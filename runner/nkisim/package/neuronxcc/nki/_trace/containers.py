"""What a Python object of the kernel's holds: items of a list, entries of a dict, fields of an object."""

import types


def entries(value):
    """Key -> item, as it is now; nothing of what is no plain container of the host."""
    if type(value) is list:
        return dict(enumerate(value))
    if type(value) is dict:
        return dict(value)
    if type(value) is set:
        return dict.fromkeys(value)
    return dict(_fields(value))


def entry(value, before, key):
    """An item as entries() had it `before`; a field that the object did not have is its class's."""
    if key in before or isinstance(value, (list, dict, set)):
        return before.get(key)
    return getattr(type(value), key, None)


def put(value, key, item):
    """Sets an item of what entries() read."""
    if isinstance(value, (list, dict)):
        value[key] = item
    else:
        _fields(value)[key] = item


def _fields(value):
    """The fields of an instance of a class of the kernel's; by this way no code of its own runs."""
    if isinstance(value, (type, types.ModuleType)):
        return {}
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}

"""The commands `cache info`, `clear` and `where`: the compiled functions that are kept on disk."""

from .options import Json
from .output import print_json, print_line, print_pairs

__all__ = ["clear", "info", "where"]


def info(as_json: Json = False) -> None:
    """Show how many compiled functions are kept, how much room they take, and where they are.

    Example:

      adjoint cache info

    A function is compiled once for a robot and then found on disk by every later process. The environment variable
    ADJOINT_CACHE names another folder.
    """
    from ..compile import cache_info

    found = cache_info()
    if as_json:
        wanted = ("path", "entries", "bytes", "limit", "disabled")
        print_json({name: getattr(found, name) for name in wanted})
        return
    sizes = f"{found.bytes / 1e6:.1f} MB of at most {found.limit / 1e6:.0f} MB"
    print_pairs(
        {"folder": found.path, "functions": str(found.entries), "size": sizes, "not used": found.disabled or ""}
    )


def clear(as_json: Json = False) -> None:
    """Delete all compiled functions from disk; they are compiled again when they are needed.

    Example:

      adjoint cache clear
    """
    from ..compile import clear_cache

    count = clear_cache()
    if as_json:
        print_json({"deleted": count})
    else:
        print_line(f"deleted {count} compiled function{'s' * (count != 1)}")


def where() -> None:
    """Print the folder of the compiled functions, and nothing else.

    Example:

      du -sh "$(adjoint cache where)"
    """
    from ..compile import cache_info

    print_line(cache_info().path)

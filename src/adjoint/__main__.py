"""`python -m adjoint` is the command line `adjoint`."""

from .cli import main

if __name__ == "__main__":
    main()

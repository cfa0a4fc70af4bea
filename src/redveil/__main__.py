"""`python -m redveil`: the command line."""

from redveil.cli import main

if __name__ == "__main__":
    main()

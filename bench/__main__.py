"""`python -m bench` measures the budgets."""

from bench.budgets import main

if __name__ == "__main__":
    main()

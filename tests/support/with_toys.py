"""``pytest -p with_toys`` runs the shared tests over the toys too."""


def pytest_collection() -> None:
    """Before any test module reads the registry, and after the shape checks are put in."""
    import toys

    toys.enter_all()

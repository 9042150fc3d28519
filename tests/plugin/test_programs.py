"""What a search compiles is kept in pytest's cache folder, unless the user keeps programs elsewhere."""

SOURCE = """
    import jax, jax.numpy as jnp
    from autoprop import Settings, verify
    from hypothesis_jax import array

    compiled = []
    jax.monitoring.register_event_listener(lambda event, **_: compiled.append(event))

    def fn(x):
        return jnp.sum(jnp.sin(x))

    test_fn = verify(fn, array("n"), properties=("adjoint",), settings=Settings(examples=16, signatures=1))

    def test_report():
        hits = compiled.count("/jax/compilation_cache/cache_hits")
        misses = compiled.count("/jax/compilation_cache/cache_misses")
        print("HITS", hits > 0, "MISSES", misses > 0, jax.config.jax_compilation_cache_dir)
"""


def _kept(project):
    folder = project.folder / ".pytest_cache/d/autoprop-programs"
    return [path for path in folder.rglob("*") if path.is_file()]


def test_second_run_compiles_nothing(project):
    """The first run writes programs, the second takes them; JAX's options are as before afterwards."""
    project.write("test_it.py", SOURCE)
    first = project.run("-s")
    assert "MISSES True None" in first.text
    kept = _kept(project)
    assert kept
    second = project.run("-s")
    assert "HITS True MISSES False None" in second.text
    assert _kept(project) == kept


def test_a_folder_of_the_users_own(project):
    """Where JAX is told to keep programs elsewhere, ours is not made, and theirs is used."""
    project.write("test_it.py", SOURCE)
    project.write(
        "conftest.py",
        """
        import jax

        jax.config.update("jax_compilation_cache_dir", "own")
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    """,
    )
    assert "own" in project.run("-s").text
    assert not _kept(project)
    assert list((project.folder / "own").iterdir())


def test_nowhere(project):
    """Without pytest's cache nothing is kept."""
    project.write("test_it.py", SOURCE)
    assert project.run("-p", "no:cacheprovider").status == 0
    assert not _kept(project)

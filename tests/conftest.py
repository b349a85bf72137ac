"""How tests are run. What they share is in ``tests/fixtures``."""

import atexit
import importlib
import os
import shutil
import tempfile

import pytest

# Failed assertions in these say what was compared, as those in tests do.
pytest.register_assert_rewrite("tests.fixtures.browser", "tests.fixtures.rights")

FIXTURES = ("app", "browser", "host", "models", "pictures", "public_weights")
WORKERS = 2


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Share a run of all tests among processes, file by file; ``-n 0`` keeps them in one."""
    options = config.option
    whole = config.args_source is not pytest.Config.ArgsSource.ARGS
    if hasattr(config, "workerinput") or not whole or options.usepdb:
        return  # workers start no workers of their own
    if getattr(options, "numprocesses", 0) is None:
        options.numprocesses, options.dist, options.loadscopereorder = WORKERS, "loadfile", False


def pytest_configure(config: pytest.Config) -> None:
    """One thread a process: tiny networks gain nothing by more, and each process has a core.

    Pages, their clients and browsers leave files in a folder that goes with the process.
    """
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())  # those of tests stay
    tempfile.tempdir = os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="dga-tests-")
    atexit.register(shutil.rmtree, tempfile.tempdir, ignore_errors=True)
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # of the processes that tests start
    if not hasattr(config, "workerinput") and getattr(config.option, "numprocesses", None):
        return  # the process that only shares tests out: importing torch would hold up the others
    for name in FIXTURES:
        config.pluginmanager.import_plugin(f"tests.fixtures.{name}")
    importlib.import_module("torch").set_num_threads(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest begins first, so that no process is left alone with it."""
    for item in items:
        if "browser" in item.path.parts:
            item.add_marker("browser")
    first = ("slow", "browser")
    items.sort(key=lambda item: [item.get_closest_marker(name) is None for name in first])

"""Numbers as text."""

from dga.io.numbers import SPACE, format_share


def test_shares_round_in_one_way():
    """As the page's script does: a half upwards, and nothing is 100 % that is not."""
    assert [format_share(p) for p in (0.4244, 0.425, 0.994, 0.9951, 0.9994, 0.9996, 1.0)] == (
        [f"{whole}{SPACE}%" for whole in (42, 43, 99, 99, 99, 100, 100)]
    )

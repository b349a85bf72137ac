"""What somebody typed: lists, numbers and choices."""

import pytest

from dga.io.parsing import check_choice, split_list, whole_numbers


def test_lists_are_stripped_and_empty_parts_left_out():
    assert split_list(" fog, snow,,") == ("fog", "snow")
    assert split_list(" , ") == ()
    assert whole_numbers("8, 1,-2", "Sizes", "1,8") == (8, 1, -2)


@pytest.mark.parametrize("text", ["", " ,", "1,many", "1.5", "0-10"])
def test_what_is_no_number_is_refused_in_a_sentence(text):
    with pytest.raises(ValueError, match=r"^Sizes look like 1,8, not ") as refusal:
        whole_numbers(text, "Sizes", "1,8")
    assert repr(text) in str(refusal.value)


def test_a_refusal_names_every_choice():
    check_choice("engine", "ray", ("local", "ray"))
    with pytest.raises(ValueError, match=r"^Unknown engine 'dask'\. Choose one of: local, ray\.$"):
        check_choice("engine", "dask", {"local": 1, "ray": 2})

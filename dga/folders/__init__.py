"""Folders of one's own pictures: repaired, or diagnosed with a report; killed, they go on."""

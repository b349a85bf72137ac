"""``python -m dga fetch``: public weights, ahead of their first use."""

import typer

from dga import command_line


@command_line.command
def fetch(profile: command_line.ProfileOption = "imagenet") -> None:
    """Download a profile's public weights; a download that was interrupted goes on."""
    from dga.profiles import get_profile
    from dga.weights.fetch import fetch_missing
    from dga.weights.sources import Sources, check_present

    chosen, sources = get_profile(profile), Sources()
    fetch_missing(chosen, sources)
    missing = sources.list_missing(chosen)
    for name, path in sources.locate(chosen).items():
        if name not in missing:
            typer.echo(f"{name}: {path}")
    check_present(chosen, sources)

"""``python -m dga fetch``: public weights, ahead of their first use."""

import typer

from dga.commands.common import ProfileOption, YesOption, command


@command
def fetch(profile: ProfileOption = "imagenet", yes: YesOption = False) -> None:
    """Download a profile's public weights; broken off, the same command goes on."""
    from dga.profiles import get_profile
    from dga.weights.fetch import discard_altered, fetch_missing
    from dga.weights.sources import Sources, complain

    wanted, sources = get_profile(profile), Sources()
    if (altered := discard_altered(wanted)) is not None:
        typer.echo(f"Removed {altered}: it was altered.", err=True)
    fetch_missing(wanted, sources, yes)
    for name, path in sources.locate(wanted).items():
        if name not in sources.missing(wanted):
            typer.echo(f"{name}: {path}")
    complain(wanted, sources)

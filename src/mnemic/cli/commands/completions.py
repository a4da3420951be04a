"""`mnemic completions`: the script that makes a shell complete commands, options and choices."""

from __future__ import annotations

import click

from mnemic.console.run import Verb


@click.command(cls=Verb)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completions(ctx: click.Context, shell: str) -> None:
    """Print the completion script for SHELL.

    \b
      bash:  mnemic completions bash > ~/.local/share/bash-completion/completions/mnemic
      zsh:   mnemic completions zsh > "${fpath[1]}/_mnemic"
      fish:  mnemic completions fish > ~/.config/fish/completions/mnemic.fish
    """
    from click.shell_completion import get_completion_class

    made_by = get_completion_class(shell)
    assert made_by is not None
    click.echo(made_by(ctx.find_root().command, {}, "mnemic", "_MNEMIC_COMPLETE").source(), nl=False)

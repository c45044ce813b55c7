"""How tokens and roles are shown."""

from yurt.cli.command import Session
from yurt.cli.layout import key_list, table
from yurt.cli.times import time_of
from yurt.model.times import SECOND_NS, time_text
from yurt.sdk.types.acl import Role, Token

NOT_APPLICABLE = "n/a"


def show_token(session: Session, token: Token) -> None:
    """Show a token in full."""
    pairs: list[tuple[str, object]] = [
        ("Accessor ID", token.accessor_id),
        ("Secret ID", token.secret_id),
        ("Name", token.name),
        ("Type", token.type),
        ("Global", token.is_global),
        ("Create Time", token_time(token.create_time)),
        ("Expiry Time", token_time(token.expiration_time)),
        ("Create Index", token.create_index),
        ("Modify Index", token.modify_index),
    ]
    if token.type == "management":
        pairs += [("Policies", NOT_APPLICABLE), ("Roles", NOT_APPLICABLE)]
        session.console.output(key_list(pairs))
        return
    pairs.append(("Policies", f"[{' '.join(token.policies)}]"))
    session.console.output(key_list(pairs))
    session.console.heading("Roles")
    roles = [[role.id, role.name] for role in token.roles]
    session.console.output(table([["ID", "Name"], *roles]) if roles else "<none>")


def role_record(role: Role) -> str:
    """Show a role in full."""
    return key_list(
        [
            ("ID", role.id),
            ("Name", role.name),
            ("Description", role.description),
            ("Policies", policies_of(role)),
            ("Create Index", role.create_index),
            ("Modify Index", role.modify_index),
        ]
    )


def policies_of(role: Role) -> str:
    """The names of a role's policies."""
    return ",".join(policy.name for policy in role.policies)


def token_time(text: str) -> str:
    """Write a time the way tokens have always shown it: with nanoseconds, in UTC."""
    at = time_of(text)
    if not at:
        return ""
    whole = (time_text(at // SECOND_NS * SECOND_NS) or "").removesuffix("Z").replace("T", " ")
    fraction = f".{at % SECOND_NS:09d}".rstrip("0").rstrip(".")
    return f"{whole}{fraction} +0000 UTC"

"""Contexts as people and programs see them: without their tokens."""

import msgspec

from yurt.cli.contexts import Context


def without_token(name: str, context: Context, *, is_current: bool) -> dict[str, object]:
    """A context for machine output; whether there is a token is told, the token is not."""
    fields = {
        field.name: getattr(context, field.name)
        for field in msgspec.structs.fields(Context)
        if field.name != "token"
    }
    record: dict[str, object] = {
        "".join(part.capitalize() for part in field.split("_")): value for field, value in fields.items()
    }
    return record | {"Name": name, "Current": is_current, "HasToken": bool(context.token)}


def record_pairs(name: str, context: Context, *, is_current: bool) -> list[tuple[str, object]]:
    """A context as a key list; settings that are not set are left out."""
    pairs: list[tuple[str, object]] = [
        ("Name", name),
        ("Current", is_current),
        ("Address", context.address),
        ("Namespace", context.namespace),
        ("Region", context.region),
        ("Token", "set" if context.token else ""),
    ]
    more = {
        "CA Cert": context.ca_cert,
        "CA Path": context.ca_path,
        "Client Cert": context.client_cert,
        "Client Key": context.client_key,
        "TLS Server Name": context.tls_server_name,
        "TLS Skip Verify": context.tls_skip_verify,
    }
    return [*pairs, *((title, value) for title, value in more.items() if value)]

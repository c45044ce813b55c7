"""/v1/acl/login and /v1/acl/oidc: tokens for those somebody vouches for."""

from __future__ import annotations

from typing import Any

from yurt.api import needs
from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.logins.bindings import NOTHING_MATCHED, grants, mapped_claims, token_name
from yurt.api.logins.errors import LoginRefused, ProviderUnreachable
from yurt.api.logins.key_sets import KeySets
from yurt.api.logins.oidc import Callback, OidcLogins
from yurt.api.logins.signed_tokens import key_id_of, verified_claims
from yurt.api.routes import WRITE, Handler, Route
from yurt.api.v1.acl_common import if_enabled, refusals
from yurt.api.v1.acl_views import AclTokenView, token_view
from yurt.model.acl.auth_method import GLOBAL, JWT, OIDC, AuthMethod
from yurt.model.acl.token import CLIENT, MANAGEMENT, NAME_LENGTH_MAX, AclToken
from yurt.model.multi_error import multi_error_text
from yurt.model.wire import Wire, wire_names
from yurt.observe.logger import get_logger

TEXT_LENGTH_MAX = 4096

logger = get_logger("login")


class LoginForm(Wire, frozen=True, kw_only=True):
    """A token of somebody who vouches."""

    auth_method_name: str = ""
    login_token: str = ""


class AuthUrlForm(Wire, frozen=True, kw_only=True, rename=wire_names(redirect_uri="RedirectURI")):
    """The beginning of a login with OpenID Connect."""

    auth_method_name: str = ""
    client_nonce: str = ""
    redirect_uri: str = ""


class CompleteAuthForm(Wire, frozen=True, kw_only=True, rename=wire_names(redirect_uri="RedirectURI")):
    """What somebody brings back from their provider."""

    auth_method_name: str = ""
    client_nonce: str = ""
    state: str = ""
    code: str = ""
    redirect_uri: str = ""
    iss: str = ""


# What each member is called when it is missing, in the order that is told.
_MISSING = {
    "auth_method_name": "missing auth method name",
    "login_token": "missing login token",
    "client_nonce": "missing client nonce",
    "state": "missing state",
    "code": "missing code",
    "redirect_uri": "missing redirect URI",
}


class AclLoginHandlers:
    """The handlers of logins."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps
        self._keys = KeySets(deps.server.clock)
        self._oidc = OidcLogins(deps.server.clock, self._keys, sign=deps.server.context.keyring.sign)

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table; whoever wants to log in has no token yet."""
        served: tuple[tuple[str, Handler, str, Any, Any], ...] = (
            ("/v1/acl/login", self.login, "Log in with a signed token", LoginForm, AclTokenView),
            ("/v1/acl/oidc/auth-url", self.auth_url, "Begin a login with OpenID Connect", AuthUrlForm, None),
            (
                "/v1/acl/oidc/complete-auth",
                self.complete_auth,
                "Complete a login with OpenID Connect",
                CompleteAuthForm,
                AclTokenView,
            ),
        )
        return tuple(
            Route(
                path=path,
                handlers=dict.fromkeys(WRITE, if_enabled(self._deps, handler)),
                summary=summary,
                needs=needs.ANYONE,
                request=request,
                response=response,
            )
            for path, handler, summary, request, response in served
        )

    async def login(self, call: Call) -> Answer:
        """PUT /v1/acl/login."""
        form: LoginForm = await call.read(LoginForm)
        _check_given(form, "invalid login request")
        method = self._method(form.auth_method_name, JWT)
        assert method.config is not None
        try:
            keys = await self._keys.keys(method.config, key_id_of(form.login_token))
            claims = verified_claims(
                form.login_token, keys, method.config, now=self._deps.server.clock.now_ns()
            )
            return await self._token(method, claims)
        except (LoginRefused, ProviderUnreachable) as error:
            raise _refused(method, error) from None

    async def auth_url(self, call: Call) -> Answer:
        """PUT /v1/acl/oidc/auth-url."""
        form: AuthUrlForm = await call.read(AuthUrlForm)
        _check_given(form, "invalid OIDC auth-url request")
        method = self._method(form.auth_method_name, OIDC)
        try:
            url = await self._oidc.begin(method, redirect_uri=form.redirect_uri, nonce=form.client_nonce)
        except (LoginRefused, ProviderUnreachable) as error:
            raise _refused(method, error) from None
        return Answer(body={"AuthURL": url})

    async def complete_auth(self, call: Call) -> Answer:
        """PUT /v1/acl/oidc/complete-auth."""
        form: CompleteAuthForm = await call.read(CompleteAuthForm)
        _check_given(form, "invalid OIDC complete-auth request")
        method = self._method(form.auth_method_name, OIDC)
        callback = Callback(
            nonce=form.client_nonce,
            state=form.state,
            code=form.code,
            redirect_uri=form.redirect_uri,
            issuer=form.iss,
        )
        try:
            return await self._token(method, await self._oidc.complete(method, callback))
        except (LoginRefused, ProviderUnreachable) as error:
            raise _refused(method, error) from None

    def _method(self, name: str, kind: str) -> AuthMethod:
        method = self._deps.state.acl.auth_methods.get(name)
        if method is None:
            raise HttpError(400, f'auth-method "{name}" not found')
        if method.type != kind:
            raise HttpError(400, f'auth-method "{name}" is of type {method.type}, not {kind}')
        return method

    async def _token(self, method: AuthMethod, claims: dict[str, Any]) -> Answer:
        """Make a token with what the binding rules of a method grant."""
        acl = self._deps.state.acl
        mapped = mapped_claims(claims, method)
        granted = grants(mapped, [one for one in acl.binding_rules if one.auth_method == method.name], acl)
        token = AclToken(
            accessor_id="",
            secret_id="",
            name=token_name(method, mapped)[:NAME_LENGTH_MAX],
            type=MANAGEMENT if granted.is_management else CLIENT,
            policies=granted.policies or None,
            is_global=method.token_locality == GLOBAL,
            expiration_ttl=method.max_token_ttl,
        )
        with refusals():
            made = await self._deps.commands.acl_tokens.create(token, granted.roles)
        logger.info("login.granted", method=method.name, accessor_id=made.accessor_id, type=made.type)
        return Answer(body=token_view(made, acl), index=made.modify_index)


def _refused(method: AuthMethod, error: LoginRefused | ProviderUnreachable) -> HttpError:
    logger.warning("login.refused", method=method.name, reason=str(error))
    if isinstance(error, ProviderUnreachable):
        return HttpError(500, f"login failed: {error}")
    if str(error) == NOTHING_MATCHED:
        return HttpError(400, NOTHING_MATCHED)
    return HttpError(403, f"login refused: {error}")


def _check_given(form: LoginForm | AuthUrlForm | CompleteAuthForm, told: str) -> None:
    members = [(name, text) for name, text in _MISSING.items() if hasattr(form, name)]
    missing = [text for name, text in members if not getattr(form, name)]
    if missing:
        raise HttpError(400, f"{told}: {multi_error_text(missing)}")
    for name, _ in members:
        if name != "login_token" and len(getattr(form, name)) > TEXT_LENGTH_MAX:
            raise HttpError(400, f"{told}: {name} is longer than {TEXT_LENGTH_MAX} characters")

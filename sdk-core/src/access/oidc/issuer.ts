// The issuer of OpenID Connect: where it is, and what it says of a visitor. The only importer of openid-client.

import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  calculatePKCECodeChallenge,
  clockTolerance,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
} from 'openid-client'
import { messageOf, SvcError } from '../../errors.ts'
import { matchesAccessToken } from './access-token-hash.ts'
import type { Flow } from './flows.ts'
import { CLOCK_TOLERANCE_S, ISSUER_DEADLINE_S } from './limits.ts'
import { type CheckedOidc, isOnThisMachine } from './options.ts'
import { type Claims, lacksClaims } from './user.ts'

/** An Issuer asks the issuer, and checks all that it says. */
export class Issuer {
  readonly #config: Configuration
  readonly #options: CheckedOidc

  private constructor(config: Configuration, options: CheckedOidc) {
    this.#config = config
    this.#options = options
  }

  /**
   * Asks the issuer for its description.
   * @throws SvcError `oidc_unavailable`
   */
  static async discover(options: CheckedOidc): Promise<Issuer> {
    const { issuer, clientId, clientSecret } = options
    const execute = [
      enableNonRepudiationChecks, // The signatures of ID tokens are verified.
      ...(isOnThisMachine(issuer) ? [allowInsecureRequests] : []),
    ]
    try {
      const metadata = { [clockTolerance]: CLOCK_TOLERANCE_S }
      const more = { execute, timeout: ISSUER_DEADLINE_S }
      const config = await discovery(issuer, clientId, metadata, authenticating(clientSecret), more)
      return new Issuer(config, options)
    } catch (cause) {
      throw unavailable(`${issuer.href} gave no description of an issuer of OpenID Connect`, cause)
    }
  }

  /** Resolves with the address at which a visitor signs in. */
  async signInUrl({ state, nonce, verifier }: Flow, redirectUri: URL, asOther: boolean): Promise<URL> {
    return buildAuthorizationUrl(this.#config, {
      redirect_uri: redirectUri.href,
      scope: this.#options.scope,
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(asOther && { prompt: this.#promptForOther() }),
    })
  }

  /**
   * Exchanges the code for the claims of the visitor, and for the ID token if the issuer wants it at the sign-out.
   * @param callback the redirect URI, with the parameters that the issuer added
   * @throws the error of the library when anything is wrong, or does not belong to `flow`
   */
  async claimsOf(callback: URL, flow: Flow): Promise<{ claims: Claims; idToken: string | undefined }> {
    const tokens = await authorizationCodeGrant(this.#config, callback, {
      expectedState: flow.state,
      expectedNonce: flow.nonce,
      pkceCodeVerifier: flow.verifier,
      idTokenExpected: true,
    })
    const claims: Claims = { ...tokens.claims() }
    if (!(await matchesAccessToken(claims.at_hash, tokens.id_token!, tokens.access_token)))
      throw new SvcError('oidc_unavailable', 'the ID token is for another access token')
    const idToken = this.#hasSignOut ? tokens.id_token : undefined
    const { userinfo_endpoint } = this.#config.serverMetadata()
    if (userinfo_endpoint === undefined || !lacksClaims(claims, this.#options)) return { claims, idToken }
    const info = await fetchUserInfo(this.#config, tokens.access_token, String(claims.sub))
    return { claims: { ...info, ...claims }, idToken }
  }

  /**
   * Returns the address at which a visitor signs out of the issuer (OpenID Connect RP-Initiated Logout §2), which leads back to
   * `after`; undefined when it has none.
   * @param idToken with which the issuer need not ask the visitor; undefined when the site has forgotten it
   */
  signOutUrl(after: string, idToken: string | undefined): URL | undefined {
    if (!this.#hasSignOut) return undefined
    const hint = idToken === undefined ? {} : { id_token_hint: idToken }
    return buildEndSessionUrl(this.#config, { post_logout_redirect_uri: after, ...hint })
  }

  get #hasSignOut(): boolean {
    return this.#config.serverMetadata().end_session_endpoint !== undefined
  }

  #promptForOther(): string {
    const { prompt_values_supported: values } = this.#config.serverMetadata()
    return Array.isArray(values) && !values.includes('select_account') ? 'login' : 'select_account'
  }
}

/** `client_secret_basic` is what all issuers take that do not say otherwise (OpenID Connect Discovery §3). */
function authenticating(secret: string | undefined): ClientAuth {
  if (secret === undefined) return None()
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)]
  return (server, ...others) => {
    const { token_endpoint_auth_methods_supported: methods } = server
    const isPost = methods?.includes('client_secret_post') && !methods.includes('client_secret_basic')
    return (isPost ? post : basic)(server, ...others)
  }
}

/** The error that `claimsOf` rejects with is the visitor's doing, and says nothing about the issuer. */
export function isVisitorsFault(error: unknown): boolean {
  const {
    code,
    error: name,
    cause,
  } = error as { code?: unknown; error?: unknown; cause?: { cause?: object } }
  // What the visitor came back with: the issuer's refusal, or parameters that are not of this issuer.
  if (code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR' || Object.hasOwn(cause?.cause ?? {}, 'parameters'))
    return true
  return code === 'OAUTH_RESPONSE_BODY_ERROR' && name === 'invalid_grant'
}

/** Returns the error of an issuer that did not answer, with what may be the reason. */
export function unavailable(message: string, cause: unknown): SvcError {
  const isInPage = 'document' in globalThis || 'WorkerGlobalScope' in globalThis
  const hint = isInPage ? '. A page can ask only issuers that allow it by CORS' : ''
  return new SvcError('oidc_unavailable', `${message}: ${reasonOf(cause)}${hint}`, { cause })
}

/** The library's own messages say less than what is beneath them. */
function reasonOf(error: unknown): string {
  const beneath = (error as { cause?: { message?: unknown } }).cause?.message
  return typeof beneath === 'string' ? `${messageOf(error)} (${beneath})` : messageOf(error)
}

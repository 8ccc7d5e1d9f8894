// An issuer of OpenID Connect on this machine, by oidc-provider. Visitors choose an account on its page, without a password.
/// <reference path="./oidc-provider.d.ts" />

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'

/** The registration of a site. */
export interface OidcClient {
  id: string
  /** Without one, the client is public. */
  secret?: string
  redirectUris: string[]
  afterSignOut?: string[]
}

/** What the issuer says of an account, by its subject. */
export type Accounts = Record<string, Record<string, unknown>>

export interface OidcIssuer {
  readonly url: string
  close(): void
}

/** Starts one whose ID tokens have no claims but the subject: all others are in the UserInfo response. */
export async function startOidcIssuer(
  clients: readonly OidcClient[],
  accounts: Accounts,
): Promise<OidcIssuer> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(url, {
    clients: clients.map(registrationOf),
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    scopes: ['openid', 'email', 'profile', 'groups'],
    clientBasedCORS: () => true,
    findAccount: (_: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, ...accounts[accountId] }),
    }),
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true } },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/choose/${uid}` },
    loadExistingGrant: async ({ oidc }: { oidc: Context }) => {
      const grant = new provider.Grant({
        accountId: oidc.session.accountId,
        clientId: oidc.client.clientId,
      })
      grant.addOIDCScope('openid email profile groups')
      await grant.save()
      return grant
    },
    cookies: { keys: ['a key for tests'] },
    pkce: { required: () => true },
  })
  const answer = provider.callback()
  server.on('request', (request, response) => {
    const [, place, , account] = new URL(request.url!, url).pathname.split('/')
    if (place !== 'choose') return answer(request, response)
    if (account === undefined)
      return response.setHeader('Content-Type', 'text/html').end(choice(request.url!, accounts))
    const result = account === '-' ? { error: 'access_denied' } : { login: { accountId: account } }
    provider.interactionFinished(request, response, result).catch((error: Error) => response.destroy(error))
  })
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  return { url, close }
}

interface Context {
  session: { accountId: string }
  client: { clientId: string }
}

function registrationOf({ id, secret, redirectUris, afterSignOut = [] }: OidcClient): object {
  return {
    client_id: id,
    redirect_uris: redirectUris,
    post_logout_redirect_uris: afterSignOut,
    ...(secret === undefined ? { token_endpoint_auth_method: 'none' } : { client_secret: secret }),
  }
}

function choice(path: string, accounts: Accounts): string {
  const links = Object.keys(accounts).map((name) => `<p><a href="${path}/${name}">${name}</a></p>`)
  return `<!doctype html><title>Choose an account</title>${links.join('')}`
}

// A site with `access` on a real socket, and visitors with addresses of their choice.

import { type Gate, openGate } from '../../src/access/index.ts'
import type { AccessOptions } from '../../src/access/options.ts'
import type { DeriveKey } from '../../src/access/password-hash.ts'
import type { FetchHandler } from '../../src/exchange/fetch-handler.ts'
import { type Answer, type Fields, GuardedSite, listenGuarded } from '../support/guarded-site.ts'

/** The field that stands for what the relay says of the visitor. */
const ADDRESS = 'x-test-address'
/** What a browser sends when a person opens a page. */
export const NAVIGATION: Fields = { Accept: 'text/html', 'Sec-Fetch-Mode': 'navigate' }

export class AccessSite extends GuardedSite {
  /** @param urlPort the port of the site's URL, when that has to be known before */
  static async start(
    handler: FetchHandler,
    access: AccessOptions,
    derive?: DeriveKey,
    opened?: (gate: Gate) => void,
    urlPort?: number,
  ): Promise<AccessSite> {
    const gate = await openGate(access, derive)
    opened?.(gate)
    const guarded = gate.before(handler)
    return new AccessSite(
      await listenGuarded((request, info) => {
        const address = request.headers.get(ADDRESS)
        request.headers.delete(ADDRESS)
        const remote = address === null ? undefined : { address, port: 1, reportedBy: 'relay' as const }
        return guarded(request, { ...info, remote })
      }, urlPort),
    )
  }

  /** Sends a form as a browser does, from a page of the site. */
  post(action: string, fields: Record<string, string>, headers: Fields = {}): Promise<Answer> {
    return this.ask(`/.svc/access/${action}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        Origin: this.origin,
        ...NAVIGATION,
        ...headers,
      },
      body: String(new URLSearchParams(fields)),
    })
  }

  /** Signs in. @returns the field Cookie of the requests that follow */
  async signIn(fields: Record<string, string>, headers: Fields = {}): Promise<string> {
    const answer = await this.post('sign-in', fields, headers)
    if (answer.status !== 303) throw new Error(`${answer.status}: ${answer.text}`)
    return cookieOf(answer)
  }
}

export function cookieOf({ headers }: Answer): string {
  return headers.get('set-cookie')!.split(';')[0]!
}

export function from(address: string): Fields {
  return { [ADDRESS]: address }
}

export function basic(user: string, password: string): Fields {
  return { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }
}

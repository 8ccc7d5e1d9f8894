// Sign-ins that have begun and are not finished. Each is in a cookie of the browser where it began; the site stores nothing.

import { fromBase64 } from '../../bytes/base64.ts'
import { base64url } from '../../bytes/base64url.ts'
import { hexOf } from '../../bytes/hex.ts'
import { constantTimeEqual } from '../../handlers/constant-time-equal.ts'
import type { Mac } from '../../handlers/sessions/mac.ts'
import { RecentMap } from '../recent-map.ts'
import { FINISHED_MAX, FLOW_MS, FLOWS_MAX, NEXT_MAX_CHARS } from './limits.ts'

/** A Flow is one sign-in at the issuer, by the authorization code flow with PKCE. */
export interface Flow {
  /** The random name of the sign-in, and its `state` at the issuer. */
  readonly state: string
  /** The path to which the visitor returns. */
  readonly next: string
  /** The nonce of the ID token. */
  readonly nonce: string
  /** The code verifier of PKCE (RFC 7636). */
  readonly verifier: string
}

/** The cookie of each sign-in has its state at the end of the name. Its prefix keeps sites of sibling hostnames from setting it. */
const COOKIE = '__Host-svc-oidc-'
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax'
const STATE_BYTES = 16
const STATE = /^[\da-f]{32}$/
/** The time at which it began in milliseconds, the path, and the MAC of all and the host. */
const VALUE = /^(\d{1,15})\.([\w-]*)\.[\w-]{43}$/

export class Flows {
  readonly #mac: Mac
  /** The states of sign-ins that are finished. */
  readonly #finished = new RecentMap<true>(FINISHED_MAX)

  constructor(mac: Mac) {
    this.#mac = mac
  }

  /** Begins a sign-in, and resolves with it and the values of `Set-Cookie`. */
  async begin(request: Request, host: string, next: string): Promise<{ flow: Flow; cookies: string[] }> {
    const state = hexOf(crypto.getRandomValues(new Uint8Array(STATE_BYTES)))
    const path = next.length > NEXT_MAX_CHARS ? '/' : next
    const value = await this.#value(host, state, String(Date.now()), path)
    const others = [...cookiesOf(request)].sort(
      ([, a], [, b]) => Number.parseInt(b, 10) - Number.parseInt(a, 10),
    )
    return {
      flow: await this.#flow(state, path),
      cookies: [
        `${COOKIE}${state}=${value}; ${ATTRIBUTES}; Max-Age=${FLOW_MS / 1000}`,
        ...others.slice(FLOWS_MAX - 1).map(([other]) => this.end(other)),
      ],
    }
  }

  /** Resolves with the sign-in of this state that began in this browser; undefined when there is none, or it is over. */
  async of(request: Request, host: string, state: string): Promise<Flow | undefined> {
    const value = cookiesOf(request).get(state)
    const [, time = '', encoded = ''] = VALUE.exec(value ?? '') ?? []
    const next = pathIn(encoded)
    if (value === undefined || next === undefined) return undefined
    if (!(await constantTimeEqual(value, await this.#value(host, state, time, next)))) return undefined
    const isOver = Date.now() >= Number(time) + FLOW_MS || this.#finished.get(state)
    return isOver ? undefined : this.#flow(state, next)
  }

  /** Marks the sign-in as finished. @returns false when it was before */
  finish({ state }: Flow): boolean {
    const isFirst = !this.#finished.get(state)
    this.#finished.set(state, true)
    return isFirst
  }

  /** Returns the value of `Set-Cookie` that deletes the cookie of a sign-in. */
  end(state: string): string {
    return `${COOKIE}${state}=; ${ATTRIBUTES}; Max-Age=0`
  }

  async #flow(state: string, next: string): Promise<Flow> {
    const [nonce, verifier] = await Promise.all([
      this.#mac('oidc-nonce', state),
      this.#mac('oidc-verifier', state),
    ])
    return { state, next, nonce: base64url(nonce), verifier: base64url(verifier) }
  }

  async #value(host: string, state: string, time: string, next: string): Promise<string> {
    const code = await this.#mac('oidc-flow', host, state, time, next)
    return `${time}.${base64url(new TextEncoder().encode(next))}.${base64url(code)}`
  }
}

/** Returns a Cookie field without the cookies of sign-ins. */
export function withoutFlows(cookies: string): string {
  return pairsOf(cookies)
    .filter((pair) => !pair.startsWith(COOKIE))
    .join('; ')
}

/** Returns the values of the cookies by the state of their sign-in. */
function cookiesOf({ headers }: Request): Map<string, string> {
  const own = pairsOf(headers.get('cookie') ?? '').filter((pair) => pair.startsWith(COOKIE))
  const entries = own.map((pair): [string, string] => {
    const end = pair.indexOf('=')
    return [pair.slice(COOKIE.length, end), pair.slice(end + 1)]
  })
  return new Map(entries.filter(([state]) => STATE.test(state)))
}

function pairsOf(cookies: string): string[] {
  return cookies
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '')
}

function pathIn(encoded: string): string | undefined {
  const bytes = fromBase64(encoded.replaceAll('-', '+').replaceAll('_', '/'))
  return bytes && new TextDecoder().decode(bytes)
}

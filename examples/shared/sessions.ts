// Keeps the logins of an example's visitors: their names by the secret that a cookie carries.
import { cleanText } from './clean-text.ts'

/** The oldest go. */
const SESSIONS_MAX = 1000
const NAME_MAX_CHARS = 40

/** The cookie's name: browsers keep it to this one host, and send it nowhere without TLS (RFC 6265bis §4.1.3.2). */
export const COOKIE = '__Host-session'
/** The cookie's attributes, as frameworks name them: out of reach of scripts, and not sent with other sites' forms. */
export const COOKIE_OPTIONS = { path: '/', httpOnly: true, secure: true, sameSite: 'lax' } as const

export class Sessions {
  readonly #names: Map<string, string> = new Map()

  /** @returns the session's secret, or undefined when the name is empty or too long */
  begin(name: unknown): string | undefined {
    const clean = typeof name === 'string' ? cleanText(name) : ''
    if (clean === '' || clean.length > NAME_MAX_CHARS) return undefined
    if (this.#names.size >= SESSIONS_MAX) this.end(this.#names.keys().next().value)
    const secret = crypto.randomUUID()
    this.#names.set(secret, clean)
    return secret
  }

  nameOf(secret: string | undefined): string | undefined {
    return this.#names.get(secret ?? '')
  }

  end(secret: string | undefined): void {
    this.#names.delete(secret ?? '')
  }
}

// Checks the field Authorization, with which programs come in. A right one is remembered, so that it is checked once.

import { base64url } from '../bytes/base64url.ts'
import { credentials as credentialsOf, userAndPassword } from '../handlers/authentication.ts'
import type { Mac } from '../handlers/sessions/mac.ts'
import { BEARER_SUBJECT, type Credentials } from './credentials.ts'
import type { GuessLimiter } from './guess-limiter.ts'
import { PASSWORD_MAX_CHARS, REMEMBERED_MAX } from './limits.ts'
import { RecentMap } from './recent-map.ts'

/** Who sent the field, or what is wrong with it. */
export type Authorized = { subject: string } | 'absent' | 'wrong' | 'too_many'

export class Authorization {
  readonly #credentials: Credentials
  readonly #limiter: GuessLimiter
  readonly #mac: Mac
  /** The subjects of right fields, by the code of the field: the memory has no secret. */
  readonly #right = new RecentMap<string>(REMEMBERED_MAX)

  constructor(credentials: Credentials, limiter: GuessLimiter, mac: Mac) {
    this.#credentials = credentials
    this.#limiter = limiter
    this.#mac = mac
  }

  /** @param network the visitor's, which bears the guess */
  async of(request: Request, network: string | undefined): Promise<Authorized> {
    const pair = this.#credentials.hasPasswords && userAndPassword(credentialsOf(request, 'basic'))
    const token = this.#credentials.hasBearer && credentialsOf(request, 'bearer')
    if (!pair && !token) return 'absent'
    const code = await this.#codeOf(request)
    const known = this.#right.get(code)
    if (known !== undefined) return { subject: known }
    const guess = this.#limiter.take(network)
    if (!guess) return 'too_many'
    const subject = pair ? await this.#subjectOf(...pair) : await this.#bearerOf(token || '')
    if (subject === undefined) return 'wrong'
    guess.right()
    this.#right.set(code, subject)
    return { subject }
  }

  /**
   * Returns whether the field is for the site's own check, and not for the handler. All of a scheme that it uses are: what a handler
   * gets must not tell a visitor which guess was right.
   */
  isOwn(request: Request): boolean {
    const { hasPasswords, hasBearer } = this.#credentials
    const [scheme = ''] = (request.headers.get('authorization') ?? '')
      .trim()
      .toLowerCase()
      .split(/[ \t,]/, 1)
    return (hasPasswords && scheme === 'basic') || (hasBearer && scheme === 'bearer')
  }

  async #subjectOf(user: string, password: string): Promise<string | undefined> {
    if (password.length > PASSWORD_MAX_CHARS) return undefined
    return this.#credentials.subjectOf(user, password)
  }

  async #bearerOf(token: string): Promise<string | undefined> {
    return (await this.#credentials.isToken(token)) ? BEARER_SUBJECT : undefined
  }

  async #codeOf({ headers }: Request): Promise<string> {
    return base64url(await this.#mac('authorization', headers.get('authorization') ?? ''))
  }
}

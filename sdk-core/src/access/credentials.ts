// Checks passwords and tokens: every check does the same work, whoever is asked for and whatever is wrong.

import { base64url } from '../bytes/base64url.ts'
import { constantTimeEqual } from '../handlers/constant-time-equal.ts'
import type { CheckedAccess, Password } from './options.ts'
import { type DeriveKey, hashOf, randomSalt } from './password-hash.ts'

/** The subject of sessions of the password of all. */
const PASSWORD_SUBJECT = 'password'
/** The subject of programs with the token. */
export const BEARER_SUBJECT = 'bearer'

const encoder = new TextEncoder()

/** Credentials knows the passwords and the token of a site. */
export class Credentials {
  readonly #access: CheckedAccess
  /** Undefined when no password is stored as a hash. */
  readonly #derive: DeriveKey | undefined
  readonly #decoySalt = randomSalt()
  /** The last hash: they run one after the other, because each takes 16 MiB. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(access: CheckedAccess, derive: DeriveKey | undefined) {
    this.#access = access
    // If one password is stored as a hash, each check costs one.
    const isHash = (password: Password | undefined): boolean => typeof password === 'object'
    this.#derive = [access.password, ...access.users.values()].some(isHash) ? derive : undefined
  }

  get hasUsers(): boolean {
    return this.#access.users.size > 0
  }

  get hasPasswords(): boolean {
    return this.hasUsers || this.#access.password !== undefined
  }

  /** Whether nobody has to know anything, or to be let in. */
  get areNone(): boolean {
    return !this.hasPasswords && !this.hasBearer && !this.canKnock && this.#access.oidc === undefined
  }

  /** Whether visitors may ask the owner instead. */
  get canKnock(): boolean {
    return this.#access.knock
  }

  get hasBearer(): boolean {
    return this.#access.bearer !== undefined
  }

  /**
   * Resolves with the subject whose password this is.
   * @param user a name, or any text for the password of all
   */
  async subjectOf(user: string, given: string): Promise<string | undefined> {
    const name = user.normalize('NFC')
    const own = this.#access.users.get(name)
    const password: Password | undefined = own ?? this.#access.password
    const isRight = await this.#isRight(given, password)
    if (!isRight || password === undefined) return undefined
    return own === undefined ? PASSWORD_SUBJECT : `user-${base64url(encoder.encode(name))}`
  }

  /** Resolves with whether this is the token. */
  async isToken(given: string): Promise<boolean> {
    const isSame = await constantTimeEqual(given, this.#access.bearer ?? '')
    return isSame && this.hasBearer
  }

  async #isRight(given: string, password: Password | undefined): Promise<boolean> {
    const stored = typeof password === 'object' ? password : undefined
    const derive = this.#derive
    const hash = derive ? await this.#hash(given, stored?.salt ?? this.#decoySalt, derive) : ''
    if (stored) return constantTimeEqual(hash, stored.hash)
    return constantTimeEqual(given.normalize('NFC'), (password as string | undefined) ?? '')
  }

  #hash(given: string, salt: Uint8Array, derive: DeriveKey): Promise<string> {
    const next = this.#last.then(() => hashOf(given, salt, derive))
    this.#last = next.catch(() => {}) // Who asked for it gets the error.
    return next
  }
}

// The administrators beside the holder of ADMIN_TOKEN: each has a name, and a token that can be taken back.

import { RelayError } from '../errors.ts'
import { digestOf, findByDigest, newToken } from './access-tokens.ts'
import type { Policy } from './policy.ts'
import type { PolicyFile } from './policy-file.ts'

/** Administrators with a name. Each request of one is compared with all. */
export const ADMINISTRATORS_MAX = 64
/** The name in the audit log of who has `ADMIN_TOKEN`. No administrator can have it. */
const OPERATOR = 'ADMIN_TOKEN'

interface Known {
  name: string
  digest: Buffer
}

export class Administrators {
  readonly #policy: Policy
  readonly #operator: Known | undefined
  #file: PolicyFile | undefined
  #known: readonly Known[] = []

  /** @param adminToken without it, nobody is an administrator */
  constructor(policy: Policy, adminToken: string | undefined) {
    this.#policy = policy
    this.#operator = adminToken === undefined ? undefined : { name: OPERATOR, digest: digestOf(adminToken) }
  }

  get isOff(): boolean {
    return this.#operator === undefined
  }

  /** The name of the administrator to whom a token belongs now; undefined for any other text. */
  nameOf(token: string): string | undefined {
    if (this.#operator === undefined) return undefined
    const { file } = this.#policy
    if (file !== this.#file) {
      this.#file = file
      this.#known = Object.entries(file.administrators).map(([name, { token_sha256 }]) => ({
        name,
        digest: Buffer.from(token_sha256, 'hex'),
      }))
    }
    return findByDigest([this.#operator, ...this.#known], digestOf(token))?.name
  }

  list(): { name: string; created_at: string }[] {
    return Object.entries(this.#policy.file.administrators).map(([name, { created_at }]) => ({
      name,
      created_at,
    }))
  }

  /**
   * @returns the token, which nothing shows again
   * @throws RelayError `invalid_request` when the name is taken, or there are too many
   */
  async add(name: string): Promise<string> {
    const { token, digest } = newToken('admin')
    const fault = await this.#policy.decide((file) => {
      const { administrators } = file
      if (Object.hasOwn(administrators, name)) return [file, `${name} has a token: take that back first`]
      if (Object.keys(administrators).length >= ADMINISTRATORS_MAX)
        return [file, `there are ${ADMINISTRATORS_MAX} administrators: remove one`]
      const added = { token_sha256: digest, created_at: new Date().toISOString() }
      return [{ ...file, administrators: { ...administrators, [name]: added } }, undefined]
    })
    if (fault !== undefined) throw new RelayError('invalid_request', fault)
    return token
  }

  /** Takes the token back, at once. @throws RelayError `invalid_request` when there is no such administrator */
  async remove(name: string): Promise<void> {
    const isRemoved = await this.#policy.decide((file) => {
      const { [name]: removed, ...administrators } = file.administrators
      return [{ ...file, administrators }, removed !== undefined]
    })
    if (!isRemoved) throw new RelayError('invalid_request', `there is no administrator ${name}`)
  }
}

// Invitations: who may register at a relay that lets in nobody without one, and with what an identity came in.

import { randomBytes } from 'node:crypto'
import { type Identity, type Invitation, type InvitationRequest, identityKey } from '@svc/protocol'
import { networkOf } from '../client-address/ip-address.ts'
import { now, toWallTime } from '../clock.ts'
import { RelayError } from '../errors.ts'
import type { Logger } from '../log/log.ts'
import type { AttemptCounter } from '../rate-limit/failed-attempts.ts'
import { digestOf, findByDigest, newToken } from './access-tokens.ts'
import type { Policy } from './policy.ts'
import { INVITATIONS_MAX, INVITED_NAMES_MAX, type PolicyFile, type StoredInvitation } from './policy-file.ts'

const ID_BYTES = 6

interface Known extends StoredInvitation {
  digest: Buffer
}

/** What a registration asks for with respect to invitations. */
interface Newcomer {
  identity: Identity
  /** Id of the invitation with which the identity wants in. */
  invitation?: string | undefined
}

export class Invitations {
  readonly #policy: Policy
  readonly #log: Logger
  readonly #attempts: AttemptCounter
  #file: PolicyFile | undefined
  #known: readonly Known[] = []

  constructor(policy: Policy, attempts: AttemptCounter, log: Logger) {
    this.#policy = policy
    this.#attempts = attempts
    this.#log = log
  }

  list(): Invitation[] {
    return this.#policy.file.invitations.map(invitationOf)
  }

  /** @throws RelayError `invalid_request` when there are too many */
  async add({
    names,
    ttl,
    note = '',
  }: InvitationRequest): Promise<{ token: string; invitation: Invitation }> {
    const { token, digest } = newToken('invitation')
    const time = toWallTime(now())
    const added: StoredInvitation = {
      id: randomBytes(ID_BYTES).toString('hex'),
      token_sha256: digest,
      names,
      note,
      created_at: new Date(time).toISOString(),
      expires_at: ttl === undefined ? undefined : new Date(time + ttl * 1000).toISOString(),
      identity_keys: [],
    }
    const hasRoom = await this.#policy.decide((file) => {
      const mayAdd = file.invitations.length < INVITATIONS_MAX
      return [mayAdd ? { ...file, invitations: [...file.invitations, added] } : file, mayAdd]
    })
    if (!hasRoom)
      throw new RelayError('invalid_request', `there are ${INVITATIONS_MAX} invitations: withdraw one`)
    return { token, invitation: invitationOf(added) }
  }

  /** Who came in with it is out, at once. @throws RelayError `invalid_request` when there is no such invitation */
  async withdraw(id: string): Promise<void> {
    const isFound = await this.#policy.decide((file) => {
      const invitations = file.invitations.filter((one) => one.id !== id)
      return [{ ...file, invitations }, invitations.length < file.invitations.length]
    })
    if (!isFound) throw new RelayError('invalid_request', `there is no invitation ${id}`)
  }

  /**
   * Checks a token before anything is signed.
   * @param address of the client, normalized
   * @returns the id of the invitation, if the identity needs one
   * @throws RelayError `invitation_required`, `invitation_rejected`, or `rate_limited` for a wrong token after 5 in a
   * minute from its network, at all machines of the relay together
   */
  async check(identity: Identity, token: string | undefined, address: string): Promise<string | undefined> {
    if (!this.#needsOne(identity)) return undefined
    if (token === undefined || token === '') {
      this.require({ identity })
      return undefined
    }
    const found = findByDigest(this.#all(), digestOf(token))
    if (found === undefined) throw await this.#refusal(address)
    const fault = faultOf(this.#policy.file, found.id, keyOf(identity))
    if (fault !== undefined) throw rejected(fault)
    return found.id
  }

  /** @throws RelayError `invitation_required` when the relay does not let the identity in, and it has no invitation */
  require({ identity, invitation }: Newcomer): void {
    if (invitation === undefined && this.#policy.isUninvited(keyOf(identity)))
      throw new RelayError(
        'invitation_required',
        'this relay lets nobody register without an invitation, which its operator gives out',
      )
  }

  /**
   * Uses an invitation up: of all machines and requests together, no more names come in than it has.
   * @returns a function that takes that back, for a registration that failed otherwise
   * @throws RelayError `invitation_required`, `invitation_rejected`, or an error of a change of the policy
   */
  async use(newcomer: Newcomer): Promise<() => Promise<void>> {
    this.require(newcomer)
    const { identity, invitation: id } = newcomer
    if (id === undefined || !this.#needsOne(identity)) return async () => {}
    const key = keyOf(identity)
    const { fault, isNew } = await this.#policy.decide((file) => {
      const fault = faultOf(file, id, key)
      const isNew = fault === undefined && !isIn(file, id, key)
      return [isNew ? withKeys(file, id, (keys) => [...keys, key]) : file, { fault, isNew }]
    })
    if (fault !== undefined) throw rejected(fault)
    if (isNew) this.#log.info({ identity: key, invitation: id }, 'an identity came in with an invitation')
    return async () => {
      if (isNew)
        await this.#policy.decide((file) => [
          withKeys(file, id, (keys) => keys.filter((one) => one !== key)),
          {},
        ])
    }
  }

  #needsOne(identity: Identity): boolean {
    return !this.#policy.identityStatus(keyOf(identity)).isApproved
  }

  #all(): readonly Known[] {
    const { file } = this.#policy
    if (file !== this.#file) {
      this.#file = file
      this.#known = file.invitations.map((one) => ({ ...one, digest: Buffer.from(one.token_sha256, 'hex') }))
    }
    return this.#known
  }

  async #refusal(address: string): Promise<RelayError> {
    const { isFirst, waitS } = await this.#attempts.failed(networkOf(address))
    if (waitS === undefined) return rejected('is not known here, or was withdrawn')
    if (isFirst) this.#log.warn({ address, waitS }, 'a client sent too many wrong invitations')
    return new RelayError('rate_limited', 'your network sent too many wrong invitations', {
      'Retry-After': `${waitS}`,
    })
  }
}

function keyOf({ name, address }: Identity): string {
  return identityKey(name, address)
}

function rejected(why: string): RelayError {
  return new RelayError('invitation_rejected', `the invitation ${why}`)
}

function isIn({ invitations }: PolicyFile, id: string, key: string): boolean {
  return invitations.some((one) => one.id === id && one.identity_keys.includes(key))
}

/** Why an identity may not come in; undefined when it may, or is in. */
function faultOf(file: PolicyFile, id: string, key: string): string | undefined {
  const { invitations } = file
  const found = invitations.find((one) => one.id === id)
  if (found === undefined) return 'was withdrawn'
  const { expires_at, identity_keys, names } = found
  if (identity_keys.includes(key)) return undefined
  if (expires_at !== undefined && Date.parse(expires_at) <= toWallTime(now())) return 'has expired'
  if (identity_keys.length >= names) return 'is used up'
  const all = invitations.reduce((sum, one) => sum + one.identity_keys.length, 0)
  return all < INVITED_NAMES_MAX
    ? undefined
    : 'cannot be used: this relay has room for no more names with one'
}

function withKeys(file: PolicyFile, id: string, change: (keys: readonly string[]) => string[]): PolicyFile {
  const invitations = file.invitations.map((one) =>
    one.id === id ? { ...one, identity_keys: change(one.identity_keys) } : one,
  )
  return { ...file, invitations }
}

function invitationOf({ token_sha256: _hidden, ...invitation }: StoredInvitation): Invitation {
  return invitation
}

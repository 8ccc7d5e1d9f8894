// The policy that all machines share: one machine changes it at a time, and the others apply the change. Its entry is
// `<version> <sealed JSON>`.

import type { Logger } from '../../../core/log/log.ts'
import type { Policy, PolicySharing } from '../../../core/policy/policy.ts'
import { type PolicyFile, parsePolicyFile } from '../../../core/policy/policy-file.ts'
import { CHANGES_KEPT, POLICY_ATTEMPTS_MAX } from '../limits.ts'
import type { MachineLinks } from '../links/machine-links.ts'
import type { RedisKeys } from '../redis/keys.ts'
import { type RedisClient, RedisError, redisIsDown } from '../redis/redis-client.ts'
import { SET_POLICY } from '../redis/scripts.ts'
import type { Seal } from './seal.ts'

interface SharedPolicyParts {
  run: string
  redis: RedisClient
  keys: RedisKeys
  seal: Seal
  policy: Policy
  links: () => Pick<MachineLinks, 'sendChangeToLagging'> | undefined
  log: Logger
}

interface Versioned {
  version: number
  file: PolicyFile
}

const ENTRY = /^(\d{1,15}) (\S+)$/

export class SharedPolicy implements PolicySharing {
  readonly #parts: SharedPolicyParts
  /** Version of the policy in use. */
  #version = 0
  /** Entry of the policy in use; undefined until Redis had one. */
  #entry: string | undefined

  constructor(parts: SharedPolicyParts) {
    this.#parts = parts
  }

  /** The entry of the policy in use, for a machine that may have received an older one. */
  get entry(): string | undefined {
    return this.#entry
  }

  async change(edit: (file: PolicyFile) => PolicyFile): Promise<void> {
    const { policy } = this.#parts
    try {
      for (let attempt = 0; attempt < POLICY_ATTEMPTS_MAX; attempt++) {
        const { text, known } = await this.#read()
        if (await this.#set(text, known?.version, edit(known?.file ?? policy.file))) return
      }
    } catch (error) {
      if (!(error instanceof RedisError)) throw error
    }
    throw redisIsDown()
  }

  /** Applies Redis's policy, or writes this machine's to it. @throws RedisError */
  async load(): Promise<void> {
    for (let attempt = 0; attempt < POLICY_ATTEMPTS_MAX; attempt++) {
      const { text, known } = await this.#read()
      if (known !== undefined) return this.#use(known, text)
      // Redis has no policy, an older one than before, or one that no machine wrote.
      if (await this.#set(text, undefined, this.#parts.policy.file)) return
    }
    throw new RedisError('Redis does not keep the policy')
  }

  /** Applies a change that another machine made. */
  apply(entry: string): void {
    const changed = this.#parse(entry)
    if (changed !== undefined && changed.version > this.#version) this.#use(changed, entry)
  }

  /** Applies a policy that another machine sent directly, and writes it to Redis if that has an older one. */
  applyDirectly(entry: string): void {
    const before = this.#version
    this.apply(entry)
    if (this.#version > before) this.load().catch(() => {})
  }

  #use({ version, file }: Versioned, entry: string): void {
    this.#version = version
    this.#entry = entry
    this.#parts.policy.applyShared(file)
  }

  /** @returns the entry in Redis or '', and its policy, which is undefined for an invalid entry */
  async #read(): Promise<{ text: string; known: Versioned | undefined }> {
    const { redis, keys, seal } = this.#parts
    const text = `${(await redis.command('GET', keys.policy)) ?? ''}`
    const known = text === '' ? undefined : this.#parse(text)
    const isPast = known !== undefined && known.version < this.#version
    if (isPast) seal.warn('policy', 'replayed')
    return { text, known: isPast ? undefined : known }
  }

  async #set(expected: string, version = 0, file: PolicyFile): Promise<boolean> {
    const { redis, keys, seal, run, links, policy } = this.#parts
    const json = JSON.stringify(file)
    // The version of a Redis which lost data may be lower.
    const next = Math.max(version, this.#version) + 1
    const entry = `${next} ${seal.close('policy', '', `${next}`, json)}`
    const reply = await redis.run(
      SET_POLICY,
      { policy: keys.policy, changes: keys.changes },
      { expected, entry, changesKept: CHANGES_KEPT, machine: run },
    )
    if (Number(reply) !== 1) return false
    // A later version, which has this change too, may be in use by now.
    if (next > this.#version) {
      this.#version = next
      this.#entry = entry
      policy.apply(file)
    }
    links()?.sendChangeToLagging('policy', '', entry)
    return true
  }

  /** @returns undefined for what no machine wrote, or this version cannot read */
  #parse(entry: string): Versioned | undefined {
    const { seal, log } = this.#parts
    const [, version, sealed] = ENTRY.exec(entry) ?? []
    if (version === undefined || sealed === undefined) {
      seal.warn('policy', 'forged')
      return undefined
    }
    const json = seal.open('policy', '', version, sealed)
    if (json === undefined) return undefined
    try {
      return { version: Number(version), file: parsePolicyFile(json) }
    } catch (error) {
      log.error(
        { reason: (error as Error).message },
        'the policy of another machine cannot be read, and changes nothing here',
      )
      return undefined
    }
  }
}

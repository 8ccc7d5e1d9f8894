// Files of the state directory that all machines share: identity, certificates and what belongs to them. Redis has each
// as `<version> <sealed>`.

import { join } from 'node:path'
import { finishManagedPair } from '../../../core/certificates/managed-files.ts'
import { SettingsError } from '../../../core/config/settings-error.ts'
import type { Logger } from '../../../core/log/log.ts'
import { readIfPresent, writePrivate, writePublic } from '../../../core/storage/state-file.ts'
import { CHANGES_KEPT, REDIS_ATTEMPTS_MAX, SHARED_FILE_MAX_BYTES } from '../limits.ts'
import type { RedisKeys } from '../redis/keys.ts'
import type { RedisClient } from '../redis/redis-client.ts'
import { PUT_FILES } from '../redis/scripts.ts'
import { isNewerPair, isPair } from './pem-pair.ts'
import type { Seal } from './seal.ts'

const IDENTITY_FILE = 'identity.json'
/** Files that are not secret, and that other users may read. */
const PUBLIC_FILES: readonly string[] = ['ca.pem']
/** Files that change together. A key comes before its certificate, whose arrival puts the pair into use. */
const GROUPS: readonly (readonly string[])[] = [
  [IDENTITY_FILE],
  ['ca-key.pem', 'ca.pem'],
  ['acme-account.key'],
  ['acme-registration.json'],
  ['acme-budget.json'],
  ['privatekey.pem', 'acme-directory.json', 'fullchain.pem'],
  ['quic-privatekey.pem', 'quic-fullchain.pem'],
  ['dnssec-csk.json'],
]
const FILES: readonly string[] = GROUPS.flat()
/** The groups that are a certificate with its key, by their first file. */
const PAIRS: Readonly<Record<string, { key: string; chain: string }>> = {
  'privatekey.pem': { key: 'privatekey.pem', chain: 'fullchain.pem' },
  'quic-privatekey.pem': { key: 'quic-privatekey.pem', chain: 'quic-fullchain.pem' },
}

interface SharedFilesParts {
  directory: string
  run: string
  redis: RedisClient
  keys: RedisKeys
  seal: Seal
  log: Logger
}

interface Version {
  version: number
  /** What the file says. */
  text: string
}

const ENTRY = /^(\d{1,15}) (\S+)$/

export class SharedFiles {
  readonly #parts: SharedFilesParts
  /** The last known version of each file. */
  readonly #known = new Map<string, Version>()
  /** What Redis has of each file, as far as this machine knows. */
  readonly #there = new Map<string, string>()
  #onChange: ((name: string) => void) | undefined
  /** Serializes changes, so that two writes of a file do not collide. */
  #running: Promise<unknown> = Promise.resolve()

  constructor(parts: SharedFilesParts) {
    this.#parts = parts
  }

  /** @param listener called with each file that another machine has changed, when it is written here */
  onChange(listener: (name: string) => void): void {
    this.#onChange = listener
  }

  /**
   * Writes Redis's files here, before this machine reads its own. A certificate that the operator has renewed here
   * meanwhile stays, and {@link publish} sends it to the others.
   * @throws SettingsError when this machine has another identity, or another secret
   */
  async load(): Promise<void> {
    await this.#inTurn(async () => {
      // Finishes a write that the end of the process interrupted.
      await finishManagedPair(this.#parts.directory)
      for (const group of GROUPS) await this.#load(group)
    })
  }

  /** Reads one file from Redis. @returns whether it has changed here @throws SettingsError as {@link load} does */
  async refresh(name: string): Promise<boolean> {
    return await this.#inTurn(() => this.#refresh(name))
  }

  /** Writes this machine's files to Redis: after {@link load}, all that differ are newer. @throws RedisError */
  async publish(names: readonly string[] = FILES): Promise<void> {
    await this.#inTurn(async () => {
      for (const group of GROUPS) if (group.some((name) => names.includes(name))) await this.#publish(group)
    })
  }

  /** Called when Redis has lost everything. */
  forget(): void {
    this.#there.clear()
  }

  /** Applies a change that another machine made. Never rejects. */
  async apply(name: string, entry: string): Promise<void> {
    if (!FILES.includes(name)) return
    try {
      const isChanged = await this.#inTurn(async () => {
        const received = this.#open(name, entry)
        if (received === undefined || received.version <= (this.#known.get(name)?.version ?? 0)) return false
        this.#there.set(name, entry)
        return await this.#take(name, received)
      })
      if (isChanged) this.#onChange?.(name)
    } catch (error) {
      this.#parts.log.error(
        { file: name, reason: (error as Error).message },
        'a file that another machine has changed cannot be taken',
      )
    }
  }

  async #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const done = this.#running.then(change)
    this.#running = done.catch(() => {})
    return await done
  }

  async #load(group: readonly string[]): Promise<void> {
    const found = new Map<string, Version>()
    for (const name of group) {
      const entry = await this.#get(name)
      if (entry === undefined) continue
      const there = this.#open(name, entry)
      if (there === undefined)
        throw new SettingsError('CLUSTER_SECRET', 'is another one than that of the other machines')
      found.set(name, there)
    }
    const isNewerHere = await this.#isNewerHere(group, found)
    for (const [name, there] of found)
      if (isNewerHere) this.#known.set(name, there)
      else await this.#take(name, there)
  }

  /** Whether a certificate of this machine was issued later than Redis's. */
  async #isNewerHere(group: readonly string[], found: ReadonlyMap<string, Version>): Promise<boolean> {
    const pair = PAIRS[group[0]!]
    const there = pair && found.get(pair.chain)
    if (pair === undefined || there === undefined) return false
    return isNewerPair(await this.#readPair(pair), there.text)
  }

  async #refresh(name: string): Promise<boolean> {
    const entry = await this.#get(name)
    const there = entry === undefined ? undefined : this.#open(name, entry)
    const known = this.#known.get(name)?.version ?? 0
    if (there === undefined || there.version === known) return false
    if (there.version > known) return await this.#take(name, there)
    this.#parts.seal.warn('file', 'replayed')
    return false
  }

  async #get(name: string): Promise<string | undefined> {
    const { redis, keys } = this.#parts
    const entry = await redis.command('GET', keys.file(name))
    if (typeof entry === 'string') this.#there.set(name, entry)
    else this.#there.delete(name)
    return this.#there.get(name)
  }

  /** Writes all files of a group if one of them differs from Redis's, otherwise none. */
  async #publish(group: readonly string[]): Promise<void> {
    const { directory } = this.#parts
    const here: [name: string, text: string][] = []
    for (const name of group) {
      const text = await readIfPresent(join(directory, name))
      if (text !== undefined) here.push([name, text])
    }
    if (!here.some(([name, text]) => this.#differs(name, text))) return
    const pair = PAIRS[group[0]!]
    // An operator is replacing them just now, or has made a mistake, which this machine logs.
    if (pair !== undefined && !isPair(await this.#readPair(pair))) return
    for (let attempt = 0; attempt < REDIS_ATTEMPTS_MAX; attempt++) {
      if (await this.#put(here)) return
      // Another machine was faster, or the entry in Redis is invalid.
      let isOvertaken = false
      for (const name of group) {
        const before = this.#known.get(name)?.version ?? 0
        if (await this.#refresh(name)) this.#onChange?.(name)
        isOvertaken ||= (this.#known.get(name)?.version ?? 0) > before
      }
      if (isOvertaken) return
    }
  }

  /** @returns whether Redis had what this machine expected, so that the files were written */
  async #put(files: readonly [name: string, text: string][]): Promise<boolean> {
    const { redis, keys, seal, run } = this.#parts
    const put = files.map(([name, text]) => {
      const version = (this.#known.get(name)?.version ?? 0) + 1
      return { name, text, version, entry: `${version} ${seal.close('file', name, `${version}`, text)}` }
    })
    const reply = await redis.run(
      PUT_FILES,
      { changes: keys.changes, files: put.map(({ name }) => keys.file(name)) },
      {
        changesKept: CHANGES_KEPT,
        machine: run,
        files: put.flatMap(({ name, entry }) => [name, this.#there.get(name) ?? '', entry]),
      },
    )
    if (Number(reply) !== 1) return false
    for (const { name, entry, ...version } of put) {
      this.#known.set(name, version)
      this.#there.set(name, entry)
    }
    return true
  }

  #differs(name: string, text: string): boolean {
    return !this.#there.has(name) || this.#known.get(name)?.text !== text
  }

  async #readPair({ key, chain }: { key: string; chain: string }): Promise<{
    key: string | undefined
    chain: string | undefined
  }> {
    const { directory } = this.#parts
    return {
      key: await readIfPresent(join(directory, key)),
      chain: await readIfPresent(join(directory, chain)),
    }
  }

  async #take(name: string, taken: Version): Promise<boolean> {
    const { directory } = this.#parts
    const { text } = taken
    const path = join(directory, name)
    const here = await readIfPresent(path)
    if (name === IDENTITY_FILE && here !== undefined && !isSameJson(here, text))
      throw new SettingsError(
        path,
        'is another identity than that of the other machines: move it away, or set another CLUSTER_URL',
      )
    this.#known.set(name, taken)
    if (here === text || (name === IDENTITY_FILE && here !== undefined)) return false
    await (PUBLIC_FILES.includes(name) ? writePublic : writePrivate)(path, text)
    return true
  }

  /** @returns undefined for what no machine wrote */
  #open(name: string, entry: string): Version | undefined {
    if (entry.length > SHARED_FILE_MAX_BYTES) throw new SettingsError('CLUSTER_URL', `${name} is too long`)
    return openFile(this.#parts.seal, name, entry)
  }
}

/** @returns undefined for what no machine wrote */
export function openFile(seal: Seal, name: string, entry: string): Version | undefined {
  const [, version = '', sealed = ''] = ENTRY.exec(entry) ?? []
  const text = seal.open('file', name, version, sealed)
  return text === undefined ? undefined : { version: Number(version), text }
}

function isSameJson(one: string, other: string): boolean {
  try {
    return JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other))
  } catch {
    return false
  }
}

// Keeps the chains of sites for their return, under `sites/` of the state directory: one file for each identity, never
// a key. A file begins with the ACME directory that its chain comes from: text before PEM is allowed (RFC 7468 §2).
// Memory holds only a summary of each; a chain is read when its site asks for it.

import { readdir, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import type { SiteCertificateSummary } from '../../core/certificates/certificate-status.ts'
import type { Logger } from '../../core/log/log.ts'
import {
  readIfPresent,
  sizeIfPresent,
  sweepTemporaries,
  writePrivate,
} from '../../core/storage/state-file.ts'
import type { CertificateRequest } from './certificate-request.ts'
import { answers, type KeptLeaf, leafOf } from './kept-chain.ts'
import {
  SITE_AWAY_MAX_MS,
  SITE_CHAIN_MAX_BYTES,
  SITE_CHAINS_MAX,
  SITE_CHAINS_READ_AT_ONCE,
  SITE_CHAINS_UNWRITTEN_MAX,
  SITE_SWEEP_INTERVAL_MS,
} from './limits.ts'

const FOLDER = 'sites'
/** `NAME@ADDRESS.pem`, of an identity key `NAME:ADDRESS`: a colon is no character of Windows' file names. */
const FILE_NAME = /^([a-z0-9-]{1,63})@(0x[0-9a-f]{40})\.pem$/
const IDENTITY_KEY = /^[a-z0-9-]{1,63}:0x[0-9a-f]{40}$/

/** The summary of a kept chain in memory. Times are wall clock milliseconds. */
interface Kept {
  /** Names of the leaf, sorted. */
  names: string
  notAfter: number
  seenAt: number
  /** Modification time of the file, from which the next process learns when the site was last seen. */
  notedAt: number
}

/** The content of a file of the folder; undefined: nothing that the relay keeps. */
type Inspected = [string, Kept] | 'of another authority' | undefined

export class ChainStore {
  readonly #folder: string
  /** How the file of a chain begins. */
  readonly #head: string
  readonly #log: Logger
  readonly #max: number
  /** By identity key, the least recently seen site first. */
  readonly #kept = new Map<string, Kept>()
  /** Chains that could not be written, by identity key. */
  readonly #unwritten = new Map<string, string>()
  /** The last pending change of each file, by identity key. */
  readonly #changes = new Map<string, Promise<void>>()
  readonly #loaded: Promise<void>
  readonly #sweeper: NodeJS.Timeout
  #isClosed = false

  /**
   * Reads the existing files in the background.
   * @param directory the state directory
   * @param acmeDirectory URL of the directory of the authority that issues now: chains from another one are removed
   * @param max maximum number of kept chains
   */
  constructor(directory: string, acmeDirectory: string, log: Logger, max: number = SITE_CHAINS_MAX) {
    this.#folder = join(directory, FOLDER)
    this.#head = `ACME directory: ${acmeDirectory}\n`
    this.#log = log
    this.#max = max
    this.#loaded = this.#load().catch((err) => log.warn({ err }, 'kept certificates of sites cannot be read'))
    this.#sweeper = setInterval(() => void this.sweep(), SITE_SWEEP_INTERVAL_MS).unref()
  }

  get summary(): SiteCertificateSummary {
    let first: Kept | undefined
    for (const kept of this.#kept.values()) if (!first || kept.notAfter < first.notAfter) first = kept
    return { count: this.#kept.size, names: first?.names.split(' ') ?? [], notAfter: first?.notAfter }
  }

  has(identityKey: string): boolean {
    return this.#kept.has(identityKey)
  }

  /** Whether an identity's kept certificate has exactly these names. */
  hadNames(identityKey: string, names: readonly string[]): boolean {
    return this.#kept.get(identityKey)?.names === inOneText(names)
  }

  /** Resolves with the kept chain, PEM, that answers a request. */
  async find(identityKey: string, request: CertificateRequest): Promise<string | undefined> {
    await this.#loaded
    if (!this.#kept.has(identityKey)) return undefined
    await this.#changes.get(identityKey)
    const chain = this.#unwritten.get(identityKey) ?? (await this.#readOwn(pathOf(this.#folder, identityKey)))
    if (chain === undefined) {
      this.#kept.delete(identityKey)
      return undefined
    }
    const leaf = leafOf(chain)
    if (leaf === undefined) await this.#drop(identityKey)
    if (leaf === undefined || !answers(leaf, request)) return undefined
    this.seen(identityKey)
    return chain
  }

  /** Returns whether an identity's kept chain begins with this certificate. @param leaf DER */
  async holds(identityKey: string, leaf: Buffer): Promise<boolean> {
    await this.#loaded
    if (!this.#kept.has(identityKey)) return false
    await this.#changes.get(identityKey)
    const chain = this.#unwritten.get(identityKey) ?? (await this.#readOwn(pathOf(this.#folder, identityKey)))
    return chain !== undefined && leafOf(chain)?.certificate.equals(leaf) === true
  }

  /** Replaces an identity's kept chain. Never rejects: a chain that cannot be written stays in memory. */
  async put(identityKey: string, chain: string): Promise<void> {
    const leaf = leafOf(chain)
    if (leaf === undefined || !IDENTITY_KEY.test(identityKey)) return
    await this.#loaded
    const now = Date.now()
    this.#keep(identityKey, keptOf(leaf, now))
    await this.#change(identityKey, () => this.#write(identityKey, chain))
  }

  /** Records that a site is present. */
  seen(identityKey: string): void {
    const kept = this.#kept.get(identityKey)
    if (kept === undefined) return
    kept.seenAt = Date.now()
    this.#kept.delete(identityKey)
    this.#kept.set(identityKey, kept)
  }

  /** Drops chains that have expired, and those of sites that stayed away. */
  async sweep(): Promise<void> {
    const now = Date.now()
    for (const [identityKey, kept] of [...this.#kept]) {
      if (this.#isClosed) return
      if (isOver(kept, now)) await this.#drop(identityKey)
      else if (kept.seenAt - kept.notedAt >= SITE_SWEEP_INTERVAL_MS) await this.#note(identityKey, kept)
    }
  }

  /** Resolves when all writes have ended. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper)
    this.#isClosed = true
    await this.#loaded
    for (const [identityKey, kept] of this.#kept)
      if (kept.seenAt - kept.notedAt >= SITE_SWEEP_INTERVAL_MS) await this.#note(identityKey, kept)
    await Promise.all(this.#changes.values())
  }

  async #load(): Promise<void> {
    await sweepTemporaries(this.#folder)
    const files = await readdir(this.#folder).catch((error): string[] => {
      if (error.code === 'ENOENT') return []
      throw error
    })
    const found: [string, Kept][] = []
    let others = 0
    for (let at = 0; at < files.length && !this.#isClosed; at += SITE_CHAINS_READ_AT_ONCE)
      for (const one of await this.#inspect(files.slice(at, at + SITE_CHAINS_READ_AT_ONCE))) {
        if (one === 'of another authority') others += 1
        else if (one !== undefined) found.push(one)
      }
    if (others > 0)
      this.#log.info(
        { count: others },
        'kept certificates of sites come from another ACME directory: removed',
      )
    found.sort(([, one], [, other]) => one.seenAt - other.seenAt)
    for (const [identityKey, kept] of found) this.#keep(identityKey, kept)
  }

  /** Removes useless files. Files with other names are not the relay's, and stay. */
  async #inspect(files: readonly string[]): Promise<Inspected[]> {
    const now = Date.now()
    const inspected = files.map(async (file): Promise<Inspected> => {
      const [, name, address] = FILE_NAME.exec(file) ?? []
      if (name === undefined) return undefined
      const path = join(this.#folder, file)
      const chain = await this.#read(path)
      if (chain === undefined) return undefined
      const leaf = leafOf(chain)
      const seenAt = await stat(path).then(
        ({ mtimeMs }) => Math.min(mtimeMs, now),
        () => 0,
      )
      const kept = leaf && keptOf(leaf, seenAt)
      const isOfOther = kept !== undefined && !chain.startsWith(this.#head)
      if (kept !== undefined && !isOfOther && !isOver(kept, now)) return [`${name}:${address}`, kept]
      if (kept === undefined)
        this.#log.warn({ file: path }, 'a kept certificate of a site is damaged: removed')
      await rm(path, { force: true }).catch(() => {})
      return isOfOther ? 'of another authority' : undefined
    })
    return await Promise.all(inspected)
  }

  /** @returns the chain of a file, an empty text when it is from another authority; undefined as `#read` does */
  async #readOwn(path: string): Promise<string | undefined> {
    const text = await this.#read(path)
    if (text === undefined) return undefined
    return text.startsWith(this.#head) ? text.slice(this.#head.length) : ''
  }

  /** @returns undefined for a file that is missing or cannot be read, an empty text for one that is too long */
  async #read(path: string): Promise<string | undefined> {
    try {
      if ((await sizeIfPresent(path)) > SITE_CHAIN_MAX_BYTES) return ''
      return await readIfPresent(path)
    } catch {
      return undefined
    }
  }

  #keep(identityKey: string, kept: Kept): void {
    this.#kept.delete(identityKey)
    this.#kept.set(identityKey, kept)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > this.#max && oldest !== undefined) void this.#drop(oldest)
  }

  async #write(identityKey: string, chain: string): Promise<void> {
    try {
      await writePrivate(pathOf(this.#folder, identityKey), this.#head + chain)
      this.#unwritten.delete(identityKey)
    } catch (err) {
      this.#log.warn({ err }, "a site's certificate cannot be kept over a restart")
      this.#unwritten.delete(identityKey)
      this.#unwritten.set(identityKey, chain)
      const [oldest] = this.#unwritten.keys()
      if (this.#unwritten.size > SITE_CHAINS_UNWRITTEN_MAX) this.#unwritten.delete(oldest!)
    }
  }

  async #drop(identityKey: string): Promise<void> {
    this.#kept.delete(identityKey)
    this.#unwritten.delete(identityKey)
    await this.#change(identityKey, async () => {
      // A chain that arrived in the meantime is in the file already, or is about to be.
      if (!this.#kept.has(identityKey)) await rm(pathOf(this.#folder, identityKey), { force: true })
    })
  }

  async #note(identityKey: string, kept: Kept): Promise<void> {
    const seen = new Date(kept.seenAt)
    await utimes(pathOf(this.#folder, identityKey), seen, seen).catch(() => {})
    kept.notedAt = kept.seenAt
  }

  /** Makes the changes of one file one at a time. Never rejects. */
  #change(identityKey: string, change: () => Promise<void>): Promise<void> {
    const before = this.#changes.get(identityKey) ?? Promise.resolve()
    const done: Promise<void> = before
      .then(change)
      .catch(() => {})
      .then(() => {
        if (this.#changes.get(identityKey) === done) this.#changes.delete(identityKey)
      })
    this.#changes.set(identityKey, done)
    return done
  }
}

function keptOf({ names, notAfter }: KeptLeaf, seenAt: number): Kept {
  return { names: inOneText(names), notAfter, seenAt, notedAt: seenAt }
}

function inOneText(names: readonly string[]): string {
  return [...names].sort().join(' ')
}

function isOver({ notAfter, seenAt }: Kept, now: number): boolean {
  return notAfter <= now || now - seenAt > SITE_AWAY_MAX_MS
}

function pathOf(folder: string, identityKey: string): string {
  return join(folder, `${identityKey.replace(':', '@')}.pem`)
}

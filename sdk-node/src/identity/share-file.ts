// Keeps the share links of a tunnel in a file beside the identity file, for its next start. Only its owner may read the file, and it has
// hashes of the secrets.

import { basename, dirname, join } from 'node:path'
import { normalizeName } from '@svc/protocol'
import { asSvcError, isRecord, SvcError } from '@svc/sdk-core'
import { SHARES_MAX, type ShareStore, type StoredShare } from '@svc/sdk-core/access'
import { withLockFile } from './lock-file.ts'
import { readPrivateFile, replacePrivateFile } from './private-file.ts'

/** How long a change waits for that of another process, in milliseconds. */
const LOCK_WAIT_MS = 4_000

/**
 * A ShareFile is `identity@demo.shares.json` beside `identity.json`. Each change locks it and reads it again: another process may run
 * the same tunnel at another relay, and a link for one sign-in is used once at both together.
 */
export class ShareFile implements ShareStore {
  readonly #path: string
  /** The last change: they run one after another. */
  #last: Promise<unknown> = Promise.resolve()

  /** @param name the name of the tunnel; undefined for one whose name is derived from the identity */
  constructor(identityPath: string, name: string | undefined) {
    // A name that is none is refused when the tunnel is published, and must not lead elsewhere until then.
    const label = name === undefined ? undefined : (normalizeName(name) ?? '')
    const stem = basename(identityPath, '.json')
    this.#path = join(dirname(identityPath), `${stem}${label === undefined ? '' : `@${label}`}.shares.json`)
  }

  /** @throws SvcError `identity_unavailable` when the file cannot be used */
  async load(): Promise<readonly StoredShare[]> {
    return this.#exclusively(async () => [...(await this.#read()).values()])
  }

  add(share: StoredShare): Promise<void> {
    return this.#change((shares) => void shares.set(share.id, share))
  }

  use(share: StoredShare): Promise<boolean> {
    return this.#change((shares) => {
      const before = shares.get(share.id)
      if (before?.hash === undefined) return false
      shares.set(share.id, { ...share, uses: before.uses + 1 })
      return true
    })
  }

  remove(id: string): Promise<void> {
    return this.#change((shares) => void shares.delete(id))
  }

  #change<T>(change: (shares: Map<string, StoredShare>) => T): Promise<T> {
    return this.#exclusively(() =>
      this.#locked(async () => {
        const shares = await this.#read()
        const result = change(shares)
        const kept = [...shares.values()].slice(-SHARES_MAX)
        const text = `${JSON.stringify({ shares: kept.map(encode) }, undefined, 2)}\n`
        await replacePrivateFile(this.#path, text).catch((cause) => {
          throw this.#notKept(cause)
        })
        return result
      }),
    )
  }

  #notKept(cause: unknown): SvcError {
    return asSvcError(cause, 'identity_unavailable', `share links cannot be kept in ${this.#path}`)
  }

  /** @throws SvcError `identity_unavailable` when another process keeps the lock */
  #locked<T>(work: () => Promise<T>): Promise<T> {
    const signal = AbortSignal.timeout(LOCK_WAIT_MS)
    return withLockFile(`${this.#path}.lock`, work, { signal, failed: (cause) => this.#notKept(cause) })
  }

  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => {}) // Who asked for it gets the error.
    return done
  }

  /** Resolves with the links that have not ended, in the order in which they were made. */
  async #read(): Promise<Map<string, StoredShare>> {
    let text: string
    try {
      text = await readPrivateFile(this.#path, 'identity_unavailable')
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return new Map()
      throw asSvcError(cause, 'identity_unavailable', `${this.#path} cannot be read`)
    }
    const shares = this.#parse(text).filter(
      ({ until }) => until === undefined || Date.now() < until.getTime(),
    )
    return new Map(shares.map((share) => [share.id, share]))
  }

  #parse(text: string): StoredShare[] {
    try {
      const { shares } = JSON.parse(text)
      return (shares as unknown[]).map(decode)
    } catch {
      throw new SvcError(
        'identity_unavailable',
        `${this.#path} has no share links in it: remove the file, which withdraws them`,
      )
    }
  }
}

/** The address of who used it stays in memory. */
function encode({ id, hash, note, once, until, createdAt, uses, lastUse }: StoredShare): object {
  return { id, hash, note, once, until, created_at: createdAt, uses, used_at: lastUse?.at }
}

/** @throws TypeError for what is no link */
function decode(value: unknown): StoredShare {
  if (!isRecord(value)) throw new TypeError('no object')
  const { id, hash, note, once, uses } = value
  const isLink = typeof id === 'string' && typeof note === 'string' && typeof once === 'boolean'
  const isCounted = Number.isSafeInteger(uses) && (hash === undefined || typeof hash === 'string')
  if (!isLink || !isCounted) throw new TypeError('no link')
  const at = value.used_at === undefined ? undefined : timeOf(value.used_at)
  return {
    id,
    hash: hash as string | undefined,
    note,
    once,
    until: value.until === undefined ? undefined : timeOf(value.until),
    createdAt: timeOf(value.created_at),
    uses: uses as number,
    lastUse: at && { at, address: undefined },
  }
}

function timeOf(value: unknown): Date {
  const time = new Date(String(value))
  if (Number.isNaN(time.getTime())) throw new TypeError('no time')
  return time
}

// Keeps the relay's copy of a site's files up to date, for as long as the site is online. It does not disturb the live tunnel.

import { backoffMs, jittered, pause } from '@svc/protocol/timers'
import type { Registration } from '../control/lease.ts'
import type { LeaseKeeper } from '../control/lease-keeper.ts'
import type { RelayClient } from '../control/relay-client.ts'
import { SvcError } from '../errors.ts'
import { announce, type CacheRequest, deleteSnapshot, upload } from './cache-client.ts'
import { asCacheError, isPassing, notOffered } from './cache-failures.ts'
import type { CacheFiles, CacheStatus, SiteCache } from './cache-options.ts'
import { FileHashes } from './file-hashes.ts'
import { CACHE_FAILURES_TOLD, CACHE_LOOK_MS, CACHE_RETRY_FIRST_MS, CACHE_RETRY_MAX_MS } from './limits.ts'
import { listFiles } from './listed-files.ts'
import { checkManifest, type ManifestRules, manifestOf } from './manifest.ts'

export interface CacheKeeperParts extends ManifestRules {
  client: RelayClient
  keeper: LeaseKeeper
  files: () => CacheFiles | Promise<CacheFiles>
  /** False while the relay is away, or lets no visitor in: the upload waits until then. */
  isOnline(): boolean
  /** Called when the status changes. */
  changed(status: CacheStatus): void
  onError(error: SvcError): void
}

export class CacheKeeper implements SiteCache {
  /** What the relay has answered last. */
  present = false
  expires_at: string | undefined
  #parts: CacheKeeperParts
  #hashes = new FileHashes()
  /** Aborted when the site ends, or when the files are to be removed. */
  #run = new AbortController()
  /** Settles when nothing is in progress. Checks run one after another, and after a removal. */
  #last: Promise<void> = Promise.resolve()
  /** The check that has not begun yet, and so will see all changes until now. */
  #waiting: Promise<void> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #isRemoved = false
  #failures = 0
  /** The relay asked the SDK to wait until this time of `performance.now()` (`Retry-After`). */
  #notBefore = 0
  /** The message of the last error, until a check succeeds: a lasting error is reported once. */
  #told: string | undefined
  /** The manifest that was uploaded last. */
  #uploaded: string | undefined
  /** The number of uploads that the relay had lost at the next check. */
  #losses = 0

  constructor(parts: CacheKeeperParts) {
    this.#parts = parts
  }

  /** Checks at once, unless the files were removed: the site is online, maybe with another lease. */
  check(): void {
    if (!this.#isRemoved) this.#look()
  }

  /** Checks at once, also after {@link remove}. Resolves when the check is done. */
  refresh(): Promise<void> {
    this.#isRemoved = false
    return this.#look()
  }

  /** @throws SvcError when the relay did not delete the files */
  remove(): Promise<void> {
    this.#isRemoved = true
    this.stop()
    const removal = this.#last.then(() => this.#remove())
    this.#last = removal.catch(() => {})
    return removal
  }

  /**
   * Stops: sends no more requests, though a listing of files may still finish. {@link check} and {@link refresh} start
   * again.
   */
  stop(): void {
    clearTimeout(this.#timer)
    this.#run.abort()
    this.#waiting = undefined
    this.#last = Promise.resolve()
  }

  #look(): Promise<void> {
    clearTimeout(this.#timer)
    if (this.#run.signal.aborted) this.#run = new AbortController()
    if (this.#waiting) return this.#waiting
    const look = this.#last.then(() => {
      if (this.#waiting === look) this.#waiting = undefined
      return this.#attempt(this.#run.signal)
    })
    this.#waiting = look
    this.#last = look
    return look
  }

  /** Never rejects. */
  async #attempt(signal: AbortSignal): Promise<void> {
    const { keeper, isOnline } = this.#parts
    await pause(this.#notBefore - performance.now(), signal)
    const { lease } = keeper
    if (signal.aborted || !lease || !isOnline()) return
    if (!lease.cacheLimits) {
      // The relay of the next lease may have a static cache.
      this.#tell(notOffered())
      return
    }
    try {
      await this.#update(lease, signal)
      if (signal.aborted) return
      this.#failures = 0
      this.#told = undefined
      this.#again(Math.max(CACHE_LOOK_MS, pauseAfter(this.#losses)))
    } catch (error) {
      if (!signal.aborted) this.#failed(asCacheError(error))
    }
  }

  /** @throws SvcError */
  async #update({ cacheLimits }: Registration, signal: AbortSignal): Promise<void> {
    const { files: given } = this.#parts
    const files = this.#hashes.recall(await listFiles(given))
    // The SDK reads no file before it knows that all fit.
    checkManifest(manifestOf(this.#parts, files), cacheLimits!)
    await this.#hashes.complete(files, signal)
    const manifest = manifestOf(this.#parts, files)
    const status = await announce(this.#request(signal), manifest)
    this.#changed(status)
    const text = JSON.stringify(manifest)
    if (status.present || text !== this.#uploaded) this.#losses = 0
    if (status.present) return
    this.#losses += 1
    this.#uploaded = text
    const blobs = files.map(({ blob }) => blob)
    const stored = await upload(this.#request(signal), manifest, blobs).catch((error) => {
      // A file may have changed after it was hashed, with the same size and time.
      this.#hashes.forget()
      throw error
    })
    this.#changed(stored)
  }

  async #remove(): Promise<void> {
    const { keeper } = this.#parts
    try {
      if (keeper.lease && !keeper.lease.cacheLimits) throw notOffered()
      this.#changed(await deleteSnapshot(this.#request(undefined)))
    } catch (error) {
      throw asCacheError(error)
    }
  }

  #changed(status: CacheStatus): void {
    const { present, expires_at } = status
    if (present === this.present && expires_at === this.expires_at) return
    this.present = present
    this.expires_at = expires_at
    this.#parts.changed(status)
  }

  /** Each renewal may bring another token. */
  #request(signal: AbortSignal | undefined): CacheRequest {
    const { client, keeper } = this.#parts
    if (!keeper.lease) throw new SvcError('lease_ended', 'the site has no lease at the moment')
    return { client, accessToken: keeper.lease.accessToken, signal }
  }

  #failed(error: SvcError): void {
    this.#failures += 1
    const asked = error.retryAfterMs ?? 0
    this.#notBefore = performance.now() + asked
    const isOfFiles = error.code === 'cache_files_invalid'
    this.#again(isOfFiles ? CACHE_LOOK_MS : Math.max(asked, pauseAfter(this.#failures)))
    if (!this.#parts.isOnline()) return
    if (!isPassing(error) || this.#failures >= CACHE_FAILURES_TOLD) this.#tell(error)
  }

  #tell(error: SvcError): void {
    if (error.message === this.#told) return
    this.#told = error.message
    this.#parts.onError(error)
  }

  #again(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.check(), ms)
  }
}

function pauseAfter(failures: number): number {
  return jittered(backoffMs(failures - 1, CACHE_RETRY_FIRST_MS, CACHE_RETRY_MAX_MS))
}

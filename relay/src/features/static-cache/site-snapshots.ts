// Serves the requests of a site about its snapshot: it asks whether the relay has it, uploads it, and removes it.

import {
  CACHE_EXPOSURE_MAX_BYTES,
  CACHE_OBJECT_MAX_BYTES,
  parseManifest,
  type StaticCacheLimits,
  type StaticCacheManifest,
} from '@svc/protocol'
import { PlainError, RelayError } from '../../core/errors.ts'
import type { Lease } from '../../core/lease/lease.ts'
import type { CacheCounts, UploadResult } from './cache-counts.ts'
import type { SiteCache, SnapshotStatus } from './handlers.ts'
import type { PresentSnapshot } from './present-snapshot.ts'
import type { Snapshot } from './snapshot.ts'
import type { SnapshotRegistry } from './snapshot-registry.ts'
import { digestOf, type SnapshotSharing } from './snapshot-sharing.ts'
import { snapshotDiskBytes } from './storage/snapshot-files.ts'
import { CACHE_EXPOSURE_SHARE, CacheFullError, type SnapshotStore } from './storage/snapshot-store.ts'
import { readUpload } from './upload/multipart.ts'
import { busy, type Place, type Upload, type UploadAdmission } from './upload/upload-admission.ts'

interface SiteSnapshotsParts {
  store: Pick<SnapshotStore, 'receive'>
  registry: SnapshotRegistry
  admission: UploadAdmission
  counts: CacheCounts
  /** The other machines; undefined on a single machine. */
  sharing?: SnapshotSharing | undefined
  /** Returns whether the relay can end TLS for hostnames of sites. */
  canServe: () => boolean
  /** Bytes that the cache may use. */
  bytes: number
}

const ABSENT: SnapshotStatus = { isPresent: false }

export class SiteSnapshots implements SiteCache {
  readonly limits: StaticCacheLimits
  readonly #parts: SiteSnapshotsParts

  constructor(parts: SiteSnapshotsParts) {
    this.#parts = parts
    const exposure = Math.min(CACHE_EXPOSURE_MAX_BYTES, Math.floor(parts.bytes * CACHE_EXPOSURE_SHARE))
    this.limits = {
      max_exposure_bytes: exposure,
      max_object_size: Math.min(CACHE_OBJECT_MAX_BYTES, exposure),
    }
  }

  beginCheck(lease: Lease): Place {
    this.#requireService()
    return this.#parts.admission.admitCheck(lease)
  }

  /** Removes a snapshot of another manifest, and ends an upload in progress: the site has changed since. */
  async check(lease: Lease, manifest: unknown): Promise<SnapshotStatus> {
    const { registry, admission, sharing } = this.#parts
    const wanted = this.#parse(manifest)
    if (lease.ended.aborted) throw new RelayError('lease_not_found', 'the lease has ended')
    const present = registry.of(lease.identityKey)
    if (present !== undefined && isSame(present.snapshot, wanted)) {
      registry.touch(present)
      return statusOf(present)
    }
    const expiresAt = sharing?.find(lease.identityKey, digestOf(wanted))
    if (expiresAt !== undefined) return { isPresent: true, expiresAt }
    admission.cancel(lease.identityKey, 'the site asked for another manifest meanwhile')
    await registry.invalidate(lease.identityKey)
    await sharing?.remove(lease.identityKey)
    return ABSENT
  }

  beginUpload(lease: Lease): Upload {
    this.#requireService()
    try {
      this.#parts.sharing?.requireOthers()
      return this.#parts.admission.admitUpload(lease)
    } catch (error) {
      this.#count('busy')
      throw error
    }
  }

  async upload(
    upload: Upload,
    body: AsyncIterable<Buffer>,
    contentType: string | undefined,
  ): Promise<SnapshotStatus> {
    try {
      const present = await this.#store(upload, body, contentType)
      this.#count('stored')
      return statusOf(present)
    } catch (cause) {
      const error = upload.signal.aborted ? upload.signal.reason : fullOr(cause)
      this.#count(resultOf(error))
      throw error
    }
  }

  async remove(lease: Lease): Promise<void> {
    const { registry, admission, sharing } = this.#parts
    admission.cancel(lease.identityKey, 'the site removed its files meanwhile')
    await registry.remove(lease.identityKey)
    await sharing?.remove(lease.identityKey)
  }

  async #store(
    { lease, signal }: Upload,
    body: AsyncIterable<Buffer>,
    contentType: string | undefined,
  ): Promise<PresentSnapshot> {
    const { store, registry } = this.#parts
    const { manifest, objects } = await readUpload(body, contentType, (value) => this.#parse(value))
    const { identityKey, canonicalHostname: hostname } = lease
    const owner = { identityKey, hostname }
    const size = snapshotDiskBytes({ owner, manifest })
    const staged = await store.receive({
      manifest,
      owner,
      objects,
      makeRoom: (bytes) => registry.makeRoom(bytes, lease, size),
      signal,
    })
    return await registry.publish(staged, { lease, signal })
  }

  /** Returns whether the relay can serve a snapshot. */
  get canServe(): boolean {
    return this.#parts.canServe()
  }

  #requireService(): void {
    if (!this.canServe)
      throw new RelayError('feature_unavailable', 'this relay has no certificate for hostnames of sites')
  }

  /** @throws RelayError `invalid_request` */
  #parse(manifest: unknown): StaticCacheManifest {
    const { max_exposure_bytes: maxExposureBytes, max_object_size: maxObjectBytes } = this.limits
    try {
      return parseManifest(manifest, { maxExposureBytes, maxObjectBytes })
    } catch (error) {
      throw new RelayError('invalid_request', (error as Error).message)
    }
  }

  #count(result: UploadResult): void {
    this.#parts.counts.uploads.add({ result })
  }
}

function statusOf({ expiresAt }: PresentSnapshot): SnapshotStatus {
  return { isPresent: true, expiresAt }
}

function isSame({ index, hasFallback, files }: Snapshot, manifest: StaticCacheManifest): boolean {
  if (index !== manifest.index || hasFallback !== (manifest.fallback ?? true)) return false
  if (files.size !== manifest.files.length) return false
  return manifest.files.every(({ path, size, sha256 }) => {
    const file = files.get(path)
    return file?.size === size && file.sha256 === sha256
  })
}

/** The store's message says how much the disk has, which only the operator may see. */
function fullOr(error: unknown): unknown {
  return error instanceof CacheFullError ? busy('the static cache has no room for the upload') : error
}

function resultOf(error: unknown): UploadResult {
  if (error instanceof PlainError) return 'busy'
  if (!(error instanceof RelayError) || error.code === 'internal') return 'failed'
  return error.code.startsWith('lease_') ? 'dropped' : 'refused'
}

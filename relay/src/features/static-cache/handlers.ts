// Answers `POST`, `PUT` and `DELETE /sdk/cache`: what a site does with its snapshot in the static cache.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { HEADER, type StaticCacheLimits, type StaticCacheStatus } from '@svc/protocol'
import type { RequestBodies } from '../../core/api/endpoints/body-limits.ts'
import { CACHE_MANIFEST_BODY, CACHE_UPLOAD_BODY } from '../../core/api/endpoints/endpoints.ts'
import { BodyStream } from '../../core/api/http/body-stream.ts'
import { sendData } from '../../core/api/http/envelope.ts'
import { readJson } from '../../core/api/http/read-body.ts'
import { headerOf } from '../../core/api/http/request.ts'
import type { Handler } from '../../core/api/http/server.ts'
import { timestamp } from '../../core/api/http/timestamp.ts'
import type { LeaseCredentials } from '../../core/auth/lease-authorizer.ts'
import type { ClientAddresses } from '../../core/client-address/client-addresses.ts'
import { RelayError } from '../../core/errors.ts'
import type { Lease } from '../../core/lease/lease.ts'
import type { PolicyRules } from '../../core/policy/policy-rules.ts'
import type { RateLimits } from '../../core/rate-limit/client-rate-limits.ts'

/** Whether a site's snapshot is present, and until when, in relay time. */
export type SnapshotStatus = { isPresent: true; expiresAt: number } | { isPresent: false }

/** A request that occupies a place until it ends. */
interface Place {
  end(): void
}

/** An upload that was admitted. */
interface Upload extends Place {
  lease: Lease
  /** Aborted with a RelayError when the upload may no longer be published. */
  signal: AbortSignal
}

/** The static cache, as sites use it. */
export interface SiteCache {
  readonly limits: StaticCacheLimits
  /** @throws PlainError when others are under way */
  beginCheck(lease: Lease): Place
  /** @throws RelayError for a manifest that is not valid */
  check(lease: Lease, manifest: unknown): Promise<SnapshotStatus>
  /** @throws PlainError when others are under way */
  beginUpload(lease: Lease): Upload
  /** @throws RelayError @throws PlainError when there is no room */
  upload(upload: Upload, body: AsyncIterable<Buffer>, contentType: string): Promise<SnapshotStatus>
  remove(lease: Lease): Promise<void>
}

/** A site with stored files, for the operator. */
interface StoredSite {
  identityKey: string
  hostname: string
  files: number
  bytes: number
  /** Wall clock. */
  publishedAt: number
  /** Relay time. */
  expiresAt: number
  lease: Lease | undefined
  isServed: boolean
  /** Name of the machine that has the files; undefined on a single machine. */
  machine?: string | undefined
}

export interface StoredSites extends Iterable<StoredSite> {
  /** Bytes of the disks of all machines: used, and those that the cache may use. */
  readonly use: { usedBytes: number; maxBytes: number }
}

export interface CacheEndpointParts {
  credentials: LeaseCredentials
  policy: PolicyRules
  clientAddresses: ClientAddresses
  rateLimits: RateLimits
  bodies: RequestBodies
  /** Resolves when every process of the relay knows what has changed. */
  settled: () => Promise<void>
}

/** By name in the table of endpoints. */
export type CacheHandlers = Record<'checkCache' | 'uploadCache' | 'removeCache', Handler>

export function createCacheHandlers(cache: SiteCache, parts: CacheEndpointParts): CacheHandlers {
  const { bodies, settled } = parts
  const answer = async (response: ServerResponse, status: SnapshotStatus): Promise<void> => {
    await settled()
    sendData(response, statusJson(status))
  }
  return {
    checkCache: async (request, response) => {
      const lease = routedLease(request, parts)
      const place = begin(request, lease, parts, () => cache.beginCheck(lease))
      try {
        const bounds = bodies.limitsOfLease(CACHE_MANIFEST_BODY, lease)
        await answer(response, await cache.check(lease, await readJson(request, response, bounds)))
      } finally {
        place.end()
      }
    },
    uploadCache: async (request, response) => {
      const body = new BodyStream(request, CACHE_UPLOAD_BODY)
      const upload = async (): Promise<SnapshotStatus> => {
        const lease = routedLease(request, parts)
        const admitted = begin(request, lease, parts, () => cache.beginUpload(lease))
        const { signal } = admitted
        signal.addEventListener('abort', () => body.fail(signal.reason), { once: true })
        try {
          return await cache.upload(admitted, body, headerOf(request, 'Content-Type'))
        } finally {
          admitted.end()
        }
      }
      await answer(response, await upload().finally(() => body.close(response)))
    },
    // A site may remove its files even while the policy does not route it.
    removeCache: async (request, response) => {
      const lease = cachedLease(request, parts)
      const place = begin(request, lease, parts, () => ({ end: () => {} }))
      await cache.remove(lease).finally(() => place.end())
      await answer(response, { isPresent: false })
    },
  }
}

/** @throws RelayError unless the token is that of a lease that opted in */
function cachedLease(
  request: IncomingMessage,
  { credentials }: Pick<CacheEndpointParts, 'credentials'>,
): Lease {
  const lease = credentials.leaseOf(headerOf(request, HEADER.accessToken), 'lease')
  if (!lease.preferences.cache)
    throw new RelayError('unauthorized', 'this lease was registered without `cache`')
  return lease
}

function routedLease(request: IncomingMessage, parts: CacheEndpointParts): Lease {
  const lease = cachedLease(request, parts)
  if (!parts.policy.routes(lease))
    throw new RelayError('lease_rejected', 'the policy lets no visitor reach this lease')
  return lease
}

/** Admits a request, and charges its client for the time that it takes. @throws RelayError */
function begin<Admitted extends Place>(
  request: IncomingMessage,
  lease: Lease,
  { clientAddresses, rateLimits }: CacheEndpointParts,
  admit: () => Admitted,
): Admitted {
  const pay = rateLimits.beginCacheRequest(clientAddresses.ofRequest(request), lease.identityKey)
  try {
    const admitted = admit()
    const end = (): void => {
      admitted.end()
      pay()
    }
    return { ...admitted, end }
  } catch (error) {
    pay()
    throw error
  }
}

function statusJson(status: SnapshotStatus): StaticCacheStatus {
  return status.isPresent ? { present: true, expires_at: timestamp(status.expiresAt) } : { present: false }
}

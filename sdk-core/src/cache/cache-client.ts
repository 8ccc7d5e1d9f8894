// The requests of `/sdk/cache`: ask whether the relay has a snapshot, upload one, and delete it.

import { HEADER, PATH, type StaticCacheManifest } from '@svc/protocol'
import { requireRecord, requireTime } from '../control/json-checks.ts'
import type { RelayClient } from '../control/relay-client.ts'
import { SvcError } from '../errors.ts'
import type { CacheStatus } from './cache-options.ts'
import { CACHE_PUT_DEADLINE_MS } from './limits.ts'

/** CacheRequest says for which lease a request is made. */
export interface CacheRequest {
  client: RelayClient
  accessToken: string
  signal: AbortSignal | undefined
}

/**
 * Asks whether the relay has a snapshot with exactly this manifest. The relay deletes a snapshot with another one.
 * @throws SvcError
 */
export function announce(request: CacheRequest, manifest: StaticCacheManifest): Promise<CacheStatus> {
  return call(request, { body: manifest })
}

/**
 * Uploads the files of a manifest, in its order. The platform reads each file only when it is sent.
 * @throws SvcError
 */
export function upload(
  request: CacheRequest,
  manifest: StaticCacheManifest,
  blobs: readonly Blob[],
): Promise<CacheStatus> {
  const form = new FormData()
  form.append('manifest', JSON.stringify(manifest))
  // The relay ignores the names in the form, so all files get the same one.
  for (const blob of blobs) form.append('object', blob, 'object')
  return call(request, { method: 'PUT', form, deadlineMs: CACHE_PUT_DEADLINE_MS })
}

/**
 * Deletes the snapshot, if there is one.
 * @throws SvcError
 */
export function deleteSnapshot(request: CacheRequest): Promise<CacheStatus> {
  return call(request, { method: 'DELETE' })
}

async function call(
  { client, accessToken, signal }: CacheRequest,
  options: Parameters<RelayClient['call']>[1],
): Promise<CacheStatus> {
  const headers = { [HEADER.accessToken]: accessToken }
  const data = await client.call(PATH.cache, { ...options, headers, signal })
  return parseStatus(requireRecord(data, 'status of the static cache'))
}

function parseStatus(data: Record<string, unknown>): CacheStatus {
  const { present, expires_at } = data
  if (typeof present !== 'boolean')
    throw new SvcError('unexpected_answer', 'the relay does not say whether it stores the files')
  if (!present) return { present, expires_at: undefined }
  requireTime(data, 'expires_at')
  return { present, expires_at: String(expires_at) }
}

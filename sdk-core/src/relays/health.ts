// Asks a relay whether it is there, which protocol it speaks, and how far away it is.

import { PATH } from '@svc/protocol'
import { requireCompatible } from '../control/compatibility.ts'
import { requireRecord, requireText } from '../control/json-checks.ts'
import { type FetchFunction, RelayClient } from '../control/relay-client.ts'
import { HEALTH_DEADLINE_MS } from './limits.ts'

/** RelayHealth is what a relay that answers says of itself, and how far away it is. */
export interface RelayHealth {
  releaseVersion: string
  /** Milliseconds of a request on a connection that is open already. */
  rttMs: number
}

const VERSION = /^[\w.+-]{1,64}$/

/**
 * Asks a relay twice for `GET /sdk/domain`.
 * @throws SvcError the reason for which the relay is of no use
 */
export async function probeRelay(
  relay: URL,
  fetch: FetchFunction,
  signal?: AbortSignal,
): Promise<RelayHealth> {
  const client = new RelayClient(relay, fetch)
  const ask = (): Promise<unknown> => client.call(PATH.domain, { signal, deadlineMs: HEALTH_DEADLINE_MS })
  // The first request includes name resolution, TCP and TLS.
  const domain = requireRecord(await ask(), 'domain')
  await requireCompatible(domain)
  const askedAt = performance.now()
  await ask()
  return {
    rttMs: performance.now() - askedAt,
    releaseVersion: requireText(domain, 'release_version', VERSION),
  }
}

// Probes a relay: whether it answers, its protocol, and its round trip.

import { PATH } from '@svc/protocol'
import { requireCompatible } from '../control/compatibility.ts'
import { requireRecord, requireText } from '../control/json-checks.ts'
import { type FetchFunction, RelayClient } from '../control/relay-client.ts'
import { HEALTH_DEADLINE_MS } from './limits.ts'

/** RelayHealth is what a relay says about itself, and its round trip. */
export interface RelayHealth {
  releaseVersion: string
  /** Whether it lets nobody new register without an invitation. */
  needsInvitation: boolean
  /** The duration of a request on an open connection, in milliseconds. */
  rttMs: number
}

const VERSION = /^[\w.+-]{1,64}$/

/**
 * Sends `GET /sdk/domain` to a relay, twice.
 * @throws SvcError the reason why the relay cannot be used
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
    needsInvitation: domain.invitation === true,
  }
}

// Whether a relay is there, what it speaks, and how far away it is.

import { PATH, PROTOCOL_VERSION } from '@svc/protocol'
import { type FetchFunction, RelayClient, requireRecord, requireText, SvcError } from '@svc/sdk-core'
import { HEALTH_DEADLINE_MS } from '../limits.ts'

export interface RelayHealth {
  releaseVersion: string
  /** Of a request on a connection that is open already, in milliseconds. */
  rttMs: number
}

const VERSION = /^[\w.+-]{1,64}$/

/** @throws SvcError why it is of no use */
export async function probeRelay(
  relay: URL,
  fetch: FetchFunction,
  signal?: AbortSignal,
): Promise<RelayHealth> {
  const client = new RelayClient(relay, fetch)
  const ask = (): Promise<unknown> => client.call(PATH.domain, { signal, deadlineMs: HEALTH_DEADLINE_MS })
  // names, TCP and TLS are for the first
  const domain = requireRecord(await ask(), 'domain')
  const spoken = requireText(domain, 'protocol_version', VERSION)
  if (spoken !== PROTOCOL_VERSION)
    throw new SvcError(
      'incompatible_relay',
      `the relay speaks protocol ${spoken}, this SDK ${PROTOCOL_VERSION}`,
    )
  const askedAt = performance.now()
  await ask()
  return {
    rttMs: performance.now() - askedAt,
    releaseVersion: requireText(domain, 'release_version', VERSION),
  }
}

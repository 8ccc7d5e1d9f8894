// The domains that identify an ACME authority in CAA records, as its directory lists them (RFC 8555 §7.1.1).

import { setTimeout as delay } from 'node:timers/promises'
import { Backoff } from '@svc/protocol/timers'
import type { Settings } from '../../core/config/settings.ts'
import { AcmeError } from './authority.ts'
import { CAA_ASK_MS, CAA_IDENTITIES_MAX, CAA_RETRY_FIRST_MS, CAA_RETRY_MAX_MS } from './limits.ts'
import { readRoots } from './roots.ts'
import { AcmeTransport } from './transport.ts'

interface CaaIdentitiesParts {
  acme: Settings['acme']
  /** Called with the domains after each answer of the authority; an empty list when its directory names none. */
  found(identities: readonly string[]): Promise<void>
  /**
   * Called with the reason when the authority does not answer, or `found` rejected. The next attempt is automatic.
   */
  failed(error: Error): void
  /** Milliseconds after the first failure. */
  firstPauseMs?: number
}

/**
 * Asks the authority at once, after each failure with growing pauses, and once a day.
 * @throws SettingsError when ACME_CA cannot be used
 */
export async function followCaaIdentities(parts: CaaIdentitiesParts): Promise<{ close(): Promise<void> }> {
  const { directory, caFile } = parts.acme
  const transport = new AcmeTransport(directory, await readRoots(caFile))
  const closing = new AbortController()
  const running = follow(parts, () => readIdentities(directory, transport, closing.signal), closing.signal)
  return {
    close: async () => {
      closing.abort()
      await running
    },
  }
}

async function follow(
  { found, failed, firstPauseMs = CAA_RETRY_FIRST_MS }: CaaIdentitiesParts,
  read: () => Promise<string[]>,
  signal: AbortSignal,
): Promise<void> {
  const backoff = new Backoff(firstPauseMs, CAA_RETRY_MAX_MS)
  while (!signal.aborted) {
    let pauseMs = CAA_ASK_MS
    try {
      await found(await read())
      backoff.reset()
    } catch (error) {
      if (signal.aborted) return
      failed(error as Error)
      pauseMs = backoff.next()
    }
    await delay(pauseMs, undefined, { signal, ref: false }).catch(() => {})
  }
}

/** @throws AcmeError `unreachable`, or `unusable` for an answer that is no directory */
async function readIdentities(
  directory: string,
  transport: AcmeTransport,
  signal: AbortSignal,
): Promise<string[]> {
  const { newOrder, meta } = await transport.getJson(directory, signal)
  if (typeof newOrder !== 'string')
    throw new AcmeError('unusable', `${new URL(directory).host} does not answer with an ACME directory`)
  const { caaIdentities } = Object(meta)
  if (!Array.isArray(caaIdentities)) return []
  const domains = caaIdentities.filter((one) => typeof one === 'string').map((one) => one.toLowerCase())
  // Each of them identifies the authority, so that a few are enough.
  return [...new Set(domains.filter(isIssuerDomain))].slice(0, CAA_IDENTITIES_MAX)
}

const NAME_MAX_CHARS = 253
const LABEL_MAX_CHARS = 63

/** An issuer domain name of RFC 8659 §4.2, in lower case. */
function isIssuerDomain(name: string): boolean {
  return (
    name.length <= NAME_MAX_CHARS &&
    name.split('.').every((label) => label.length <= LABEL_MAX_CHARS && /^[a-z0-9-]+$/.test(label)) &&
    !/(?:^|\.)-|-(?:\.|$)/.test(name)
  )
}

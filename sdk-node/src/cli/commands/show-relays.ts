// `svc relays`: the health of each named relay and, on request, of the relays that they know.

import { PROTOCOL_VERSION } from '@svc/protocol'
import { type FetchFunction, SvcError, signerOf } from '@svc/sdk-core'
import { parseDiscover, parseRelays, probeRelay, searchRelays } from '@svc/sdk-core/relays'
import { nodePlatform } from '../../platform.ts'
import { NO_RELAY } from '../options/command-line.ts'
import type { ParsedCommand } from '../options/parsed-command.ts'
import { readPem } from '../options/pem-file.ts'
import { EXIT, type ExitCode } from '../report/exit-codes.ts'
import { explainError } from '../report/explain-error.ts'
import type { RelayReport, Reporter } from '../report/report.ts'

/** @returns whether at least one relay is usable */
export async function showRelays(
  { relay, ca: caPath, proxy, discover: max }: Extract<ParsedCommand, { command: 'relays' }>['options'],
  tell: Reporter,
): Promise<ExitCode> {
  if (relay.length === 0) throw new SvcError('invalid_option', NO_RELAY)
  const ca = caPath === undefined ? undefined : await readPem('--ca', caPath)
  const { fetch } = nodePlatform({ ca, proxy })
  const asked = parseRelays(relay)
  const count = parseDiscover(max)
  const wanted = { tcp: false, udp: false }
  const isExcluded = (origin: string): boolean => asked.some((named) => named.origin === origin)
  const { found, failures } =
    count === 0
      ? { found: [], failures: [] }
      : await searchRelays({ asked, wanted, fetch, signerOf, isExcluded })
  for (const { relay, error } of failures) {
    const { code, message } = explainError(error)
    tell({ event: 'error', relay, code, message })
  }
  const states = await Promise.all(
    [...asked, ...found.slice(0, count).map(({ url }) => url)].map((url) => stateOf(url, fetch)),
  )
  for (const state of states) tell(state)
  return states.some(({ healthy }) => healthy) ? EXIT.ok : EXIT.unreachable
}

async function stateOf(url: URL, fetch: FetchFunction): Promise<RelayReport> {
  const head = { event: 'relay', relay: url.origin } as const
  try {
    const { releaseVersion: release_version, rttMs, needsInvitation } = await probeRelay(url, fetch)
    const rtt_ms = Math.round(rttMs * 10) / 10
    const known = { protocol_version: PROTOCOL_VERSION, release_version, rtt_ms }
    return { ...head, healthy: true, ...known, ...(needsInvitation && { invitation: true }) }
  } catch (error) {
    const { code, message } = explainError(error)
    return { ...head, healthy: false, code, message }
  }
}

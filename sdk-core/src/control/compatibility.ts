// Reads what a relay says of its versions, and refuses a relay of another protocol with an error that says who has to upgrade.

import { PROTOCOL_VERSION } from '@svc/protocol'
import { SvcError } from '../errors.ts'
import { requireText } from './json-checks.ts'

const PROTOCOL = /^[\w.-]{1,32}$/
const RELEASE = /^[\w.+-]{1,64}$/
/** The form of the protocol's versions that have an order. */
const NUMBER = /^\d+$/

/**
 * Checks the answer to `GET /sdk/domain`.
 * @throws SvcError `incompatible_relay` when the relay speaks another protocol, `unexpected_answer` when it does not say
 */
export function requireCompatible(domain: Record<string, unknown>): void {
  const theirs = requireText(domain, 'protocol_version', PROTOCOL)
  if (theirs === PROTOCOL_VERSION) return
  const release = releaseOf(domain)
  const relay = release === undefined ? 'the relay' : `the relay (release ${release})`
  throw new SvcError(
    'incompatible_relay',
    `${relay} speaks protocol ${theirs}, this SDK protocol ${PROTOCOL_VERSION}: ${upgradeOf(theirs)}`,
  )
}

/** The relay's `release_version`; undefined when it names none, as a relay of another make may. */
export function releaseOf({ release_version: release }: Record<string, unknown>): string | undefined {
  return typeof release === 'string' && RELEASE.test(release) ? release : undefined
}

function upgradeOf(theirs: string): string {
  if (!NUMBER.test(theirs)) return 'one of them has to be upgraded'
  return Number(theirs) > Number(PROTOCOL_VERSION)
    ? 'the SDK has to be upgraded'
    : 'its operator has to upgrade the relay'
}

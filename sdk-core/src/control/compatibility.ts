// Reads a relay's versions, and refuses a relay of another protocol with an error that says who has to upgrade.

import { PROTOCOL_VERSION } from '@svc/protocol'
import { explained } from '../explained.ts'
import { requireText } from './json-checks.ts'

const PROTOCOL = /^[\w.-]{1,32}$/
const RELEASE = /^[\w.+-]{1,64}$/

/**
 * Checks the answer to `GET /sdk/domain`.
 * @throws SvcError `incompatible_relay` when the relay speaks another protocol, `unexpected_answer` when it does not say
 */
export async function requireCompatible(domain: Record<string, unknown>): Promise<void> {
  const theirs = requireText(domain, 'protocol_version', PROTOCOL)
  if (theirs !== PROTOCOL_VERSION)
    throw await explained('incompatible_relay', ['incompatible', theirs, releaseOf(domain)])
}

/** The relay's `release_version`; undefined when it names none, as a relay of another implementation may. */
export function releaseOf({ release_version: release }: Record<string, unknown>): string | undefined {
  return typeof release === 'string' && RELEASE.test(release) ? release : undefined
}

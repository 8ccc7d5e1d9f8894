// Reads a certificate revocation list (RFC 5280 §5): a whole one, of the issuer itself.

import { hex } from '../der/certificate-fields.ts'
import { DerReader } from '../der/reader.ts'
import * as DER_TAG from '../der/tags.ts'
import { derTime } from '../der/time.ts'
import { TlsError } from '../errors.ts'
import { readExtensions, readSigned, requireSame, type Signed } from './certificate.ts'

export interface RevocationList extends Signed {
  /** The validity, in milliseconds since the epoch. */
  thisUpdate: number
  nextUpdate: number
  /** The contents of the revoked serial numbers, in hexadecimal. */
  revoked: ReadonlySet<string>
  /** The keys, in hexadecimal, that were found to have signed it. */
  signers: Set<string>
}

const TIMES: readonly number[] = [DER_TAG.utcTime, DER_TAG.generalizedTime]

/**
 * Reads a list.
 * @throws TlsError `invalid_config` for bytes that are none, and for a list that is not whole: of changes, of some
 *   reasons, or of other issuers
 */
export function readRevocationList(der: Uint8Array): RevocationList {
  try {
    return read(der)
  } catch (cause) {
    throw new TlsError('invalid_config', 'it is not a certificate revocation list, or not a whole one', {
      cause,
    })
  }
}

function read(der: Uint8Array): RevocationList {
  const { content, algorithm, ...signed } = readSigned(der)
  const fields = new DerReader(content)
  const first = fields.take()
  // A list of version 2 has the field version.
  requireSame(first.tag === DER_TAG.integer ? fields.take(DER_TAG.sequence) : first, algorithm)
  const issuer = hex(fields.take(DER_TAG.sequence).der)
  const [thisUpdate, nextUpdate] = [derTime(fields.take()), derTime(fields.take())]
  let next = fields.isDone ? undefined : fields.take()
  const revoked = new Set<string>()
  if (next?.tag === DER_TAG.sequence) {
    const entries = new DerReader(next.content)
    while (!entries.isDone) revoked.add(readEntry(entries.enter(DER_TAG.sequence)))
    next = fields.isDone ? undefined : fields.take()
  }
  if (next?.tag === DER_TAG.constructed0) requireNoneCritical(new DerReader(next.content))
  else if (next !== undefined) throw new RangeError('an unknown field')
  fields.end()
  if (signed.signatureAlgorithm === undefined) throw new RangeError('its signature is not verified here')
  return { ...signed, issuer, thisUpdate, nextUpdate, revoked, signers: new Set() }
}

function readEntry(fields: DerReader): string {
  const serialNumber = hex(fields.take(DER_TAG.integer).content)
  if (!TIMES.includes(fields.take().tag)) throw new RangeError('an entry without a time')
  if (!fields.isDone) requireNoneCritical(fields)
  return serialNumber
}

/** Critical extensions change what a list means (§5.2, §5.3.3): a list of changes, of some reasons, or of another issuer. */
function requireNoneCritical(fields: DerReader): void {
  for (const { isCritical } of readExtensions(fields).values())
    if (isCritical) throw new RangeError('a critical extension')
}

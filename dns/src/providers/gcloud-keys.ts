// The keys of a zone at Google Cloud DNS, as the DS record of its parent.

import { z } from './schema.ts'

/** Numbers of the algorithms that keys may have (IANA, DNS Security Algorithm Numbers). */
const ALGORITHMS: Readonly<Record<string, number>> = {
  rsasha1: 5,
  rsasha256: 8,
  rsasha512: 10,
  ecdsap256sha256: 13,
  ecdsap384sha384: 14,
}
const SHA256 = 2

const KEYS = z.object({
  dnsKeys: z
    .array(
      z.object({
        type: z.string(),
        isActive: z.boolean().nullish(),
        algorithm: z.string(),
        keyTag: z.number(),
        digests: z.array(z.object({ type: z.string(), digest: z.string() })).nullish(),
      }),
    )
    .nullish(),
})

/** Reads the list of keys. Its value is the data of a DS record with SHA-256, empty while there is no active key. */
export const SHA256_DS: z.ZodType<string> = KEYS.transform(({ dnsKeys }) => {
  const key = dnsKeys?.find((one) => one.type === 'keySigning' && one.isActive)
  const digest = key?.digests?.find((one) => one.type === 'sha256')?.digest
  const algorithm = ALGORITHMS[key?.algorithm ?? '']
  return key && digest && algorithm ? `${key.keyTag} ${algorithm} ${SHA256} ${digest}` : ''
})

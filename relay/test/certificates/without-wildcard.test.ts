// A certificate of the root host alone: no site may present it, and the relay says so.

import { describe, expect, test } from 'vitest'
import { certificatesOf } from '../../src/core/certificates/certificate-files.ts'
import { CertificateRotation } from '../../src/core/certificates/certificate-rotation.ts'
import { createCa, createLeaf } from '../../src/core/certificates/development-ca.ts'
import { LeaseCertificates, requireWildcard } from '../../src/core/certificates/lease-certificate.ts'
import type { Lease } from '../../src/core/lease/lease.ts'

const HOST = 'relay.example'
const authority = createCa(HOST)
const certificatesFor = (...names: string[]) => {
  const { chain, key } = createLeaf(authority, HOST, names)
  return certificatesOf(HOST, chain, key)
}

test('what needs a certificate waits for the first one, and does not come again at the next', async () => {
  const rotation = new CertificateRotation({ ...certificatesFor(HOST), chain: [] })
  const uses: string[] = []
  await rotation.first(async () => void uses.push('waited'))
  expect([rotation.hasCertificate, uses]).toEqual([false, []])
  expect(rotation.replace(certificatesFor(HOST))).toBeUndefined()
  expect([rotation.hasCertificate, uses]).toEqual([true, ['waited']])
  rotation.replace(certificatesFor(HOST))
  await rotation.first(async () => void uses.push('at once'))
  expect(uses).toEqual(['waited', 'at once'])
})

describe('without a wildcard', () => {
  const rootOnly = certificatesFor(HOST)
  const whole = certificatesFor(HOST, `*.${HOST}`)

  test('the certificates say whether they cover sites', () => {
    expect([rootOnly.hasWildcard, whole.hasWildcard]).toEqual([false, true])
  })

  test('there is no shared chain to be had, with or without a token (protocol §10.1.2)', () => {
    const unavailable = expect.objectContaining({ code: 'feature_unavailable', status: 503 })
    const chains = new LeaseCertificates(HOST, new CertificateRotation(rootOnly))
    expect(() => chains.chainFor({} as Lease)).toThrow(unavailable)
    expect(() => requireWildcard(rootOnly)).toThrow(unavailable)
    expect(new LeaseCertificates(HOST, new CertificateRotation(whole)).chainFor({} as Lease)).toBe(
      whole.chainPem,
    )
  })

  test('the signer takes no chain of the root host alone, and the previous wildcard for a while (protocol §10.1.3)', () => {
    const rotation = new CertificateRotation(whole)
    rotation.replace(rootOnly)
    expect(rotation.presentable).toEqual([whole])
    rotation.replace(certificatesFor(HOST))
    expect(rotation.presentable).toEqual([])
  })
})

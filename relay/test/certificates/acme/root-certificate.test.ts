// A machine that waits for its turn at the authority orders nothing when another machine's certificate comes meanwhile.

import { expect, test } from 'vitest'
import { certificatesOf } from '../../../src/core/certificates/certificate-files.ts'
import { CertificateRotation } from '../../../src/core/certificates/certificate-rotation.ts'
import { CertificateStatuses } from '../../../src/core/certificates/certificate-status.ts'
import { createCa, createLeaf } from '../../../src/core/certificates/development-ca.ts'
import { writeManagedPair } from '../../../src/core/certificates/managed-files.ts'
import { PreviousCertificates } from '../../../src/core/certificates/previous-certificates.ts'
import type { RelayAuthority } from '../../../src/features/acme/create-authority.ts'
import type { OrderSharing } from '../../../src/features/acme/order-sharing.ts'
import { RootCertificate } from '../../../src/features/acme/root-certificate.ts'
import { readSettings } from '../../../src/index.ts'
import { ACME_HOST, collectingLog, newDirectory, waitFor } from './acme-relay.ts'

test.each([
  ['before it has read the files', true],
  ['only when it reads the files', false],
])('the certificate is in use %s', async (_, isFollowed) => {
  const { directory, remove } = await newDirectory()
  const acmeDirectory = 'https://ca.example/dir'
  const settings = readSettings({
    SVC_URL: `https://${ACME_HOST}`,
    IDENTITY_PATH: directory,
    ACME_AGREE: 'true',
    ACME_DIRECTORY: acmeDirectory,
  })
  const ca = createCa(ACME_HOST)
  const [old, fresh] = [createLeaf(ca, ACME_HOST), createLeaf(ca, ACME_HOST)]
  const certificates = new CertificateRotation(certificatesOf(ACME_HOST, old.chain, old.key))
  const { log } = collectingLog()
  let orders = 0
  let turns = 0
  const authority: RelayAuthority = {
    hasWildcards: true,
    refresh: async () => {},
    obtain: async () => {
      orders++
      return fresh.chain
    },
    renewalTime: async (chain) => (chain === old.chain ? 0 : Number.POSITIVE_INFINITY),
    close: async () => {},
  }
  let changed = (_file: string): void => {}
  const sharing: Partial<OrderSharing> = {
    alone: async (_what, _signal, use) => await use().finally(() => turns++),
    refresh: async () => {
      await writeManagedPair(directory, { ...fresh, acmeDirectory })
      if (!isFollowed) return
      changed('fullchain.pem')
      await waitFor(() => certificates.current.chainPem === fresh.chain)
    },
    publish: async () => {},
    onChange: (listener) => {
      changed = listener
    },
  }
  const root = new RootCertificate({
    settings,
    authority,
    acmeDirectory,
    certificates,
    previousCertificates: new PreviousCertificates(settings, log),
    certificateStatuses: new CertificateStatuses(certificates),
    sharing: sharing as OrderSharing,
    log,
  })
  root.start()
  try {
    await waitFor(() => turns > 0)
    expect(certificates.current.chainPem).toBe(fresh.chain)
    expect(orders).toBe(0)
  } finally {
    await root.close()
    await remove()
  }
})

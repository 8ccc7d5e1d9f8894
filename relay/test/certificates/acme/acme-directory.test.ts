// A relay whose ACME_DIRECTORY changes, as from a staging authority to the real one, gets its next certificate there at once.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AcmeServer, hasAcmeServer, startAcmeServer } from '../../../../tools/programs/pebble.ts'
import { checkCertificate } from '../../../src/cli/check/certificate.ts'
import { certificatesOf } from '../../../src/core/certificates/certificate-files.ts'
import { CertificateRotation } from '../../../src/core/certificates/certificate-rotation.ts'
import { CertificateStatuses } from '../../../src/core/certificates/certificate-status.ts'
import { createCa, createLeaf } from '../../../src/core/certificates/development-ca.ts'
import { PreviousCertificates } from '../../../src/core/certificates/previous-certificates.ts'
import { AcmeError, type CertificateOrder } from '../../../src/features/acme/authority.ts'
import type { RelayAuthority } from '../../../src/features/acme/create-authority.ts'
import { RootCertificate } from '../../../src/features/acme/root-certificate.ts'
import { readSettings } from '../../../src/index.ts'
import {
  ACME_HOST,
  type AcmeRelay,
  acmeEnv,
  collectingLog,
  firstAnswer,
  freePort,
  newDirectory,
  startAcmeRelay,
  statusOf,
  waitFor,
} from './acme-relay.ts'

const CHANGED = 'ACME_DIRECTORY has changed: the relay orders another certificate now'

describe.skipIf(!hasAcmeServer())('another ACME_DIRECTORY', () => {
  let staging: AcmeServer
  let real: AcmeServer
  let port: number
  beforeAll(async () => {
    port = await freePort()
    const options = { tlsPort: port, hosts: [ACME_HOST] }
    ;[staging, real] = await Promise.all([startAcmeServer(options), startAcmeServer(options)])
  })
  afterAll(() => Promise.all([staging?.close(), real?.close()]))

  test('has the certificate replaced at the next start, and not again at the one after', async () => {
    const { directory, remove } = await newDirectory()
    let relay: AcmeRelay | undefined
    const restart = async (acme: AcmeServer): Promise<Record<string, unknown>[]> => {
      await relay?.close()
      relay = await startAcmeRelay(acme, port, directory)
      await firstAnswer(port)
      return relay.log
    }
    const check = async (): Promise<string> => {
      const found = await checkCertificate(readSettings(acmeEnv(real, port, directory)))
      return found.map(({ message }) => message).join(' ')
    }
    const [from, to] = [staging, real].map(({ directoryUrl }) => directoryUrl)
    try {
      await restart(staging)
      expect(await check()).toContain(
        `comes from ${new URL(from!).host}: the relay orders another one at ${new URL(to!).host}`,
      )
      const log = await restart(real)
      expect(log).toContainEqual(expect.objectContaining({ from, to, msg: CHANGED }))
      await waitFor(() => log.some(({ msg }) => msg === 'certificate renewed'))
      const root = await real.root()
      expect(await statusOf(port, root)).toBe(200)
      expect(await check()).not.toContain('comes from')
      const written = await readFile(join(directory, 'fullchain.pem'), 'utf8')
      expect((await restart(real)).map(({ msg }) => msg)).not.toContain(CHANGED)
      expect(await statusOf(port, root)).toBe(200)
      expect(await readFile(join(directory, 'fullchain.pem'), 'utf8')).toBe(written)
    } finally {
      await relay?.close()
      await remove()
    }
  })
})

test.each([
  ['the same directory', 'https://ca.example/dir', true],
  ['another directory', 'https://staging.example/dir', false],
])('an order after a certificate from %s says whether it renews', async (_, acmeDirectory, renews) => {
  const { directory, remove } = await newDirectory()
  const settings = readSettings({
    SVC_URL: `https://${ACME_HOST}`,
    IDENTITY_PATH: directory,
    ACME_AGREE: 'true',
    ACME_DIRECTORY: 'https://ca.example/dir',
  })
  const { chain, key } = createLeaf(createCa(ACME_HOST), ACME_HOST)
  const certificates = new CertificateRotation(certificatesOf(ACME_HOST, chain, key))
  const { log } = collectingLog()
  const orders: CertificateOrder[] = []
  const authority: RelayAuthority = {
    hasWildcards: true,
    refresh: async () => {},
    obtain: async (order) => {
      orders.push(order)
      throw new AcmeError('refused', 'not here')
    },
    // The certificate is due in either case.
    renewalTime: async () => 0,
    close: async () => {},
  }
  const root = new RootCertificate({
    settings,
    authority,
    acmeDirectory,
    certificates,
    previousCertificates: new PreviousCertificates(settings, log),
    certificateStatuses: new CertificateStatuses(certificates),
    log,
  })
  root.start()
  try {
    await waitFor(() => orders.length > 0)
    expect(orders[0]).toMatchObject({ renews, names: [ACME_HOST, `*.${ACME_HOST}`] })
    expect(orders[0]?.replaces).toBe(renews ? chain : undefined)
  } finally {
    await root.close()
    await remove()
  }
})

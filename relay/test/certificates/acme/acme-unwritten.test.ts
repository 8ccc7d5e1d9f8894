// A relay uses a certificate for which the disk has no room any more, and writes it when there is room, or when it closes.

import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AcmeServer, hasAcmeServer, startAcmeServer } from '../../../../tools/programs/pebble.ts'
import { atDepth } from '../../../../tools/test-depth.ts'
import { RENEWAL_TICK_MS, WRITE_RETRY_MS } from '../../../src/features/acme/limits.ts'
import { mountSmallDisk } from '../../support/full-disk.ts'
import { ACME_HOST, firstAnswer, freePort, serialOf, startAcmeRelay, waitFor } from './acme-relay.ts'

const UNWRITTEN = 'the new certificate is in use, and a restart would lose it'
const RETRY_TIMEOUT_MS: number = 60_000 + 2 * (WRITE_RETRY_MS + RENEWAL_TICK_MS)

const mounted = mountSmallDisk()
mounted?.close()

describe.skipIf(!hasAcmeServer() || mounted === undefined)('a certificate that cannot be written', () => {
  let acme: AcmeServer
  let port: number
  beforeAll(async () => {
    port = await freePort()
    acme = await startAcmeServer({ tlsPort: port, hosts: [ACME_HOST] })
  })
  afterAll(() => acme.close())

  const serialIn = async (directory: string): Promise<string | undefined> => {
    const chain = await readFile(join(directory, 'fullchain.pem'), 'utf8').catch(() => undefined)
    return chain === undefined ? undefined : new X509Certificate(chain).serialNumber
  }

  /** Calls `look` when the disk has room again. @param look what a test sees of the relay */
  const withUnwritten = async (
    look: (serial: string, directory: string, close: () => Promise<void>) => Promise<void>,
  ): Promise<void> => {
    const disk = mountSmallDisk()!
    const { directory } = disk
    const relay = await startAcmeRelay(acme, port, directory)
    try {
      await waitFor(() => relay.log.some(({ msg }) => msg === 'account made at the ACME authority'))
      disk.fill(process.pid)
      await waitFor(() => relay.log.some(({ msg }) => msg === UNWRITTEN))
      await firstAnswer(port)
      const serial = await serialOf(port)
      expect(await serialIn(directory)).toBeUndefined()
      disk.free(process.pid)
      await look(serial, directory, () => relay.close())
    } finally {
      await relay.close()
      disk.close()
    }
  }

  test('is written when the relay closes', async () => {
    await withUnwritten(async (serial, directory, close) => {
      await close()
      expect(await serialIn(directory)).toBe(serial)
    })
  })

  test.runIf(atDepth(true, false))(
    'is written soon after the disk has room again',
    async () => {
      await withUnwritten(async (serial, directory) => {
        await waitFor(async () => (await serialIn(directory)) === serial, RETRY_TIMEOUT_MS)
      })
    },
    RETRY_TIMEOUT_MS,
  )
})

// A relay renews certificates of seconds while clients come all the time, and a disk without room costs nothing but a renewal.

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, test as every, expect } from 'vitest'
import { type AcmeServer, hasAcmeServer, startAcmeServer } from '../../../../tools/programs/pebble.ts'
import { atDepth, wholeOnly } from '../../../../tools/test-depth.ts'
import { mountSmallDisk } from '../../support/full-disk.ts'
import { resetWallClock, stepWallClock } from '../../support/wall-clock.ts'
import {
  ACME_HOST,
  type AcmeRelay,
  firstAnswer,
  freePort,
  newDirectory,
  serialOf,
  startAcmeRelay,
  statusOf,
  waitFor,
} from './acme-relay.ts'

const test = wholeOnly(every, 'clock')

const RENEWALS = atDepth(10, 2)
/** An order must be faster than two thirds of it, else the relay takes its clock for wrong: loaded machines need seconds. */
const VALIDITY_S = atDepth(90, 20)
const CLIENTS = atDepth(4, 2)
/** Between two visits of a client. In the slice they leave the processor to other tests. */
const PAUSE_MS = atDepth(0, 20)
/** On a slow machine a certificate of seconds may end before its successor is there, so that the slice does not look at it. */
const isVerified: boolean = atDepth(true, false)
const LOOK_MS = 20
const TIMEOUT_MS: number = atDepth(20, 4) * 60_000

describe.skipIf(!hasAcmeServer())('renewal', () => {
  let acme: AcmeServer
  let port: number
  beforeAll(async () => {
    port = await freePort()
    acme = await startAcmeServer({ tlsPort: port, hosts: [ACME_HOST], validityS: VALIDITY_S })
  })
  afterAll(() => acme.close())

  test(
    'again and again under load fails no request',
    async () => {
      const { directory, remove } = await newDirectory()
      const relay = await startAcmeRelay(acme, port, directory)
      try {
        await firstAnswer(port)
        const root = isVerified ? await acme.root() : undefined
        const statuses = new Map<unknown, number>()
        const load = new AbortController()
        const clients = Array.from({ length: CLIENTS }, async () => {
          while (!load.signal.aborted) {
            const status = await statusOf(port, root).catch((error) => error.message)
            statuses.set(status, (statuses.get(status) ?? 0) + 1)
            await setTimeout(PAUSE_MS)
          }
        })
        const renewals = () => relay.log.filter(({ msg }) => msg === 'certificate renewed').length
        const before = await serialOf(port)
        await waitFor(() => renewals() >= RENEWALS, TIMEOUT_MS)
        expect(await serialOf(port)).not.toBe(before)
        load.abort()
        await Promise.all(clients)
        expect([...statuses.keys()]).toEqual([200])
        expect(statuses.get(200)).toBeGreaterThan(RENEWALS)
      } finally {
        await relay.close()
        await remove()
      }
    },
    TIMEOUT_MS,
  )

  test.runIf(atDepth(true, false))(
    'is in time when the wall clock is set forward',
    async () => {
      const { directory, remove } = await newDirectory()
      const relay = await startAcmeRelay(acme, port, directory)
      try {
        await firstAnswer(port)
        // Two thirds of the lifetime have passed then, by the clock.
        stepWallClock(VALIDITY_S * 700)
        await waitFor(() => relay.log.some(({ msg }) => msg === 'certificate renewed'), TIMEOUT_MS)
      } finally {
        resetWallClock()
        await relay.close()
        await remove()
      }
    },
    TIMEOUT_MS,
  )

  const disk = mountSmallDisk()
  test.skipIf(disk === undefined)(
    'without room on the disk keeps the files and the certificate in use',
    async () => {
      const { directory, fill, free, close } = disk!
      const files = () =>
        Promise.all(
          ['fullchain.pem', 'privatekey.pem'].map((name) => readFile(join(directory, name), 'utf8')),
        )
      let relay: AcmeRelay | undefined
      try {
        relay = await startAcmeRelay(acme, port, directory)
        await firstAnswer(port)
        const { log } = relay
        let written = await files()
        // The first order holds the lock for a moment longer than clients wait, and its end would free the room for another lock.
        while (existsSync(join(directory, 'acme.lock'))) {
          await setTimeout(LOOK_MS)
          written = await files()
        }
        fill(process.pid)
        await waitFor(
          () => log.some(({ reason }) => /acme\.lock cannot be written: no space left/.test(`${reason}`)),
          TIMEOUT_MS,
        )
        expect(await files()).toEqual(written)
        expect(await statusOf(port)).toBe(200)
        free(process.pid)
        await relay.close()
        relay = await startAcmeRelay(acme, port, directory)
        await firstAnswer(port)
        await waitFor(async () => (await files())[0] !== written[0], TIMEOUT_MS)
      } finally {
        await relay?.close()
        close()
      }
    },
    TIMEOUT_MS,
  )
})

// Machines of one relay with ACME: one of them orders, all of them prove, and all use what it gets.

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RegisterResponse } from '@svc/protocol'
import { afterAll, beforeAll, describe, test as every, expect } from 'vitest'
import type { Machine } from '../../../tools/relay/machine.ts'
import { atDepth, wholeOnly } from '../../../tools/test-depth.ts'
import { LOCK_MS } from '../../src/features/cluster/limits.ts'
import { serialOf, statusOf } from '../certificates/acme/acme-relay.ts'
import { type AcmeMachines, startAcmeMachines, whyNoAcmeMachines } from '../support/acme-machines.ts'
import { certificateRequest } from '../support/certificate-request.ts'
import { register } from '../support/relay.ts'

const test = wholeOnly(every, 'variant')

const VALIDITY_S = 60
/** Covers a renewal, at two thirds of the lifetime, and what a slow machine adds. */
const TIMEOUT_MS: number = VALIDITY_S * 1000 + 30_000
const SOON = { timeout: 30_000 }

let relay: AcmeMachines

const linesOf = (machine: Machine, msg: string): number =>
  machine.log.filter((line) => line.msg === msg).length
const lines = (msg: string): number => relay.machines.reduce((sum, machine) => sum + linesOf(machine, msg), 0)
const running = (): Machine[] => relay.machines.filter(({ pid }) => pid !== undefined)
const serials = async (): Promise<string[]> => [
  ...new Set(await Promise.all(running().map(({ port }) => serialOf(port).catch(() => 'none')))),
]
const ordering = (): Machine | undefined =>
  running().find(({ directory }) => existsSync(join(directory, 'acme.lock')))

describe.skipIf(whyNoAcmeMachines() !== undefined)(`three machines (skipped: ${whyNoAcmeMachines()})`, () => {
  beforeAll(async () => {
    relay = await startAcmeMachines({ count: 3, validityS: VALIDITY_S })
  }, TIMEOUT_MS)
  afterAll(async () => {
    await relay?.close()
  }, TIMEOUT_MS)

  test(
    'that all want the first certificate make one account and one order, and all serve it',
    async () => {
      relay.directory.release()
      await expect.poll(async () => (await serials()).join(), SOON).toMatch(/^[0-9A-F]+$/)
      expect(lines('account made at the ACME authority')).toBe(1)
      expect(lines('the relay has its first certificate')).toBe(1)
      expect(lines('certificate renewed')).toBe(0)
      await relay.balancer.untilUp(relay.machines.map(({ name }) => name))
      expect(await statusOf(relay.balancer.port, relay.ca)).toBe(200)
      const budgets = await Promise.all(
        relay.machines.map(({ directory }) => readFile(join(directory, 'acme-budget.json'), 'utf8')),
      )
      expect(new Set(budgets).size).toBe(1)
      const { orders, certificates } = JSON.parse(budgets[0]!)
      expect([Math.ceil(orders), Math.ceil(certificates)]).toEqual([1, 1])
    },
    TIMEOUT_MS,
  )

  test(
    'make one order for a site that asks all of them, and each has its chain',
    async () => {
      const [a, b, c] = relay.machines.map((machine) => relay.caller(machine))
      const lease: RegisterResponse = await register({ call: a! } as Parameters<typeof register>[0], 'asker')
      const csr = certificateRequest([lease.hostname, lease.canonical_hostname]).toString('base64')
      const ask = (call = a!) =>
        call('POST', '/sdk/certificate', { csr }, { 'X-Svc-Access-Token': lease.access_token })
      const chains = new Set<string>()
      for (const call of [a!, b!, c!]) expect([200, 202, 429]).toContain((await ask(call)).status)
      for (const call of [b!, c!, a!])
        await expect
          .poll(
            async () => {
              const { status, json } = await ask(call)
              if (status === 200) chains.add(json.data.chain)
              return status
            },
            { ...SOON, interval: 500 },
          )
          .toBe(200)
      expect(chains.size).toBe(1)
      const { orders } = JSON.parse(
        await readFile(join(relay.machines[0]!.directory, 'acme-budget.json'), 'utf8'),
      )
      expect(Math.ceil(orders)).toBe(2)
    },
    TIMEOUT_MS,
  )

  // Certificates live for a minute: it takes that long.
  test.runIf(atDepth(true, false))(
    'renew it once',
    async () => {
      const [before] = await serials()
      await expect.poll(() => lines('certificate renewed'), { timeout: TIMEOUT_MS }).toBe(1)
      await expect.poll(async () => (await serials()).length, SOON).toBe(1)
      expect(await serials()).not.toEqual([before])
      expect(lines('certificate renewed')).toBe(1)
      expect(lines('account made at the ACME authority')).toBe(1)
    },
    TIMEOUT_MS,
  )

  test.runIf(atDepth(true, false))(
    'renew it although the one that orders dies, which takes the new certificate when it comes back',
    async () => {
      const [before] = await serials()
      const renewals = lines('certificate renewed')
      relay.validation.hold()
      await expect.poll(ordering, { timeout: TIMEOUT_MS, interval: 50 }).toBeDefined()
      const dead = ordering()!
      await dead.kill()
      relay.validation.release()
      await expect
        .poll(() => lines('certificate renewed'), { timeout: LOCK_MS + SOON.timeout })
        .toBe(renewals + 1)
      await expect.poll(async () => (await serials()).join(), SOON).not.toContain(before)
      expect(await serials()).toHaveLength(1)
      await dead.restart()
      await expect.poll(async () => (await serials()).length, SOON).toBe(1)
    },
    TIMEOUT_MS,
  )
})

// A full disk: the relay serves everybody who is here, refuses only what it could not keep, says so, and recovers.

import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import type { PolicyStateResponse, RegisterResponse } from '@svc/protocol'
import { afterEach, beforeEach, describe, test as every, expect, vi } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { UPGRADE_HEADERS } from '../support/api-socket.ts'
import { parseExposition } from '../support/exposition.ts'
import { limitFileSize, mountSmallDisk, type TestDisk } from '../support/full-disk.ts'
import { freePort, newAccount, type TestClient } from '../support/relay.ts'
import { type RelayProcess, startRelayProcess } from '../support/relay-process.ts'
import { nativeSession } from '../support/session.ts'

const test = wholeOnly(every, 'faults')

const ADMIN_TOKEN = 'a-token-of-32-characters-or-more'
const BEARER = { Authorization: `Bearer ${ADMIN_TOKEN}` }
const ERROR = 50
const UNWRITABLE = 'the relay cannot write a state file'
/** Registrations of which the last pages of a full disk may still have room for some. */
const ATTEMPTS = 60

interface Life extends RelayProcess {
  metricsPort: number
}

async function start(directory: string, output?: string): Promise<Life> {
  const metricsPort = await freePort()
  const env = { METRICS_ADDR: `${metricsPort}`, ADMIN_TOKEN }
  const relay = await startRelayProcess(env, { directory, ...(output && { output }) })
  return Object.assign(relay, { metricsPort })
}

async function gauge({ metricsPort }: Life, name: string): Promise<number | undefined> {
  const answer = await fetch(`http://127.0.0.1:${metricsPort}/metrics`)
  return parseExposition(await answer.text())
    .get(name)
    ?.samples.get(name)
}

describe('a relay whose disk is full', () => {
  let disk: TestDisk
  let life: Life | undefined
  beforeEach(() => {
    disk = mountSmallDisk() ?? limitFileSize()
    life = undefined
  })
  afterEach(async () => {
    await life?.close()
    disk.close()
  })
  const call: TestClient['call'] = (...request) => life!.call(...request)
  const health = async () => (await call('GET', '/api/healthz')).json.data as { status: string } | undefined
  const ban = (ip: string) => call('POST', '/api/policy/ips', { ip, is_banned: true }, BEARER)
  const isBanned = async (ip: string) => {
    const { data } = (await call('GET', '/api/policy/decisions', undefined, BEARER)).json
    return (data as unknown as { banned_ips: string[] }).banned_ips.includes(ip)
  }
  const leases = async () => {
    const { data } = (await call('GET', '/api/policy/state', undefined, BEARER)).json
    return (data as unknown as PolicyStateResponse).leases
  }
  const renew = ({ access_token }: RegisterResponse) => call('POST', '/sdk/renew', { access_token, ttl: 300 })
  /** Until one is refused, for want of room. @returns its name */
  const registerUntilRefused = async (prefix: string): Promise<string> => {
    for (let n = 0; n < ATTEMPTS; n++) {
      const refused = await life!.register(`${prefix}${n}`).then(
        () => undefined,
        (error: Error) => error.message,
      )
      if (refused === undefined) continue
      expect(refused).toContain('"code":"internal"')
      return `${prefix}${n}`
    }
    throw new Error('the disk is not full')
  }

  test('serves who is here, refuses without a trace what it cannot keep, recovers, and ends in order', async () => {
    life = await start(disk.directory)
    const account = newAccount()
    const site = await life.register('site', { account })
    const session = await nativeSession(life, site.reverse_endpoint.capability, UPGRADE_HEADERS)
    expect(await health()).toEqual({ status: 'ok' })
    disk.fill(life.pid)

    // A registration that is refused has neither made a lease nor ended the one that it would replace.
    const refused = await registerUntilRefused('late')
    expect((await leases()).map(({ name }) => name)).not.toContain(refused)
    await expect(life.register('site', { account })).rejects.toThrow('"code":"internal"')
    expect((await renew(site)).status).toBe(200)
    expect((await renew(site)).status).toBe(200)

    // Nor is anybody banned or denied by a decision that is refused.
    expect((await ban('127.0.0.1')).status).toBe(500)
    expect(await isBanned('127.0.0.1')).toBe(false)
    const { identity_key } = (await leases()).find(({ name }) => name === 'site')!
    const denial = await call('POST', '/api/policy/leases', { identity_key, is_denied: true }, BEARER)
    expect(denial.status).toBe(500)
    const visitor = await life.tcp()
    const hello = await captureHello(site.hostname)
    visitor.write(hello)
    await session.read(1 + 16 + hello.length)
    await session.write(Buffer.from('served'))
    expect(`${(await once(visitor, 'data'))[0]}`).toBe('served')
    visitor.destroy()

    expect(await call('GET', '/api/healthz')).toMatchObject({
      status: 200,
      json: { ok: true, data: { status: 'degraded', message: expect.stringContaining('leases.jsonl') } },
    })
    expect(await gauge(life, 'svc_relay_unwritable_files')).toBe(2)
    expect(await gauge(life, 'svc_relay_write_failures_total')).toBeGreaterThan(2)
    expect((await readdir(disk.directory)).filter((name) => name.endsWith('tmp'))).toEqual([])

    // It is noticed that there is room again, although nobody writes.
    disk.free(life.pid)
    await vi.waitUntil(async () => (await health())?.status === 'ok', { interval: 200 })
    expect(await gauge(life, 'svc_relay_unwritable_files')).toBe(0)
    expect(await life.register(refused)).toMatchObject({ identity: { name: refused } })
    expect((await ban('192.0.2.1')).status).toBe(200)
    expect(await isBanned('192.0.2.1')).toBe(true)

    disk.fill(life.pid)
    await registerUntilRefused('later')
    life.kill('SIGTERM')
    expect(await life.ended).toBe(0)
    const errors = life.log.filter(({ level }) => level === ERROR).map(({ msg }) => msg)
    // Each file is complained of once, however often it was tried.
    expect(errors.filter((msg) => msg === UNWRITABLE)).toHaveLength(3)
    expect(errors.at(-1)).toBe('reservations could not be written before the relay ended')

    // What was promised before holds after a start on the full disk, with a log that cannot be written either.
    life = await start(disk.directory, '/dev/full')
    disk.fill(life.pid)
    await expect(life.register('site')).rejects.toThrow('hostname_conflict')
    disk.free(life.pid)
    expect(await life.register('site', { account })).toMatchObject({ hostname: site.hostname })
  })

  test('does not start for the first time, says why, and leaves nothing half-written', async (context) => {
    // A limit needs a process that is there already.
    const small = mountSmallDisk()
    if (small === undefined) return context.skip('mounting is not permitted here')
    disk.close()
    disk = small
    disk.fill(0)
    await expect(start(disk.directory)).rejects.toThrow(
      /: svc-relay: \S+identity\.json cannot be written: no space left on device\n$/,
    )
    expect(await readdir(disk.directory)).toEqual(['filler'])
    disk.free(0)
    life = await start(disk.directory)
    expect(await health()).toEqual({ status: 'ok' })
  })
})

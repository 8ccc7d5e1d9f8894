// The protocol: states of leases and reverse sessions, and the flags of the policy.

import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { BINDING_BYTES, CLAIM_TIMEOUT_MS, type RegisterResponse, type RenewResponse } from '@svc/protocol'
import { afterEach, expect, vi } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { UPGRADE_HEADERS } from '../support/api-socket.ts'
import { newAccount } from '../support/relay.ts'
import { nativeSession } from '../support/session.ts'
import { everyRow, failsWith, marker, startWorld } from './every-row.ts'

const world = useStarted(startWorld)
afterEach(() => void vi.useRealTimers())

/** Lets a slow machine look at the lease, or open a session, before it ends. */
const BRIEF_S = 3

const renew = (lease: RegisterResponse, ttl?: number) =>
  world.post('/sdk/renew', { access_token: lease.access_token, ttl })

async function setMode(approval_mode: 'auto' | 'manual'): Promise<void> {
  const { data } = (await world.admin('GET', '/api/policy')).json as unknown as { data: object }
  expect(await world.admin('POST', '/api/policy', { ...data, approval_mode })).toMatchObject({ status: 200 })
}

async function inModeManual(work: () => Promise<void>): Promise<void> {
  await setMode('manual')
  try {
    await work()
  } finally {
    await setMode('auto')
  }
}

everyRow('Lease states', {
  '(none) → active: register with a valid signature for an open challenge': async () => {
    const lease = await world.lease()
    expect(await world.policyLease(lease)).toMatchObject({ hostname: lease.hostname })
    expect(lease).toMatchObject({ access_token: expect.any(String), reverse_endpoint: expect.any(Object) })
    expect(await world.visit(lease.hostname)).toBe('let in')
  },
  'active → active: renew extends, refreshes token and endpoint (protocol §5.1.5)': async () => {
    const lease = await world.lease()
    const renewed = (await renew(lease, 600)).json.data as unknown as RenewResponse
    expect(Date.parse(renewed.expires_at) - Date.parse(lease.expires_at)).toBeGreaterThan(470_000)
    expect(renewed.access_token).not.toBe(lease.access_token)
    expect(renewed.reverse_endpoint.expires_at).toBe(renewed.expires_at)
  },
  'active → active: a ttl above 600 is refused, the lease unchanged': async () => {
    const lease = await world.lease()
    const before = await world.policyLease(lease)
    expect(await renew(lease, 601)).toMatchObject(failsWith(400, 'invalid_request'))
    expect(await world.policyLease(lease)).toEqual(before)
  },
  'active → active: reverse replaces only the endpoint': async () => {
    const lease = await world.lease()
    const before = await world.policyLease(lease)
    const { json } = await world.post('/sdk/reverse', { access_token: lease.access_token })
    expect(json.data).toMatchObject({ expires_at: lease.expires_at, overlay: false })
    const { capability } = json.data as unknown as RegisterResponse['reverse_endpoint']
    expect(capability).not.toBe(lease.reverse_endpoint.capability)
    const session = await nativeSession(world, capability, UPGRADE_HEADERS)
    session.abort()
    await expect.poll(async () => (await world.policyLease(lease))?.ready).toBe(0)
    expect(await world.policyLease(lease)).toEqual(before)
  },
  'active → removed: unregister': async () => {
    const lease = await world.lease()
    const session = await world.session(lease)
    expect(await world.post('/sdk/unregister', { access_token: lease.access_token })).toMatchObject({
      status: 200,
    })
    await session.closed
    expect(await world.policyLease(lease)).toBeUndefined()
    expect(await world.visit(lease.hostname)).toBe('turned away')
  },
  'active → removed: expiry': async () => {
    const lease = await world.lease({ ttl: BRIEF_S })
    expect(await world.policyLease(lease)).toBeDefined()
    await pause(Date.parse(lease.expires_at) - Date.now() + 20)
    expect(await world.policyLease(lease)).toBeUndefined()
    expect(await world.visit(lease.hostname)).toBe('turned away')
  },
  'active, not routed: banned or denied': async () => {
    for (const flag of ['is_banned', 'is_denied']) {
      const lease = await world.lease()
      await world.decide(lease, { [flag]: true })
      expect(await world.policyLease(lease)).toBeDefined()
      expect(await world.visit(lease.hostname)).toBe('turned away')
    }
  },
  'active, not routed: mode manual without approval': () =>
    inModeManual(async () => {
      const lease = await world.lease()
      expect(await world.policyLease(lease)).toMatchObject({ is_approved: false })
      expect(await world.visit(lease.hostname)).toBe('turned away')
    }),
  'replaced: a new instance, and the old tokens die (protocol §4.4.3, §5.1.5)': async () => {
    const account = newAccount()
    const first = await world.register('replaced', { account })
    const second = await world.register('replaced', { account })
    expect(await renew(first)).toMatchObject(failsWith(404, 'lease_not_found'))
    expect(await renew(second)).toMatchObject({ status: 200 })
  },
})

everyRow('Approval and ban flags', {
  'is_approved=true grants approval': () =>
    inModeManual(async () => {
      const lease = await world.lease()
      await world.decide(lease, { is_approved: true })
      expect(await world.policyLease(lease)).toMatchObject({ is_approved: true })
    }),
  'is_approved=false revokes it': () =>
    inModeManual(async () => {
      const lease = await world.lease()
      await world.decide(lease, { is_approved: true })
      await world.decide(lease, { is_approved: false })
      expect(await world.policyLease(lease)).toMatchObject({ is_approved: false })
    }),
  'is_denied=true sets denial and revokes approval (protocol §20.2.3)': () =>
    inModeManual(async () => {
      const lease = await world.lease()
      await world.decide(lease, { is_approved: true })
      await world.decide(lease, { is_denied: true })
      await world.decide(lease, { is_denied: false })
      expect(await world.policyLease(lease)).toMatchObject({ is_denied: false, is_approved: false })
    }),
  'is_denied=false removes denial': async () => {
    const lease = await world.lease()
    await world.decide(lease, { is_denied: true })
    expect(await world.policyLease(lease)).toMatchObject({ is_denied: true, is_approved: false })
    await world.decide(lease, { is_denied: false })
    expect(await world.policyLease(lease)).toMatchObject({ is_denied: false, is_approved: true })
  },
  'is_banned=true/false blocks and unblocks routing (protocol §21.1.1)': async () => {
    const lease = await world.lease()
    await world.decide(lease, { is_banned: true })
    expect(await world.visit(lease.hostname)).toBe('turned away')
    await world.decide(lease, { is_banned: false })
    expect(await world.visit(lease.hostname)).toBe('let in')
  },
  'bps=n sets the limit, 0 removes it': async () => {
    const lease = await world.lease()
    await world.decide(lease, { bps: 5000 })
    expect(await world.policyLease(lease)).toMatchObject({ bps: 5000 })
    await world.decide(lease, { bps: 0 })
    expect(await world.policyLease(lease)).toMatchObject({ bps: 0 })
  },
  'mode auto: active leases route unless banned or denied': async () =>
    expect(await world.visit((await world.lease()).hostname)).toBe('let in'),
  'mode manual: active leases route only after approval (protocol §21.1.2)': () =>
    inModeManual(async () => {
      const lease = await world.lease()
      expect(await world.visit(lease.hostname)).toBe('turned away')
      await world.decide(lease, { is_approved: true })
      expect(await world.visit(lease.hostname)).toBe('let in')
    }),
})

everyRow('Reverse session states', {
  '(none) → idle: connect with a valid capability': async () => {
    const lease = await world.lease()
    const session = await world.session(lease)
    expect(await world.policyLease(lease)).toMatchObject({ ready: 1 })
    session.abort()
  },
  'idle → claimed: a visitor arrives, the idle writer stops (protocol §7.5.2)': async () => {
    const lease = await world.lease()
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const session = await world.session(lease)
    const visitor = world.tls(lease.hostname)
    expect(await marker(session)).toBe(0x02)
    expect(vi.getTimerCount()).toBe(0)
    visitor.destroy()
  },
  'claimed → activated: TLS stream, 0x02 and the binding': async () => {
    const lease = await world.lease()
    const bindings: Buffer[] = []
    for (let i = 0; i < 2; i++) {
      const session = await world.session(lease)
      const visitor = world.tls(lease.hostname)
      expect(await marker(session)).toBe(0x02)
      bindings.push(await session.read(BINDING_BYTES))
      visitor.destroy()
    }
    expect(bindings[0]).not.toEqual(bindings[1])
  },
  'claimed → activated: TCP-port client, 0x01': async () => {
    const lease = await world.lease({ tcp_enabled: true })
    const session = await world.session(lease)
    const client = connect(Number(lease.tcp_addr?.split(':')[1]), '127.0.0.1')
    expect(await marker(session)).toBe(0x01)
    client.destroy()
  },
  'claim pending → claim fails: no session within ClaimTimeout (protocol §9.2.1)': async () => {
    const lease = await world.lease()
    const visitor = world.tls(lease.hostname)
    const failed = once(visitor, 'error')
    const start = performance.now()
    await failed
    expect(performance.now() - start).toBeGreaterThan(CLAIM_TIMEOUT_MS - 100)
  },
  'idle → closed: lease replaced': async () => {
    const account = newAccount()
    const session = await world.session(await world.register('closes', { account }))
    await world.register('closes', { account })
    await session.closed
  },
  'idle → closed: lease unregistered': async () => {
    const lease = await world.lease()
    const session = await world.session(lease)
    await world.post('/sdk/unregister', { access_token: lease.access_token })
    await session.closed
  },
  'idle → closed: lease expired': async () => {
    const lease = await world.lease({ ttl: BRIEF_S })
    const session = await world.session(lease)
    await session.closed
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(lease.expires_at))
  },
})

// The QUIC endpoint over the relay's life: where it cannot be, and when it has to be opened anew.

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { CertificateRotation } from '../src/certificates/rotation.ts'
import { TunnelEndpoint } from '../src/datagram/endpoint.ts'
import type { Logger } from '../src/log.ts'
import { freeRange } from './support/ports.ts'
import { startTestRelay } from './support/relay.ts'

const errors: string[] = []
const log = { error: (_fields: object, text: string) => void errors.push(text) } as unknown as Logger
beforeEach(() => void errors.splice(0))
afterEach(() => void vi.useRealTimers())

/** @param outcomes of the attempts to open, in their order; the last one stays */
function endpoint(...outcomes: ('open' | 'fail')[]) {
  const seen: string[] = []
  let replace: (() => void) | undefined
  const certificates = {
    current: {},
    onReplace: (listener: () => void) => {
      replace = listener
    },
  } as unknown as CertificateRotation
  const open = async () => {
    const outcome = outcomes.length > 1 ? outcomes.shift() : outcomes[0]
    seen.push(outcome!)
    if (outcome === 'fail') throw new Error('no binary for this platform')
    return { close: async () => void seen.push('close') }
  }
  const accept = () => ({ stream: () => {}, datagram: () => {}, closed: () => {} })
  return { seen, replace: () => replace?.(), it: new TunnelEndpoint(certificates, accept, log, open) }
}

describe('TunnelEndpoint', () => {
  test('that cannot be opened is missing, says so once, and stays away', async () => {
    const { it, seen, replace } = endpoint('fail')
    await it.listen(443)
    expect(it.isMissing).toBe(true)
    expect(errors).toEqual(['no datagram tunnels: UDP ports are off, the rest is served'])
    replace()
    await it.close()
    expect(seen).toEqual(['fail'])
  })

  test('is opened anew for each new certificate', async () => {
    const { it, seen, replace } = endpoint('open')
    await it.listen(443)
    replace()
    replace()
    await it.close()
    expect(it.isMissing).toBe(false)
    expect(seen[0]).toBe('open')
    expect(seen.at(-1)).toBe('close')
    expect(seen.filter((one) => one === 'open').length).toBe(seen.filter((one) => one === 'close').length)
  })

  test('whose port is taken for a moment is tried again', async () => {
    vi.useFakeTimers()
    const { it, seen, replace } = endpoint('open', 'fail', 'fail', 'open')
    await it.listen(443)
    replace()
    await vi.advanceTimersByTimeAsync(500)
    expect(seen).toEqual(['open', 'close', 'fail', 'fail', 'open'])
    expect(it.isMissing).toBe(false)
    expect(errors).toEqual([])
  })

  test('whose port is gone for good is given up after 20 attempts', async () => {
    vi.useFakeTimers()
    const { it, seen, replace } = endpoint('open', 'fail')
    await it.listen(443)
    replace()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(seen.filter((one) => one === 'fail').length).toBe(20)
    expect(it.isMissing).toBe(true)
    expect(errors).toHaveLength(1)
  })
})

test('a relay whose UDP port is taken gives no UDP ports, and serves the rest', async () => {
  const first = await freeRange(2)
  const holder = createSocket('udp6')
  holder.bind(first)
  await once(holder, 'listening')
  const range = { MIN_PORT: `${first + 1}`, MAX_PORT: `${first + 1}` }
  const gates = { UDP_ENABLED: 'true', TCP_ENABLED: 'true' }
  const relay = await startTestRelay({ ...gates, ...range, SNI_PORT: `${first}` })
  try {
    await expect(relay.register('game', { udp_enabled: true })).rejects.toThrow('udp_disabled')
    await relay.register('game', { tcp_enabled: true })
  } finally {
    holder.close()
    await relay.close()
  }
})

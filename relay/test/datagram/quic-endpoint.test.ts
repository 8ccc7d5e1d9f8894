// Tests the QUIC endpoint where it cannot be opened, and when it has to be opened again.

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { freeRange } from '../../../tools/network/free-port.ts'
import type { QuicCertificates } from '../../src/core/certificates/quic-certificate.ts'
import type { Logger } from '../../src/core/log/log.ts'
import { DatagramEndpoint } from '../../src/features/datagrams/quic-endpoint.ts'
import { startTestRelay } from '../support/relay.ts'

const errors: string[] = []
const said: string[] = []
const log = {
  error: (_fields: object, text: string) => void errors.push(text),
  warn: (text: string) => void said.push(text),
  info: (_fields: object, text: string) => void said.push(text),
} as unknown as Logger
beforeEach(() => {
  errors.splice(0)
  said.splice(0)
})
afterEach(() => void vi.useRealTimers())

/** @param outcomes of the attempts to open, in their order; the last one stays */
function endpoint(...outcomes: ('open' | 'fail' | 'taken')[]) {
  const seen: string[] = []
  let die = (_cause: string): void => {}
  let replace: (() => void) | undefined
  const certificates = {
    current: async () => ({}),
    onReplace: (listener: () => void) => {
      replace = listener
    },
  } as unknown as QuicCertificates
  const open = async () => {
    const outcome = outcomes.length > 1 ? outcomes.shift() : outcomes[0]
    seen.push(outcome!)
    if (outcome === 'fail') throw new Error('no binary for this platform')
    if (outcome === 'taken') throw Object.assign(new Error('taken'), { code: 'EADDRINUSE' })
    const { promise: ended, resolve } = Promise.withResolvers<string>()
    die = resolve
    const close = async (): Promise<void> => {
      seen.push('close')
      resolve('closed')
    }
    return { close, ended }
  }
  const accept = () => ({ stream: () => {}, datagram: () => {}, closed: () => {} })
  return {
    seen,
    replace: () => replace?.(),
    die: () => die('SIGSEGV'),
    it: new DatagramEndpoint(certificates, accept, log, open),
  }
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

describe('TunnelEndpoint whose process', () => {
  test('died is opened again, later each time, and says so until it is', async () => {
    vi.useFakeTimers()
    const { it, seen, die } = endpoint('open')
    expect(it.problems).toEqual([])
    await it.listen(443)
    expect([it.isUp, it.failures, it.problems]).toEqual([true, 0, []])
    for (const [failures, pauseMs] of [200, 400, 800].entries()) {
      die()
      await vi.advanceTimersByTimeAsync(pauseMs - 1)
      expect([it.isUp, it.failures]).toEqual([false, failures + 1])
      expect(it.problems).toEqual(['datagram tunnels are down: UDP ports reach no site'])
      await vi.advanceTimersByTimeAsync(1)
      expect([it.isUp, it.isMissing, it.problems]).toEqual([true, false, []])
    }
    expect(errors).toHaveLength(3)
    expect(seen).toEqual(['open', 'open', 'open', 'open'])
    await it.close()
    expect(seen.at(-1)).toBe('close')
    expect(it.failures).toBe(3)
  })

  test('died is not opened again by a relay that closes', async () => {
    vi.useFakeTimers()
    const { it, seen, die } = endpoint('open')
    await it.listen(443)
    die()
    await vi.advanceTimersByTimeAsync(100)
    await it.close()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(seen).toEqual(['open'])
  })

  test('died and was replaced for a new certificate meanwhile is opened once', async () => {
    vi.useFakeTimers()
    const { it, seen, die, replace } = endpoint('open')
    await it.listen(443)
    replace()
    die()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(seen.filter((one) => one === 'open')).toHaveLength(2)
    expect(it.isUp).toBe(true)
  })

  test('cannot be opened for a while is missing, tried once a minute, and then is back', async () => {
    vi.useFakeTimers()
    const { it, seen, die } = endpoint('open', ...Array.from({ length: 21 }, () => 'fail' as const), 'open')
    await it.listen(443)
    die()
    await vi.advanceTimersByTimeAsync(5_000)
    expect([seen.length, it.isMissing]).toEqual([21, true])
    await vi.advanceTimersByTimeAsync(60_000)
    expect([seen.length, it.isMissing]).toEqual([22, true])
    await vi.advanceTimersByTimeAsync(60_000)
    expect([it.isUp, it.isMissing, said]).toEqual([true, false, ['datagram tunnels are back']])
  })
})

test('a port that the relay before still has is waited for, at a start', async () => {
  vi.useFakeTimers()
  const { it, seen } = endpoint('taken', 'taken', 'open')
  const listening = it.listen(443)
  await vi.advanceTimersByTimeAsync(500)
  await listening
  expect(seen).toEqual(['taken', 'taken', 'open'])
  expect([it.isUp, it.isMissing]).toEqual([true, false])
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

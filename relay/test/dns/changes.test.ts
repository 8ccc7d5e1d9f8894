// Changes of DNS records are made one after another, and with growing pauses after failures.

import { pause } from '@svc/protocol/timers'
import { describe, expect, test } from 'vitest'
import { oneAtATime } from '../../src/features/dns/one-at-a-time.ts'
import { DnsProviderError } from '../../src/features/dns/provider.ts'
import { ProviderBackoff } from '../../src/features/dns/provider-backoff.ts'
import { MemoryDnsProvider } from '../support/memory-dns-provider.ts'

describe('ProviderBackoff', () => {
  const failure = new Error('failed')

  test('doubles from 2 s to 10 min, and begins again after a success', () => {
    const pauses = new ProviderBackoff()
    const seconds = Array.from({ length: 11 }, () => pauses.after(failure) / 1000)
    expect(seconds).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600])
    pauses.reset()
    expect(pauses.after(failure)).toBe(2000)
  })

  test('is as long as the provider says, an hour at most', () => {
    const asked = (retryAfterMs: number) => new DnsProviderError('rate_limited', 'slowly', { retryAfterMs })
    expect(new ProviderBackoff().after(asked(30_000))).toBe(30_000)
    expect(new ProviderBackoff().after(asked(1))).toBe(2000)
    expect(new ProviderBackoff().after(asked(Number.MAX_SAFE_INTEGER))).toBe(3_600_000)
  })

  test('ends early when its signal aborts', async () => {
    const closing = new AbortController()
    const paused = pause(3_600_000, closing.signal)
    closing.abort()
    await paused
    await pause(3_600_000, closing.signal)
  })
})

describe('oneAtATime', () => {
  test('calls come one after another, in order, whatever became of those before', async () => {
    const provider = new MemoryDnsProvider()
    provider.faultOf = (call) => (call === 'removeTxt b 2' ? 'unavailable' : undefined)
    const serial = oneAtATime(provider)
    const outcomes = await Promise.allSettled([
      serial.addTxt('a', '1'),
      serial.removeTxt('b', '2'),
      serial.setAddresses('c', { ipv4: ['192.0.2.1'], ipv6: [] }),
      serial.dnssec(),
    ])
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([true, false, true, true])
    expect(provider.calls).toEqual([
      'addTxt a 1 taken',
      'removeTxt b 2',
      'setAddresses c 192.0.2.1',
      'dnssec',
    ])
    expect(provider.mostRunning).toBe(1)
  })

  test('what was given up before its turn is not asked for', async () => {
    const provider = new MemoryDnsProvider()
    const serial = oneAtATime(provider)
    const gaveUp = new AbortController()
    const first = serial.addTxt('a', '1')
    const second = serial.addTxt('b', '2', gaveUp.signal)
    gaveUp.abort()
    await expect(second).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }))
    await first
    expect(provider.calls).toEqual(['addTxt a 1 taken'])
  })

  test('nobody waits for the propagation of another’s record, or for the question whether a provider can answer', async () => {
    const provider = new MemoryDnsProvider()
    const serial = oneAtATime(provider)
    const published = Promise.withResolvers<void>()
    provider.propagation = published.promise
    let isPublished = false
    const first = serial.addTxt('site', '1').then(() => (isPublished = true))
    provider.canAnswer = () => new Promise<boolean>(() => {})
    void serial.canAnswer()
    await serial.addTxt('root', '2', undefined, 'taken')
    await serial.removeTxt('root', '2')
    expect(isPublished).toBe(false)
    published.resolve()
    await first
    expect(provider.calls).toEqual(['addTxt site 1 taken', 'addTxt root 2 taken', 'removeTxt root 2'])
  })

  test('who gives up does not wait for a call that hangs', async () => {
    const provider = new MemoryDnsProvider()
    let open = () => {}
    provider.gate = new Promise<void>((resolve) => (open = resolve))
    const serial = oneAtATime(provider)
    const first = serial.addTxt('a', '1')
    const gaveUp = new AbortController()
    const second = serial.addTxt('b', '2', gaveUp.signal)
    gaveUp.abort()
    await expect(second).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }))
    open()
    await first
    await serial.dnssec()
    expect(provider.calls).toEqual(['addTxt a 1 taken', 'dnssec'])
  })

  test('of 1,001 changes that wait for a provider which hangs, the last is refused', async () => {
    const provider = new MemoryDnsProvider()
    let open = () => {}
    provider.gate = new Promise<void>((resolve) => (open = resolve))
    const serial = oneAtATime(provider)
    const waiting = Array.from({ length: 1000 }, (_, index) => serial.addTxt('a', `${index}`))
    await expect(serial.addTxt('a', 'one more')).rejects.toThrow(
      expect.objectContaining({ fault: 'unavailable' }),
    )
    open()
    await Promise.all(waiting)
    await serial.addTxt('a', 'one more')
    expect(provider.calls).toHaveLength(1001)
  })
})

// Tests that visitors of a frozen page, whose connection stays open, get an alert within two seconds.

import { once } from 'node:events'
import { beforeAll, expect, test } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { socketReader } from '../support/api-socket.ts'
import { openCarrier, type TestCarrier } from '../support/carrier.ts'
import { readAll, startTestRelay } from '../support/relay.ts'

const INTERNAL_ERROR = Buffer.of(21, 3, 3, 0, 2, 2, 80)

let unserved: string
const relay = useStarted(startTestRelay)
beforeAll(async () => {
  unserved = (await relay.register('unserved')).hostname
})

async function publish(name: string) {
  const lease = await relay.register(name)
  const capability = lease.reverse_endpoint.capability
  const hello = await captureHello(lease.hostname)
  const carrier = () => openCarrier(relay, capability)
  /** A session that answers its visitor, once there is one. */
  const serve = async ({ open }: TestCarrier): Promise<void> => {
    const { stream, read } = await open(capability)
    expect([...(await read(1))]).toEqual([0])
    const serving = async () => {
      await read(17 + hello.length)
      await stream.write(Buffer.from('answer'))
    }
    serving().catch(() => {})
  }
  const visit = async () => {
    const visitor = await relay.tcp()
    visitor.write(hello)
    return visitor
  }
  return { name, carrier, serve, visit }
}

/**
 * Races with a visitor that came before and that nobody serves: without a probe, a visitor of a silent page would be told after it.
 * @returns what comes first
 */
async function beforeDeadline<T>(told: () => Promise<T>): Promise<T | 'after ten seconds'> {
  const patient = relay.tls(unserved).on('error', () => {})
  const closed = once(patient, 'close').then(() => 'after ten seconds' as const)
  const first = await Promise.race([told(), closed])
  patient.destroy()
  return first
}

/** The process of the page is stopped: it reads nothing, and its kernel goes on. */
const freeze = ({ socket }: TestCarrier): void => socket.pause()
const thaw = ({ socket }: TestCarrier): void => socket.resume()

async function readyOf(name: string): Promise<number | undefined> {
  const { data } = (await relay.call('GET', '/api/state')).json as unknown as {
    data: { leases: { name: string; ready: number }[] }
  }
  return data.leases.find((lease) => lease.name === name)?.ready
}

test('a visitor of a frozen page gets an alert after two seconds, and so does the next; once it is back they are served', async () => {
  const { name, carrier, serve, visit } = await publish('frozen')
  const page = await carrier()
  for (let i = 0; i < 3; i++) await serve(page)
  freeze(page)
  for (let i = 0; i < 2; i++) {
    expect(await beforeDeadline(async () => readAll(await visit()))).toEqual(INTERNAL_ERROR)
    // They are not shown as ready, and not used up either.
    expect(await readyOf(name)).toBe(0)
  }
  const waiting = await visit()
  thaw(page)
  expect(String(await socketReader(waiting)(6))).toBe('answer')
  expect(await readyOf(name)).toBe(1)
})

test('a visitor gets a session of another WebSocket, also of one that was opened meanwhile', async () => {
  const { carrier, serve, visit } = await publish('other')
  const page = await carrier()
  await serve(page)
  await serve(page)
  freeze(page)
  const answered = await beforeDeadline(async () => {
    const answer = socketReader(await visit())(6)
    await serve(await carrier())
    return String(await answer)
  })
  expect(answered).toBe('answer')
})

test('a visitor who waits while the page is frozen with nothing ready is told as soon', async () => {
  const { carrier, visit } = await publish('nothing')
  freeze(await carrier())
  expect(await beforeDeadline(async () => readAll(await visit()))).toEqual(INTERNAL_ERROR)
})

test('sessions of a silent WebSocket make room for those of a new one', async () => {
  const { name, carrier, serve, visit } = await publish('room')
  const page = await carrier()
  for (let i = 0; i < 8; i++) await serve(page)
  freeze(page)
  expect(await readAll(await visit())).toEqual(INTERNAL_ERROR)
  const next = await carrier()
  for (let i = 0; i < 8; i++) await serve(next)
  expect(await readyOf(name)).toBe(8)
})

test('a page that is merely slow keeps its visitor', async () => {
  const lease = await relay.register('slow')
  const { open } = await openCarrier(relay, lease.reverse_endpoint.capability)
  const { stream, read } = await open(lease.reverse_endpoint.capability)
  await read(1)
  const visitor = await relay.tcp()
  visitor.write(await captureHello(lease.hostname))
  await read(17)
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  await stream.write(Buffer.from('answer'))
  expect(String(await socketReader(visitor)(6))).toBe('answer')
})

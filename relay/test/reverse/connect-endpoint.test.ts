// Tests `GET /sdk/connect`: which clients may open a carrier and a stream on it, and what a misbehaving one costs.

import { once } from 'node:events'
import { CARRIER_CLOSE, type RegisterResponse, SUBPROTOCOL } from '@svc/protocol'
import { describe, expect, test } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { carrierOn, connectWebSocket, LINKS, openCarrier } from '../support/carrier.ts'
import { newAccount, startTestRelay } from '../support/relay.ts'

const relay = useStarted(startTestRelay)

/** The answer to a handshake that is refused. */
async function refused(protocols: string[]): Promise<{ status: number; code: string }> {
  const socket = connectWebSocket(relay, protocols)
  const [, response] = await once(socket, 'unexpected-response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const { ok, error } = JSON.parse(Buffer.concat(chunks).toString())
  expect(ok).toBe(false)
  return { status: response.statusCode, code: error.code }
}

const ready = async (name: string): Promise<number | undefined> => {
  const state = await relay.call('GET', '/api/state')
  const { leases } = state.json.data as unknown as { leases: { name: string; ready: number }[] }
  return leases.find((lease) => lease.name === name)?.ready
}

const capabilityOf = (lease: RegisterResponse) => lease.reverse_endpoint.capability

describe('the upgrade', () => {
  test('selects svc.reverse.v1 and nothing else (protocol §7.2.1)', async () => {
    const { socket } = await openCarrier(relay, capabilityOf(await relay.register('select')))
    expect(socket.protocol).toBe(SUBPROTOCOL)
    socket.close()
  })

  test('needs exactly the subprotocol and one capability (protocol §7.2.1)', async () => {
    const capability = capabilityOf(await relay.register('offers'))
    for (const offers of [[], [SUBPROTOCOL]])
      expect(await refused(offers)).toEqual({ status: 403, code: 'unauthorized' })
    for (const offers of [[capability], [capability, SUBPROTOCOL], [SUBPROTOCOL, capability, 'more']])
      expect(await refused(offers)).toEqual({ status: 400, code: 'invalid_request' })
  })

  test('refuses a made-up capability, a lease token, and a capability whose lease instance ended (protocol §5.1.3, §5.1.4)', async () => {
    const account = newAccount()
    const first = await relay.register('tokens', { account })
    expect(await refused([SUBPROTOCOL, 'a.b.c'])).toEqual({ status: 403, code: 'unauthorized' })
    expect(await refused([SUBPROTOCOL, first.access_token])).toEqual({ status: 403, code: 'unauthorized' })
    const second = await relay.register('tokens', { account })
    expect(await refused([SUBPROTOCOL, capabilityOf(first)])).toEqual({
      status: 404,
      code: 'lease_not_found',
    })
    await relay.call('POST', '/sdk/unregister', { access_token: second.access_token })
    expect(await refused([SUBPROTOCOL, capabilityOf(second)])).toEqual({
      status: 404,
      code: 'lease_not_found',
    })
  })

  test('an ordinary GET is told what is missing (protocol §7.1.4)', async () => {
    expect(await relay.call('GET', '/sdk/connect')).toMatchObject({
      status: 403,
      json: { error: { code: 'unauthorized', message: expect.stringMatching(/capability is needed/) } },
    })
  })

  test('a lease has at most 8 carriers of both kinds; closing one makes room (protocol §7.1.5)', async () => {
    const capability = capabilityOf(await relay.register('many'))
    const open = []
    for (let i = 0; i < 8; i++) open.push(await LINKS[i % 2]![1](relay, capability))
    expect(await refused([SUBPROTOCOL, capability])).toEqual({ status: 429, code: 'rate_limited' })
    await expect(LINKS[1]![1](relay, capability)).rejects.toThrow('HTTP/1.1 429 ')
    open[0]!.terminate()
    await expect.poll(async () => (await openCarrier(relay, capability)).socket.readyState).toBe(1)
  })
})

test('a WebSocket that sends a message over 1 MiB is closed with 1009 (protocol §7.2.2)', async () => {
  const { socket } = await openCarrier(relay, capabilityOf(await relay.register('big')))
  socket.send(Buffer.alloc(1024 * 1024 + 1))
  expect((await once(socket, 'close'))[0]).toBe(1009)
})

describe.each(LINKS)('on a carrier of %s', (kind, connect) => {
  const prefix = kind.slice(-5)
  const register = (name: string, options = {}): Promise<RegisterResponse> =>
    relay.register(`${prefix}-${name}`, options)
  const readyAt = (name: string): Promise<number | undefined> => ready(`${prefix}-${name}`)
  const open = async (capability: string) => carrierOn(await connect(relay, capability))

  describe('a stream', () => {
    test('is accepted with 0x00 and counts as ready', async () => {
      const capability = capabilityOf(await register('ready'))
      const carrier = await open(capability)
      const { read, stream } = await carrier.open(capability)
      expect(await read(1)).toEqual(Buffer.of(0))
      expect(await readyAt('ready')).toBe(1)
      stream.abort()
      await expect.poll(() => readyAt('ready')).toBe(0)
    })

    test('with another capability is rejected with 0x01 and closed; the others live on (protocol §7.4.1, §7.4.2)', async () => {
      const lease = await register('rejects')
      const carrier = await open(capabilityOf(lease))
      const good = await carrier.open(capabilityOf(lease))
      expect(await good.read(1)).toEqual(Buffer.of(0))
      const other = capabilityOf(await register('rejects-other'))
      for (const capability of ['nonsense', lease.access_token, other, 'x'.repeat(8192)]) {
        const { read } = await carrier.open(capability)
        expect(await read(2)).toEqual(Buffer.of(1))
      }
      expect(await readyAt('rejects')).toBe(1)
    })

    test('of a ninth idle session is rejected (protocol §7.5.1)', async () => {
      const capability = capabilityOf(await register('nine'))
      const carrier = await open(capability)
      for (let i = 0; i < 8; i++) expect(await (await carrier.open(capability)).read(1)).toEqual(Buffer.of(0))
      expect(await (await carrier.open(capability)).read(2)).toEqual(Buffer.of(1))
    })

    test('that claims 65,535 bytes of capability is rejected before they come (protocol §7.4.2)', async () => {
      const capability = capabilityOf(await register('length'))
      const { session } = await open(capability)
      const stream = await session.open()
      await stream.write(Buffer.from('ffff', 'hex'))
      expect(Buffer.from((await stream.read())!)).toEqual(Buffer.of(1))
    })

    test('that speaks before its marker is dropped', async () => {
      const capability = capabilityOf(await register('early'))
      const carrier = await open(capability)
      const { stream, read } = await carrier.open(capability)
      await read(1)
      await stream.write(Buffer.from('hello?'))
      await expect.poll(() => readyAt('early')).toBe(0)
    })
  })

  describe('a carrier', () => {
    test.each([
      ['random', 'random bytes', Buffer.from('garbage'.repeat(100))],
      ['huge', 'a frame of 4 GiB', Buffer.from('0000000100000001ffffffff', 'hex')],
      ['version', 'another version', Buffer.from('010000010000000100000000', 'hex')],
    ])('(%s) that sends %s is closed; other leases do not notice', async (name, _what, garbage) => {
      const bystander = capabilityOf(await register(`by-${name}`))
      const link = await connect(relay, bystander)
      const well = carrierOn(link)
      expect(await (await well.open(bystander)).read(1)).toEqual(Buffer.of(0))
      const culprit = await connect(relay, capabilityOf(await register(`culprit-${name}`)))
      void culprit.send(garbage)
      await culprit.closed
      expect(await readyAt(`by-${name}`)).toBe(1)
      expect(await (await well.open(bystander)).read(1)).toEqual(Buffer.of(0))
      link.terminate()
    })

    test('ends with its lease, and is told why (protocol §7.6.1, §7.6.2)', async () => {
      const account = newAccount()
      const first = await register('told', { account })
      const replaced = await open(capabilityOf(first))
      const second = await register('told', { account })
      expect(await replaced.closeCode).toBe(CARRIER_CLOSE.leaseReplaced)
      const unregistered = await open(capabilityOf(second))
      await relay.call('POST', '/sdk/unregister', { access_token: second.access_token })
      expect(await unregistered.closeCode).toBe(CARRIER_CLOSE.leaseEnded)
    })
  })
})

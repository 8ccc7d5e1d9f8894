// §4.2.11 and §4.6.1: which tickets resume, and what becomes of the others.

import { afterEach, describe, expect, test, vi } from 'vitest'
import { HASH } from '../../src/crypto/hash.ts'
import { EarlySecret } from '../../src/crypto/key-schedule.ts'
import { Secrets } from '../../src/crypto/secrets.ts'
import { type ServerConfig, type Session, TicketSealer } from '../../src/index.ts'
import { ALERT, parseClientHello } from '../../src/messages/index.ts'
import { Reader } from '../../src/messages/reader.ts'
import { concat } from '../../src/messages/writer.ts'
import { makeIdentity } from '../support/certificates.ts'
import { ext } from '../support/client-hello-builder.ts'
import { hex } from '../support/hex.ts'
import { RawClient, until } from '../support/raw-client.ts'

const identity = makeIdentity('ec')
const SHA256 = HASH['SHA-256']

interface Ticket {
  identity: Uint8Array
  psk: Uint8Array
}

function configured(): ServerConfig {
  return { ...identity.config, alpn: ['http/1.1'], tickets: new TicketSealer() }
}

async function getTickets(config: ServerConfig): Promise<Ticket[]> {
  const client = await new RawClient(config).connect()
  await until(() => client.tickets.length === 2)
  return client.tickets.map((message) => readTicket(client, message))
}

function readTicket(client: RawClient, message: Uint8Array): Ticket & { lifetimeSeconds: number } {
  const reader = new Reader(message, 'NewSessionTicket', 4)
  const lifetimeSeconds = reader.u32()
  reader.u32() // ticket_age_add
  const psk = client.resumption!.psk(reader.vector(1))
  return { identity: reader.vector(2), psk, lifetimeSeconds }
}

/** A hello that offers the tickets, each with the binder of its PSK or the one given. */
function offer(
  client: RawClient,
  tickets: Ticket[],
  changed: [number, Uint8Array][] = [],
  binder?: Uint8Array,
) {
  const build = (binders: Uint8Array[]) => {
    const identities = tickets.map((ticket) => ticket.identity)
    return client.hello({
      extensions: [...client.extensions(...changed), ext.preSharedKey(identities, binders)],
    })
  }
  const draft = build(tickets.map(() => new Uint8Array(32)))
  const truncated = draft.subarray(0, draft.length - parseClientHello(draft).preSharedKey!.bindersLength)
  const binderOf = ({ psk }: Ticket) =>
    new EarlySecret(SHA256, psk.slice(), new Secrets()).binder(SHA256.digest(truncated))
  client.psk = tickets[0]!.psk
  return build(tickets.map((ticket) => binder ?? binderOf(ticket)))
}

async function resumes(
  config: ServerConfig,
  tickets: Ticket[],
  ...changed: [number, Uint8Array][]
): Promise<boolean> {
  const client = new RawClient(config)
  await client.connect(offer(client, tickets, changed))
  expect(client.closed).toBe(false)
  // A resumed handshake has neither Certificate nor CertificateVerify.
  expect(client.messages.includes(11)).toBe(!client.info!.resumed)
  return client.info!.resumed
}

afterEach(() => void vi.useRealTimers())

test('a ticket resumes', async () => {
  const config = configured()
  const tickets = await getTickets(config)
  expect(await resumes(config, tickets)).toBe(true)
})

test('a resumed connection carries data and gives new tickets', async () => {
  const config = configured()
  const client = new RawClient(config)
  await client.connect(offer(client, await getTickets(config)))
  await client.server.write(hex('0102'))
  expect(client.received).toEqual(hex('0102'))
  expect(client.tickets).toHaveLength(2)
})

test('the second identity will do when the first is unknown', async () => {
  const config = configured()
  const [ticket] = await getTickets(config)
  const client = new RawClient(config)
  const hello = offer(client, [{ identity: hex('0011'), psk: new Uint8Array(32) }, ticket!])
  client.psk = ticket!.psk
  await client.connect(hello)
  expect(client.info!.resumed).toBe(true)
})

test('identities beyond the fourth are not looked at', async () => {
  const config = configured()
  const [ticket] = await getTickets(config)
  const unknown = Array.from({ length: 4 }, (_, i) => ({
    identity: Uint8Array.of(i),
    psk: new Uint8Array(32),
  }))
  expect(await resumes(config, [...unknown, ticket!])).toBe(false)
})

describe('goes on with the certificate', () => {
  test.each<[string, (ticket: Ticket) => Ticket]>([
    ['an unknown ticket', (ticket) => ({ ...ticket, identity: new Uint8Array(100) })],
    ['a tampered ticket', (t) => ({ ...t, identity: t.identity.with(-1, t.identity.at(-1)! ^ 1) })],
    ['a ticket cut short', (t) => ({ ...t, identity: t.identity.slice(0, 10) })],
    ['a ticket of one byte', (t) => ({ ...t, identity: t.identity.slice(0, 1) })],
  ])('%s', async (_, change) => {
    const config = configured()
    const [ticket] = await getTickets(config)
    expect(await resumes(config, [change(ticket!)])).toBe(false)
  })

  test('another server name, another protocol, another mode', async () => {
    const config = configured()
    const tickets = await getTickets(config)
    expect(await resumes(config, tickets, ext.serverName('other.localhost'))).toBe(false)
    expect(await resumes(config, tickets, ext.alpn('http/1.1'))).toBe(false)
    expect(await resumes(config, tickets, ext.pskModes(0))).toBe(false)
  })

  test('another certificate', async () => {
    const config = configured()
    const tickets = await getTickets(config)
    expect(await resumes({ ...config, ...makeIdentity('ec').config }, tickets)).toBe(false)
  })

  test('another hash', async () => {
    const config = configured()
    const [ticket] = await getTickets(config)
    const client = new RawClient(config)
    const extensions = [...client.extensions(), ext.preSharedKey([ticket!.identity], [new Uint8Array(48)])]
    await client.connect(client.hello({ cipherSuites: [0x1302], extensions }))
    expect(client.info).toMatchObject({ resumed: false, cipherSuite: 0x1302 })
  })

  test('a ticket past its lifetime', async () => {
    const config = configured()
    const tickets = await getTickets(config)
    const day = 24 * 60 * 60 * 1000
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + day - 2000 })
    expect(await resumes(config, tickets)).toBe(true)
    vi.setSystemTime(Date.now() + 4000)
    expect(await resumes(config, tickets)).toBe(false)
  })

  test('a ticket of a chain of resumptions that began 7 days ago (§4.6.1)', async () => {
    const config = configured()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    const hoursMs = 60 * 60 * 1000
    let [ticket] = await getTickets(config)
    for (let hours = 20; hours < 7 * 24; hours += 20) {
      vi.setSystemTime(Date.now() + 20 * hoursMs)
      const client = new RawClient(config)
      await client.connect(offer(client, [ticket!]))
      expect(client.info!.resumed).toBe(true)
      await until(() => client.tickets.length === 2)
      const { lifetimeSeconds, ...renewed } = readTicket(client, client.tickets[0]!)
      expect(lifetimeSeconds).toBe(Math.min(24, 7 * 24 - hours) * 60 * 60)
      ticket = renewed
    }
    vi.setSystemTime(Date.now() + 8 * hoursMs - 2000)
    expect(await resumes(config, [ticket!])).toBe(true)
    vi.setSystemTime(Date.now() + 4000)
    expect(await resumes(config, [ticket!])).toBe(false)
  })

  test('a server without tickets', async () => {
    const tickets = await getTickets(configured())
    const { tickets: _, ...config } = configured()
    expect(await resumes(config, tickets)).toBe(false)
  })
})

describe('a wrong binder (§4.2.11.2)', () => {
  test.each([
    ['of this length', new Uint8Array(32)],
    ['of another length', new Uint8Array(33)],
  ])('%s', async (_, binder) => {
    const config = configured()
    const client = new RawClient(config)
    client.sendHello(offer(client, await getTickets(config), [], binder))
    await client.over()
    expect(client.alerts).toEqual([ALERT.decrypt_error])
  })

  test('after a HelloRetryRequest it covers all hellos', async () => {
    const config = configured()
    const [ticket] = await getTickets(config)
    const client = new RawClient(config)
    const groups = ext.supportedGroups(0x001e, 0x0017)
    client.sendHello(offer(client, [ticket!], [groups, ext.keyShare([0x001e, new Uint8Array(56)])]))
    await until(() => client.messages.length > 0)
    // Its binder is over the second hello alone.
    client.sendHello(offer(client, [ticket!], [groups, ext.keyShare(client.p256Share)]))
    await client.over()
    expect(client.alerts).toEqual([ALERT.decrypt_error])
  })
})

test('no psk_dhe_ke, no tickets', async () => {
  const client = new RawClient(configured())
  await client.connect(client.helloWith(ext.pskModes(0)))
  await client.server.write(hex('00'))
  expect(client.tickets).toHaveLength(0)
})

describe('TicketSealer', () => {
  const session: Session = {
    hash: 'SHA-384',
    psk: new Uint8Array(48).fill(1),
    serverName: 'a.example',
    alpn: 'h2',
    certificate: new Uint8Array(32).fill(2),
    authenticatedAt: 0,
  }

  test('keys rotate, and live for two lifetimes', async () => {
    const sealer = new TicketSealer({ lifetimeSeconds: 10 })
    vi.useFakeTimers({ toFake: ['Date'], now: 0 })
    await sealer.seal(session)
    vi.setSystemTime(9000)
    const late = await sealer.seal(session)
    vi.setSystemTime(11_000)
    const other = await sealer.seal(session)
    expect(other.subarray(0, 4)).not.toEqual(late.subarray(0, 4))
    expect(await sealer.open(late)).toEqual(session)
    vi.setSystemTime(22_000)
    await sealer.seal(session)
    expect(await sealer.open(late)).toBeUndefined()
  })

  test('no two tickets are the same, and none shows its secret', async () => {
    const sealer = new TicketSealer()
    const [one, two] = [await sealer.seal(session), await sealer.seal(session)]
    expect(one).not.toEqual(two)
    expect(one.join()).not.toContain(session.psk.subarray(0, 8).join())
    expect(await sealer.open(concat(one, hex('00')))).toBeUndefined()
  })
})

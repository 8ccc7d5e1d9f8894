// The server in its thread, with the zone that the relay has, asked by dig, nsupdate and resolvers' habits.

import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findBind9 } from '../../../tools/programs/bind9.ts'
import { type DnsServer, startDnsServer } from '../../src/server/start-dns-server.ts'
import type { ZoneChange } from '../../src/zone/answer.ts'
import { addressData, TYPE, textData } from '../../src/zone/record-data.ts'
import { dnsQuery, readAnswer } from '../support/dns-message.ts'
import { logTo, STARTED } from '../support/server.ts'
import { newZoneKey } from '../support/zone.ts'

const HOST = '127.0.0.1'
const APEX = 'relay.test'
const key = newZoneKey(APEX)
const bind9 = findBind9()
const cleanups: (() => unknown)[] = []
const log = logTo([], 'error')

const addressOf = (name: string, address: string): ZoneChange => ({
  kind: 'set',
  name,
  type: TYPE.A,
  ttl: 60,
  data: [addressData(address)],
})
const RECORDS = [addressOf(APEX, '192.0.2.1'), addressOf(`*.${APEX}`, '192.0.2.1')]

let server: DnsServer
let port: number

beforeAll(async () => {
  server = await startDnsServer({
    ...STARTED,
    zone: { key, hasDefaultPort: true },
    addresses: [{ host: HOST, port: 0 }],
    records: () => RECORDS,
    log,
  })
  port = server.bound[0]!.port
  cleanups.push(() => server.close())
})

afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

describe.skipIf(bind9 === undefined)('dig', () => {
  test('each question gets the answer that the RFCs name', async () => {
    const outputs = await Promise.all([
      dig('ReLaY.tEsT', 'A', '+dnssec'),
      dig('+tcp', '+norec', APEX, 'DNSKEY', '+dnssec'),
      dig('+bufsize=512', APEX, 'DNSKEY', '+dnssec', '+ignore', '+nocookie'),
      dig('x.ns1.relay.test', 'A'),
      dig('example.com', 'A'),
      dig(APEX, 'AXFR'),
      dig(APEX, 'IXFR=1'),
      dig(APEX, 'ANY', '+notcp'),
      dig('version.bind', 'TXT', 'CH'),
      dig('+edns=1', '+noednsnegotiation', APEX, 'A'),
      dig('+ednsopt=65001:abcd', '+ednsflags=0x40', APEX, 'A'),
      dig('+opcode=4', APEX, 'SOA'),
      dig('+header-only', '+nocookie', APEX),
    ])
    const expected = [
      [
        /status: NOERROR/,
        /flags: qr aa rd;/,
        /^ReLaY\.tEsT\.\s+60\s+IN\s+A\s+192\.0\.2\.1$/m,
        /RRSIG\s+A 13 2 60/,
        /COOKIE: \w{48} \(good\)/,
      ],
      [/flags: qr aa;/, /DNSKEY\s+257 3 13/, /\(TCP\)/],
      [/flags: qr aa tc rd;|RRSIG\s+DNSKEY/],
      [/status: NXDOMAIN/, /AUTHORITY: 1/],
      [/status: REFUSED/, /flags: qr rd;/],
      [/Transfer failed/],
      [/Transfer failed/],
      [/ANSWER: 1,/, /HINFO\s+"RFC8482"/],
      [/status: REFUSED/],
      [/status: BADVERS/, /EDNS: version: 0/],
      [/status: NOERROR/, /EDNS: version: 0, flags:; udp: 1232/],
      [/status: NOTIMP/, /opcode: NOTIFY/],
      [/status: FORMERR/],
    ]
    for (const [index, patterns] of expected.entries())
      for (const pattern of patterns) expect(outputs[index]).toMatch(pattern)
  })

  test('an update is not implemented, and changes nothing', async () => {
    const child = start('nsupdate', ['-v'])
    child.stdin.end(`server ${HOST} ${port}\nzone ${APEX}\nupdate add x.${APEX} 60 A 192.0.2.66\nsend\n`)
    expect(await text(child.stderr)).toMatch(/NOTIMP/)
    expect(await dig('+short', `x.${APEX}`, 'A')).toBe('192.0.2.1\n')
  })

  test('a cookie that dig got is good the next time', async () => {
    const [, cookie] = /COOKIE: (\w{48})/.exec(await dig(APEX, 'A')) ?? []
    expect(await dig(`+cookie=${cookie}`, APEX, 'A')).toContain(`; COOKIE: ${cookie} (good)`)
  })

  async function dig(...args: string[]): Promise<string> {
    const child = start('dig', ['-p', `${port}`, `@${HOST}`, '+tries=3', '+time=20', ...args])
    child.stdin.end()
    return await text(child.stdout)
  }

  function start(program: string, args: string[]) {
    return spawn(bind9!.pathOf(program), args, { env: { ...process.env, ...bind9!.env } })
  }
})

describe('changes', () => {
  test('the server answers with a change when the promise is kept', async () => {
    const name = `_acme-challenge.${APEX}`
    await server.apply([{ kind: 'set', name, type: TYPE.TXT, ttl: 0, data: [textData('proof')] }])
    expect((await ask(name, TYPE.TXT)).answers).toMatchObject([{ data: [Buffer.from('proof')] }])
    await server.apply([{ kind: 'remove', name, type: TYPE.TXT }])
    expect((await ask(name, TYPE.TXT)).answers).toEqual([])
  })

  test('many come in pieces, the last one counts, and one that the zone does not take hinders no other', async () => {
    const many = Array.from({ length: 2500 }, (_, index) => addressOf(`l${index}.${APEX}`, '198.51.100.1'))
    const outside = addressOf('www.example.com', '192.0.2.1')
    const outcomes = await Promise.allSettled([
      server.apply([addressOf(`before.${APEX}`, '198.51.100.1')]),
      server.apply([outside, ...many, addressOf(`l2499.${APEX}`, '198.51.100.2')]),
      server.apply([addressOf(`after.${APEX}`, '198.51.100.1')]),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(outcomes[1]).toMatchObject({ reason: { message: `www.example.com is not in the zone ${APEX}` } })
    expect((await ask(`l0.${APEX}`, TYPE.A)).answers).toMatchObject([{ data: '198.51.100.1' }])
    expect((await ask(`l2499.${APEX}`, TYPE.A)).answers).toMatchObject([{ data: '198.51.100.2' }])
  })

  test('a record of the start that the zone refuses is one line in the log, and the others are there', async () => {
    const lines: string[] = []
    const own = await startDnsServer({
      ...STARTED,
      zone: { key, hasDefaultPort: true },
      addresses: [{ host: HOST, port: 0 }],
      records: () => [addressOf('www.example.com', '192.0.2.1'), ...RECORDS],
      log: logTo(lines, 'error'),
    })
    cleanups.push(() => own.close())
    expect((await ask(APEX, TYPE.A, own.bound[0]!.port)).answers).toHaveLength(1)
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
      `DNS: a record cannot be in the zone: www.example.com is not in the zone ${APEX}`,
    ])
  })
})

test('each query is counted once', async () => {
  const own = await startDnsServer({
    ...STARTED,
    zone: { key, hasDefaultPort: true },
    addresses: [{ host: HOST, port: 0 }],
    records: () => RECORDS,
    log,
  })
  cleanups.push(() => own.close())
  const at = own.bound[0]!.port
  const before = sent
  for (let index = 0; index < 5; index++) await ask('example.com', TYPE.A, at)
  const refused = sent - before
  await ask(`x.ns1.${APEX}`, TYPE.A, at)
  while (own.counts.queries.nxdomain === 0) await pause(50)
  const { queries } = own.counts
  expect([queries.refused, queries.nxdomain]).toEqual([refused, sent - before - refused])
})

test('a port that is taken is said once, with what to do, and bound when it is free', async () => {
  const taken = createSocket('udp4')
  taken.bind(0, HOST)
  await once(taken, 'listening')
  const lines: string[] = []
  const other = await startDnsServer({
    ...STARTED,
    zone: { key, hasDefaultPort: true },
    addresses: [{ host: HOST, port: taken.address().port }],
    records: () => RECORDS,
    log: logTo(lines, 'info'),
    rebindMs: 50,
  })
  cleanups.push(() => other.close())
  expect(other.bound).toEqual([])
  await pause(200)
  expect(lines.filter((line) => /another program has port \d+ .* DNS_ADDR/.test(line))).toHaveLength(1)
  const { port: freed } = taken.address()
  taken.close()
  while (other.bound.length === 0) await pause(10)
  expect((await ask(APEX, TYPE.A, freed)).answers).toHaveLength(1)
})

test('a thread that breaks is started again with all records, and changes meanwhile are not lost', async () => {
  const module = path.join(import.meta.dirname, '../../src/server/dns-thread.ts')
  const script = new URL(
    `data:text/javascript,${encodeURIComponent(`
      import ${JSON.stringify(pathToFileURL(module).href)}
      import { parentPort } from 'node:worker_threads'
      parentPort.on('message', ({ changes }) => {
        if (changes?.some(({ name }) => name.startsWith('break.'))) throw new Error('broken by a test')
      })`)}`,
  )
  const records = [...RECORDS]
  const lines: string[] = []
  const other = await startDnsServer({
    ...STARTED,
    zone: { key, hasDefaultPort: true },
    addresses: [{ host: HOST, port: 0 }],
    records: () => records,
    log: logTo(lines, 'info'),
    code: { script, options: {} },
  })
  cleanups.push(() => other.close())
  const breaking = other.apply([addressOf(`break.${APEX}`, '192.0.2.9')])
  const change = addressOf(`new.${APEX}`, '192.0.2.8')
  records.push(change)
  await Promise.all([breaking, other.apply([change])])
  while (other.bound.length === 0) await pause(10)
  expect((await ask(`new.${APEX}`, TYPE.A, other.bound[0]!.port)).answers).toMatchObject([
    { data: '192.0.2.8' },
  ])
  expect(lines.some((line) => line.includes('DNS: the server ended; it starts again in 1 s'))).toBe(true)
  await other.close()
  await expect(other.apply([change])).rejects.toThrow('the DNS server is closed')
})

test('a thread that does not start is an error at once', async () => {
  const script = new URL("data:text/javascript,throw new Error('broken by a test')")
  const starting = startDnsServer({
    ...STARTED,
    zone: { key, hasDefaultPort: true },
    addresses: [{ host: HOST, port: 0 }],
    records: () => RECORDS,
    log,
    code: { script, options: {} },
  })
  await expect(starting).rejects.toThrow('broken by a test')
})

/** Questions of {@link ask}. */
let sent = 0

/** Asks by UDP, again when nothing comes. */
async function ask(name: string, type: number, at: number = port) {
  const socket = createSocket('udp4')
  try {
    for (;;) {
      sent += 1
      socket.send(dnsQuery({ name, type, edns: {} }), at, HOST)
      const answer = await Promise.race([once(socket, 'message'), pause(2000)])
      if (answer) return readAnswer(answer[0])
    }
  } finally {
    socket.close()
  }
}

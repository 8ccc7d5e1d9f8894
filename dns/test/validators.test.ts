// Real validators judge the zone as the server serves it: delv, ldns, and resolvers that come from a signed root.
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../tools/network/free-port.ts'
import { findDnsTools } from '../../tools/programs/dns-tools.ts'
import { atDepth } from '../../tools/test-depth.ts'
import { dnskeyData, dsText } from '../src/dnssec/key-records.ts'
import { Client } from '../src/server/client.ts'
import { Responder } from '../src/server/responder.ts'
import { type DnsServer, startDnsServer } from '../src/server/start-dns-server.ts'
import type { ZoneChange } from '../src/zone/answer.ts'
import { addressData, caaData, TYPE, textData } from '../src/zone/record-data.ts'
import { Zone } from '../src/zone/zone.ts'
import { type DnsTree, startDnsTree } from './support/dns-tree.ts'
import { logTo, STARTED } from './support/server.ts'
import { newZoneKey } from './support/zone.ts'
import { zoneFile } from './support/zone-file.ts'

const ZONE = 'relay.test'
const TAMPERED_ZONE = 'tampered.test'
/** Loopback addresses that no other test uses. */
const NETWORK = `127.53.${process.pid % 256}`
const [SERVER, TAMPERING] = [`${NETWORK}.3`, `${NETWORK}.4`]
const IPV4 = '192.0.2.7'
const START_TIMEOUT_MS = 240_000

const tools = findDnsTools()
/** Other addresses of loopback and port 53 need Linux and root. */
const hasPort53 = process.platform === 'linux' && process.getuid?.() === 0
const key = newZoneKey(ZONE)
const tamperedKey = newZoneKey(TAMPERED_ZONE)
const directory = mkdtempSync(path.join(tmpdir(), 'svc-validators-'))

let server: DnsServer
let port: number

beforeAll(async () => {
  if (tools === undefined) return
  port = await freePort()
  server = await startDnsServer({
    ...STARTED,
    zone: { key, hasDefaultPort: true },
    addresses: [{ host: '127.0.0.1', port }, ...(hasPort53 ? [{ host: SERVER, port: 53 }] : [])],
    records: () => records(ZONE),
    log: logTo([], 'error'),
  })
}, START_TIMEOUT_MS)

afterAll(async () => {
  await server?.close()
  rmSync(directory, { recursive: true, force: true })
})

function records(zone: string): ZoneChange[] {
  const set = (name: string, type: number, ...data: Buffer[]): ZoneChange => {
    return { kind: 'set', name, type, ttl: 60, data }
  }
  return [
    // The name servers have the addresses of the apex.
    set(zone, TYPE.A, addressData(zone === ZONE ? SERVER : TAMPERING)),
    set(zone, TYPE.CAA, caaData('issue', 'ca.example')),
    set(`*.${zone}`, TYPE.A, addressData(IPV4)),
    set(`*.${zone}`, TYPE.AAAA, addressData('2001:db8::7')),
    set(`shop.${zone}`, TYPE.TXT, textData('ENS1 0x1234')),
    set(`_acme-challenge.${zone}`, TYPE.TXT, textData('one'), textData('two')),
    set(`_a._deep.shop.${zone}`, TYPE.TXT, textData('x'.repeat(300))),
  ]
}

describe.skipIf(tools === undefined)('clients that ask the server itself', () => {
  const run = async (program: string, ...args: string[]): Promise<string> =>
    (await tools!.run(program, args, { cwd: directory })).output

  test('delv validates by the key alone', async () => {
    const publicKey = dnskeyData(key).subarray(4).toString('base64')
    const anchor = `trust-anchors { "${ZONE}." static-key 257 3 13 "${publicKey}"; };\n`
    writeFileSync(path.join(directory, 'anchor'), anchor)
    const delv = (name: string, type: string): Promise<string> =>
      run('delv', '@127.0.0.1', '-p', `${port}`, '-a', 'anchor', `+root=${ZONE}`, name, type)
    const positive = [
      [ZONE, 'SOA'],
      [ZONE, 'CDS'],
      [ZONE, 'CDNSKEY'],
      [`random.${ZONE}`, 'A'],
      [`a.b.c.${ZONE}`, 'HTTPS'],
      [`\\000\\255\\..${ZONE}`, 'A'],
      ...atDepth(
        [
          [ZONE, 'A'],
          [ZONE, 'NS'],
          [ZONE, 'DNSKEY'],
          [ZONE, 'CAA'],
          [ZONE, 'ANY'],
          [`*.${ZONE}`, 'A'],
          [`ns1.${ZONE}`, 'A'],
          [`shop.${ZONE}`, 'AAAA'],
          [`_acme-challenge.${ZONE}`, 'TXT'],
        ],
        [],
      ),
    ]
    const negative = [
      [ZONE, 'MX'],
      [`x.shop.${ZONE}`, 'A'],
      [`_deep.shop.${ZONE}`, 'A'],
      // The longest name, below which no name is possible.
      [`${`${'l'.repeat(60)}.`.repeat(3)}${'m'.repeat(59)}.${ZONE}`, 'MX'],
    ]
    for (const [name, type] of positive)
      expect(await delv(name!, type!), `${name} ${type}`).toMatch(/^; fully validated/)
    for (const [name, type] of negative)
      expect(await delv(name!, type!), `${name} ${type}`).toContain('negative response, fully validated')
  })

  test('kdig and dig read answers over UDP and TCP', async () => {
    const kdig = await run('kdig', '@127.0.0.1', '-p', `${port}`, '+dnssec', `any.${ZONE}`, 'A')
    expect(kdig).toContain('status: NOERROR')
    expect(kdig).toMatch(new RegExp(`any.${ZONE}.*A\\s+${IPV4}`))
    expect(kdig).toMatch(/RRSIG\s+A 13 3 60/)
    const dig = await run('dig', '@127.0.0.1', '-p', `${port}`, '+tcp', '+dnssec', ZONE, 'DNSKEY')
    expect(dig).toMatch(/flags: qr aa rd;/)
    expect(dig).toContain('(TCP)')
    // RFC 9824 §4.1: the flag CO brings NXDOMAIN back, and without DNSSEC it is said anyway.
    const ask = (...options: string[]): Promise<string> =>
      run('dig', '@127.0.0.1', '-p', `${port}`, `x.shop.${ZONE}`, 'A', ...options)
    expect(await ask('+dnssec')).toMatch(/status: NOERROR[\s\S]*NSEC.*RRSIG NSEC TYPE128/)
    expect(await ask('+dnssec', '+coflag')).toMatch(
      /status: NXDOMAIN[\s\S]*flags: do co;[\s\S]*NSEC.*RRSIG NSEC TYPE128/,
    )
    expect(await ask()).toContain('status: NXDOMAIN')
  })

  test('ldns makes the DS record that the operator is told, and dnssec-cds finds it in the signed CDS record', async () => {
    const dig = (...args: string[]): Promise<string> =>
      run('dig', '@127.0.0.1', '-p', `${port}`, '+noall', '+answer', ...args)
    const file = (name: string, content: string): void => writeFileSync(path.join(directory, name), content)
    file('dnskey', await dig(ZONE, 'DNSKEY'))
    const made = await run('ldns-key2ds', '-n', '-2', '-f', 'dnskey')
    expect(withoutOwner(made).toUpperCase()).toBe(dsText(key))
    file('dsset', `${ZONE}. 60 IN DS ${dsText(key)}\n`)
    file('child', await dig('+dnssec', ZONE, 'DNSKEY', ZONE, 'CDS', ZONE, 'CDNSKEY'))
    // Signatures that were made before the set of DS was written do not count.
    const found = await run('dnssec-cds', '-s', '-7200', '-d', 'dsset', '-f', 'child', `${ZONE}.`)
    expect(withoutOwner(found).toUpperCase()).toBe(dsText(key))
  })

  test('named-checkzone takes the zone as a file, and ldns-verify-zone each of its signatures', async () => {
    const zone = new Zone({ key, hasDefaultPort: true })
    for (const change of records(ZONE)) zone.apply(change)
    const labels = ['ns1', 'ns2', '*', 'shop', '_acme-challenge', '_a._deep.shop']
    const names = [ZONE, ...labels.map((label) => `${label}.${ZONE}`)]
    writeFileSync(path.join(directory, 'generic'), zoneFile(zone, key, names))
    const checked = await run('named-checkzone', '-i', 'full', '-D', '-o', 'zone', ZONE, 'generic')
    expect(checked).toMatch(/loaded serial \d+ \(DNSSEC signed\)\nOK/)
    expect(await run('ldns-verify-zone', 'zone')).toContain('Zone is verified and complete')
    // One octet of an address decides that the file is no longer what was signed.
    const changed = readFileSync(path.join(directory, 'zone'), 'utf8').replaceAll(IPV4, '192.0.2.8')
    writeFileSync(path.join(directory, 'changed'), changed)
    expect(await run('ldns-verify-zone', 'changed')).toContain('Bogus DNSSEC signature')
  })
})

/** The RDATA of a DS record in the presentation format, in which a digest may have a gap. */
function withoutOwner(record: string): string {
  const [, , , , tag, algorithm, type, ...digest] = record.trim().split(/\s+/)
  return [tag, algorithm, type, digest.join('')].join(' ')
}

describe.skipIf(tools === undefined || !hasPort53)('resolvers that start at a root', () => {
  let tree: DnsTree
  let tampering: Socket

  beforeAll(async () => {
    tampering = await startTampering()
    tree = await startDnsTree(tools!, NETWORK, [
      { label: 'relay', address: SERVER, ds: dsText(key) },
      { label: 'tampered', address: TAMPERING, ds: dsText(tamperedKey) },
    ])
  }, START_TIMEOUT_MS)

  afterAll(async () => {
    await tree?.close()
    if (tampering) await new Promise<void>((resolve) => tampering.close(() => resolve()))
  })

  describe.each(['unbound', 'named'] as const)('%s', (resolver) => {
    test.each([
      ['the apex', ZONE, 'A', SERVER],
      ['the key', ZONE, 'DNSKEY', '257 3 13'],
      ['a name by the wildcard', `any.${ZONE}`, 'A', IPV4],
      ['another name by it', `a.b.${ZONE}`, 'AAAA', '2001:db8::7'],
      ['an HTTPS record', `shop.${ZONE}`, 'HTTPS', /\tHTTPS\t1 \.$/m],
      ['a text', `shop.${ZONE}`, 'TXT', '"ENS1 0x1234"'],
    ])('validates %s', async (_, name, type, data) => {
      const answer = await tree.resolve(resolver, name, type, '+dnssec')
      expect(answer).toMatch(/status: NOERROR[\s\S]*flags: qr rd ra ad;/)
      if (typeof data === 'string') expect(answer).toContain(data)
      else expect(answer).toMatch(data)
    })

    test.each([
      ['that a type is not there', ZONE, 'MX'],
      ['that a type is not at the wildcard', `any.${ZONE}`, 'TXT'],
      ['that a name is not there', `x.shop.${ZONE}`, 'A'],
      ['an empty non-terminal', `_deep.shop.${ZONE}`, 'A'],
    ])('validates %s', async (_, name, type) => {
      const answer = await tree.resolve(resolver, name, type, '+dnssec')
      expect(answer).toMatch(/status: (NOERROR|NXDOMAIN)[\s\S]*flags: qr rd ra ad; QUERY: 1, ANSWER: 0,/)
      expect(answer).toMatch(/NSEC.*RRSIG NSEC/)
    })

    test('validates a record that the zone got a moment ago', async () => {
      const name = `new-${resolver}.${ZONE}`
      expect(await tree.resolve(resolver, name, 'A', '+dnssec')).toMatch(/flags: qr rd ra ad;/)
      await server.apply([{ kind: 'set', name, type: TYPE.TXT, ttl: 60, data: [textData('new')] }])
      expect(await tree.resolve(resolver, name, 'TXT', '+dnssec')).toMatch(/flags: qr rd ra ad;[\s\S]*"new"/)
    })

    test('refuses an answer that was changed on its way', async () => {
      expect(await tree.resolve(resolver, TAMPERED_ZONE, 'TXT', '+dnssec')).toMatch(
        /status: NOERROR[\s\S]* ad;/,
      )
      expect(await tree.resolve(resolver, `any.${TAMPERED_ZONE}`, 'A', '+dnssec')).toContain(
        'status: SERVFAIL',
      )
      // Without validation, the changed address is what a client would get.
      expect(await tree.resolve(resolver, `any.${TAMPERED_ZONE}`, 'A', '+cd')).toContain('192.0.2.8')
    })
  })

  /** Serves a zone, and changes one address in its answers. */
  async function startTampering(): Promise<Socket> {
    const zone = new Zone({ key: tamperedKey, hasDefaultPort: true })
    for (const change of records(TAMPERED_ZONE)) zone.apply(change)
    const responder = new Responder({ zone, onZoneError: expect.unreachable })
    const socket = createSocket('udp4')
    const [before, after] = [addressData(IPV4), addressData('192.0.2.8')]
    socket.on('message', (message, { address, port }) => {
      const answer = responder.respond(message, new Client().set(address), 'udp')
      const at = answer?.indexOf(before) ?? -1
      if (at >= 0) after.copy(answer!, at)
      if (answer) socket.send(answer, port, address)
    })
    socket.bind(53, TAMPERING)
    await once(socket, 'listening')
    return socket
  }
})

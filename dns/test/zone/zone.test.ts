import { describe, expect, test } from 'vitest'
import { RECORD_SET_MAX_OCTETS } from '../../src/zone/limits.ts'
import { addressData, caaData, httpsData, TYPE, textData } from '../../src/zone/record-data.ts'
import { APEX, shapeOf, testZone } from '../support/zone.ts'

const { A, AAAA, ANY, CAA, CDNSKEY, CDS, DNSKEY, DS, HTTPS, NS, NSEC, NXNAME, RRSIG, SOA, TXT } = TYPE
const CNAME = 5
const FORMERR = 1
const NXDOMAIN = 3
const REFUSED = 5

/** Without signatures. */
function plain(zone: ReturnType<typeof testZone>, name: string, type: number): string {
  return shapeOf(zone.ask(name, type, false))
}

describe('what a zone has', () => {
  test('at the apex, all that a zone needs', () => {
    const { ask } = testZone()
    for (const type of [A, AAAA, NS, SOA, DNSKEY, CDS, CDNSKEY, HTTPS])
      expect(ask(APEX, type, false).answers.length, `type ${type}`).toBeGreaterThan(0)
    expect(ask(APEX, A, false).answers[0]).toMatchObject({ ttl: 60, data: Buffer.from([192, 0, 2, 1]) })
    expect(ask(APEX, NS, false).answers.map(({ data }) => data.toString('latin1'))).toEqual([
      '\x03ns1\x05relay\x04test\x00',
      '\x03ns2\x05relay\x04test\x00',
    ])
  })

  test('name servers have the addresses of the apex, and follow them', () => {
    const { ask, setAddress } = testZone()
    setAddress(APEX, '198.51.100.7')
    for (const name of [`ns1.${APEX}`, `ns2.${APEX}`]) {
      expect(ask(name, A, false).answers.map(({ data }) => [...data])).toEqual([[198, 51, 100, 7]])
      expect(shapeOf(ask(name, AAAA, false))).toBe('0:  / SOA')
    }
  })

  test('the name servers are ns1 and ns2 of the zone', () => {
    const labels = testZone()
      .ask(APEX, NS, false)
      .answers.map(({ data }) => data.toString('latin1', 1, 4))
    expect(labels).toEqual(['ns1', 'ns2'])
  })

  test('HTTPS names no protocol, since each site has its own, and is left out where visitors come to another port', () => {
    const { ask } = testZone()
    for (const name of [APEX, `any.${APEX}`])
      expect(ask(name, HTTPS, false).answers[0]!.data).toEqual(httpsData())
    expect(httpsData().toString('hex')).toBe('000100')
    const other = testZone({ hasDefaultPort: false })
    expect(plain(other, `any.${APEX}`, HTTPS)).toBe('0:  / SOA')
  })

  test('names in other zones are refused, and a name in another case is answered in that case', () => {
    const { ask } = testZone()
    for (const name of ['test', '.', 'other.test', 'xrelay.test', 'relay.test.example'])
      expect(shapeOf(ask(name, A)), name).toBe(`${REFUSED}:  /`)
    const answer = ask('ShOp.RELAY.test', A)
    expect(answer.answers.map(({ name }) => String(name))).toEqual(['ShOp.RELAY.test', 'ShOp.RELAY.test'])
  })

  test('all types are answered with one small record (RFC 8482), and signatures alone with one', () => {
    const { ask } = testZone()
    expect(shapeOf(ask(APEX, ANY))).toBe('0: HINFO RRSIG /')
    expect(shapeOf(ask(`any.${APEX}`, ANY, false))).toBe('0: HINFO /')
    expect(shapeOf(ask(`any.${APEX}`, RRSIG, false))).toBe('0: RRSIG /')
  })

  test('the type of compact answers is no question (RFC 9824 §3.4), and NSEC is one', () => {
    const { ask } = testZone()
    expect(shapeOf(ask(APEX, NXNAME))).toBe(`${FORMERR}:  /`)
    expect(shapeOf(ask(APEX, NSEC))).toBe('0: NSEC RRSIG /')
  })

  test('the parent zone has DS, and this one says that it has none', () => {
    expect(shapeOf(testZone().ask(APEX, DS))).toBe('0:  / SOA RRSIG NSEC RRSIG')
  })
})

describe('wildcards (RFC 4592)', () => {
  test('a wildcard answers for names of one label and of several', () => {
    const zone = testZone()
    for (const name of ['shop', 'a.b.c', '*', 'www.*.x', '_underscore'])
      expect(plain(zone, `${name}.${APEX}`, A), name).toBe('0: A /')
    expect(plain(zone, `shop.${APEX}`, TXT)).toBe('0:  / SOA')
  })

  test('a name below an existing one does not exist', () => {
    const zone = testZone()
    zone.setText(`shop.${APEX}`, 'ENS1')
    expect(plain(zone, `shop.${APEX}`, TXT)).toBe('0: TXT /')
    for (const name of ['x.shop', 'y.x.shop', '*.shop', 'x.ns1', 'x.*'])
      expect(plain(zone, `${name}.${APEX}`, A), name).toBe(`${NXDOMAIN}:  / SOA`)
  })

  test('an empty non-terminal exists, and has no records', () => {
    const zone = testZone()
    zone.setText(`_acme-challenge._deep.shop.${APEX}`, 'value')
    expect(plain(zone, `_deep.shop.${APEX}`, A)).toBe('0:  / SOA')
    expect(plain(zone, `_deep.shop.${APEX}`, ANY)).toBe('0:  / SOA')
    expect(plain(zone, `other.shop.${APEX}`, A)).toBe(`${NXDOMAIN}:  / SOA`)
    zone.zone.apply({ kind: 'remove', name: `_acme-challenge._deep.shop.${APEX}`, type: TXT })
    expect(plain(zone, `_deep.shop.${APEX}`, A)).toBe('0: A /')
  })

  test('a challenge below a site, or a text of the site, does not hide its addresses', () => {
    const zone = testZone()
    zone.setText(`_acme-challenge.shop.${APEX}`, 'value')
    zone.setText(`other.${APEX}`, 'ENS1')
    for (const name of [`shop.${APEX}`, `other.${APEX}`])
      for (const type of [A, AAAA, HTTPS]) expect(zone.ask(name, type, false).answers, name).toHaveLength(1)
    zone.setAddress(`other.${APEX}`, '203.0.113.9')
    expect(zone.ask(`other.${APEX}`, A, false).answers.map(({ data }) => [...data])).toEqual([
      [203, 0, 113, 9],
    ])
    // Names with an underscore are no hosts.
    zone.setText(`_acme-challenge.${APEX}`, 'value')
    expect(plain(zone, `_acme-challenge.${APEX}`, A)).toBe('0:  / SOA')
  })

  test('a wildcard below a site is its own', () => {
    const zone = testZone()
    zone.setAddress(`*.shop.${APEX}`, '203.0.113.9')
    expect(zone.ask(`a.shop.${APEX}`, A, false).answers.map(({ data }) => [...data])).toEqual([
      [203, 0, 113, 9],
    ])
    expect(plain(zone, `a.shop.${APEX}`, TXT)).toBe('0:  / SOA')
  })

  test('without a wildcard, a name does not exist, and gets its NXDOMAIN without DO and with CO', () => {
    const zone = testZone()
    zone.setAddress(`*.${APEX}`)
    expect(plain(zone, `shop.${APEX}`, A)).toBe(`${NXDOMAIN}:  / SOA`)
    expect(shapeOf(zone.ask(`shop.${APEX}`, A))).toBe('0:  / SOA RRSIG NSEC RRSIG')
    expect(shapeOf(zone.ask(`shop.${APEX}`, A, true, { compactAnswersOk: true }))).toBe(
      `${NXDOMAIN}:  / SOA RRSIG NSEC RRSIG`,
    )
    expect(plain(zone, `*.${APEX}`, A)).toBe(`${NXDOMAIN}:  / SOA`)
  })
})

describe('hidden sites', () => {
  test("whether a site with the relay's addresses is in the zone changes no answer", () => {
    const { ask, setAddress } = testZone()
    const forms = (): string[] =>
      ['hidden', 'x.hidden', '_acme-challenge.hidden', '*.hidden'].flatMap((name) =>
        [A, AAAA, HTTPS, TXT, NSEC, ANY, CAA, CNAME, 999].map((type) => {
          const { rcode, answers, authority } = ask(`${name}.${APEX}`, type)
          const isOfApex = (name: unknown): boolean => String(name) === APEX
          return JSON.stringify([
            rcode,
            ...[...answers, ...authority].map(({ name, type, ttl, data }) =>
              // The serial number grows, and signatures are random: all before them is compared.
              isOfApex(name)
                ? type
                : [String(name), type, ttl, (type === RRSIG ? data.subarray(0, -64) : data).toString('hex')],
            ),
          ])
        }),
      )
    const absent = forms()
    setAddress(`hidden.${APEX}`, '192.0.2.1', '2001:db8::1')
    expect(forms()).toEqual(absent)
  })
})

describe('changes', () => {
  test('the serial number grows with each change, and with each start', () => {
    const zone = testZone()
    const serial = (from = zone): number =>
      from.ask(APEX, SOA, false).answers[0]!.data.subarray(-20).readUInt32BE()
    const first = serial()
    expect(serial()).toBe(first)
    zone.setText(APEX, 'one')
    zone.setText(APEX, 'two')
    expect(serial()).toBeGreaterThan(first)
    zone.setText(APEX, 'three')
    const last = serial()
    expect(last).toBeGreaterThan(first + 1)
    const later = testZone()
    later.clock.wall += 1000
    later.setText(APEX, 'one')
    expect(serial(later)).toBeGreaterThan(last)
  })

  test('a change that changes nothing is none', () => {
    const { zone, setText } = testZone()
    setText(APEX, 'one')
    const { version } = zone
    setText(APEX, 'one')
    zone.apply({ kind: 'remove', name: `x.${APEX}`, type: TXT })
    expect(zone.version).toBe(version)
    setText(APEX, 'two')
    expect(zone.version).toBe(version + 1)
  })

  test('several values are one set without duplicates, which goes when it is removed', () => {
    const { zone, ask } = testZone()
    const name = `_acme-challenge.${APEX}`
    const data = [textData('b'), textData('a'), textData('b')]
    zone.apply({ kind: 'set', name, type: TXT, ttl: 60, data })
    expect(ask(name, TXT, false).answers.map((one) => one.data.toString())).toEqual(['\x01a', '\x01b'])
    zone.apply({ kind: 'remove', name, type: TXT })
    expect(ask(name, TXT, false).answers).toEqual([])
  })

  test('CAA names the authority', () => {
    const { zone, ask } = testZone()
    const data = [caaData('issue', 'ca.example')]
    zone.apply({ kind: 'set', name: APEX, type: CAA, ttl: 3600, data })
    expect(ask(APEX, CAA, false).answers[0]!.data.toString('latin1')).toBe('\0\x05issueca.example')
  })

  test.each([
    ['a name in another zone', 'other.test', A, [addressData('192.0.2.1')]],
    ['a name server', `NS1.${APEX}`, A, [addressData('192.0.2.1')]],
    ['the key', APEX, DNSKEY, [Buffer.alloc(68)]],
    ['the serial number', APEX, SOA, [Buffer.alloc(30)]],
    ['an alias', `x.${APEX}`, CNAME, [Buffer.from([0])]],
    ['a type that stands for several', `x.${APEX}`, ANY, [Buffer.from([0])]],
    ['an address of another family', `x.${APEX}`, A, [addressData('2001:db8::1')]],
    ['no record', `x.${APEX}`, A, []],
    ['empty data', `x.${APEX}`, TXT, [Buffer.alloc(0)]],
    ['too much data', `x.${APEX}`, TXT, [Buffer.alloc(RECORD_SET_MAX_OCTETS + 1)]],
    ['an invalid name', `..${APEX}`, A, [addressData('192.0.2.1')]],
  ])('a change of %s is refused, and nothing changes', (_, name, type, data) => {
    const { zone } = testZone()
    const { version } = zone
    expect(() => zone.apply({ kind: 'set', name, type, ttl: 60, data })).toThrow(RangeError)
    expect(zone.version).toBe(version)
  })

  test.each([-1, 0.5, 2 ** 31, Number.NaN])('a TTL of %s is refused', (ttl) => {
    const { zone } = testZone()
    const data = [textData('x')]
    expect(() => zone.apply({ kind: 'set', name: APEX, type: TXT, ttl, data })).toThrow(RangeError)
  })
})

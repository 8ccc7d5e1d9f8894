// The client finds the name servers of a zone from its parents, asks each, and takes nothing that is not their answer.

import { describe, expect, test } from 'vitest'
import { findBind9, startBind9 } from '../../../tools/programs/bind9.ts'
import { DnsClient } from '../../src/client/index.ts'
import { CNAMES_MAX, OTHER_MESSAGES_MAX } from '../../src/client/limits.ts'
import { type Answering, a, cname, ns, soa, startFakeServer, txt } from './fake-server.ts'

const PARENT = '127.0.0.10'
const FIRST = '127.0.0.1'
const SECOND = '127.0.0.12'
const NAME = 'shop.example.test'

/** `test`, whose server is the resolver as well, and delegates `example.test` to two servers. */
const parent: Answering = (name, type) => {
  if (name === 'test' && type === 'NS') return { answers: [ns('test', 'a.test')] }
  if (name === 'a.test' && type === 'A') return { answers: [a('a.test', PARENT)] }
  if (name === 'example.test' && type === 'NS')
    return {
      isAuthoritative: false,
      authorities: [ns('example.test', 'ns1.example.test'), ns('example.test', 'ns2.example.test')],
      additionals: [a('ns1.example.test', FIRST), a('ns2.example.test', SECOND)],
    }
  return { authorities: [soa('test', 30)] }
}

const having =
  (...records: ReturnType<typeof txt>[]): Answering =>
  (name, type) => {
    const answers = records.filter((one) => one.name === name && (one.type === type || one.type === 'CNAME'))
    return answers.length > 0 ? { answers } : { code: 3, authorities: [soa('example.test', 30)] }
  }

async function client(first: Answering, second: Answering = first, root: Answering = parent) {
  const { port, asked } = await startFakeServer(PARENT, root)
  await startFakeServer(FIRST, first, port)
  await startFakeServer(SECOND, second, port)
  return { client: new DnsClient({ resolvers: [`${PARENT}:${port}`], port, timeoutMs: 300 }), asked, port }
}

async function valuesAt(dns: DnsClient, name = `_svc.${NAME}`): Promise<unknown[]> {
  const steps = await dns.lookUp(name, 'TXT')
  return steps.at(-1)!.answers.map(({ problem, records }) => problem ?? records.map(({ value }) => value))
}

describe('an authoritative look-up', () => {
  test('asks each server that the parent names, and each says what it has', async () => {
    const { client: dns, asked } = await client(
      having(txt(`_svc.${NAME}`, 'new')),
      having(txt(`_svc.${NAME}`, 'old')),
    )
    const [step] = await dns.lookUp(`_svc.${NAME}`, 'TXT')
    expect(step).toMatchObject({ name: `_svc.${NAME}`, zone: 'example.test' })
    expect(step!.answers.map(({ server, records }) => [server, records[0]!.value])).toEqual([
      ['ns1.example.test', 'new'],
      ['ns2.example.test', 'old'],
    ])
    await dns.lookUp(NAME, 'CAA')
    expect(asked.filter((question) => question === 'example.test NS')).toHaveLength(1)
  })

  test('finds a zone below, also where the same server has both', async () => {
    const both: Answering = (name, type) =>
      name === NAME && type === 'NS'
        ? { answers: [ns(NAME, 'ns2.example.test')] }
        : having(txt(`_svc.${NAME}`, 'value'), a('ns2.example.test', SECOND))(name, type, 'udp')
    const { client: dns } = await client(both, both, (name, type, transport) =>
      name === 'ns2.example.test' ? both(name, type, transport) : parent(name, type, transport),
    )
    const [step] = await dns.lookUp(`_svc.${NAME}`, 'TXT')
    expect(step).toMatchObject({ zone: NAME, answers: [{ server: 'ns2.example.test' }] })
    expect([await dns.isApex(NAME), await dns.isApex('example.test'), await dns.isApex(`x.${NAME}`)]).toEqual(
      [true, true, false],
    )
  })

  test('follows a CNAME into its own zone, and not for ever', async () => {
    const chain = having(cname(NAME, 'alias.example.test'), a('alias.example.test', '192.0.2.1'))
    const { client: dns } = await client(chain)
    const steps = await dns.lookUp(NAME, 'A')
    expect(steps.map(({ name }) => name)).toEqual([NAME, 'alias.example.test'])
    expect(steps[1]!.answers[0]!.records).toMatchObject([{ type: 'A', value: '192.0.2.1' }])
    expect(await dns.lookUp(NAME, 'CNAME')).toHaveLength(1)
    const { client: endless } = await client(having(cname('x.example.test', 'x.example.test')))
    await expect(endless.lookUp('x.example.test', 'A')).rejects.toThrow(`more than ${CNAMES_MAX} CNAME`)
  })

  test('follows no CNAME on which its servers disagree, and none to a name where it is to end', async () => {
    const to = (target: string): Answering => having(cname(NAME, target))
    const { client: dns } = await client(to('one.example.test'), to('other.example.test'))
    const steps = await dns.lookUp(NAME, 'A')
    expect(steps.map(({ name, target }) => [name, target])).toEqual([[NAME, undefined]])
    const { client: agreeing } = await client(to('one.example.test'))
    const ended = await agreeing.lookUp(NAME, 'A', (target) => target === 'one.example.test')
    expect(ended.map(({ name, target }) => [name, target])).toEqual([[NAME, 'one.example.test']])
  })

  test('asks no more than it may, and only whom it may', async () => {
    const { port, client: dns } = await client(having(txt(`_svc.${NAME}`, 'value')))
    const options = { resolvers: [`${PARENT}:${port}`], port, timeoutMs: 300 }
    await dns.lookUp(`_svc.${NAME}`, 'TXT')
    const few = new DnsClient({ ...options, questionsMax: 5 })
    await expect(few.lookUp(`_svc.${NAME}`, 'TXT')).rejects.toThrow('more questions than one look-up')
    const careful = new DnsClient({ ...options, mayAsk: (address) => address !== SECOND })
    expect(await valuesAt(careful)).toEqual([['value'], 'has no public address'])
  })

  test('asks last where nobody answers, and names servers beyond 16 or labels beyond 16 to nobody', async () => {
    const reachable = having(txt(`_svc.${NAME}`, 'value'))
    const twice: Answering = (name, type, transport) =>
      name === 'example.test' && type === 'NS'
        ? {
            isAuthoritative: false,
            authorities: [ns('example.test', 'ns1.example.test')],
            // Nobody is at the first address.
            additionals: [a('ns1.example.test', '127.0.0.13'), a('ns1.example.test', FIRST)],
          }
        : parent(name, type, transport)
    const { client: dns } = await client(reachable, reachable, twice)
    expect(await valuesAt(dns)).toEqual([['value']])
    const many = Array.from({ length: 17 }, (_, index) => ns('example.test', `ns${index}.example.test`))
    const { client: crowded } = await client(reachable, reachable, (name, type, transport) =>
      name === 'example.test' && type === 'NS' ? { authorities: many } : parent(name, type, transport),
    )
    await expect(crowded.lookUp(NAME, 'TXT')).rejects.toThrow('example.test has more than 16 name servers')
    await expect(dns.lookUp(`${'x.'.repeat(16)}test`, 'A')).rejects.toThrow('more than 16 labels')
  })

  test('takes a long answer by TCP', async () => {
    const long = 'x'.repeat(200)
    const many = Array.from({ length: 40 }, (_, index) => txt(`_svc.${NAME}`, `${index} ${long}`))
    const { client: dns } = await client(having(...many))
    expect(((await valuesAt(dns))[0] as string[]).length).toBe(40)
  })

  test('says of each server why it gave no answer', async () => {
    const { client: dns } = await client(
      () => undefined,
      () => ({ code: 5 }),
      (name, type, transport) =>
        name === `_svc.${NAME}` || name === NAME ? { code: 5 } : parent(name, type, transport),
    )
    // Both are asked for delegations first, and neither answers.
    await expect(dns.lookUp(`_svc.${NAME}`, 'TXT')).rejects.toThrow(/example\.test answers REFUSED/)
    const { client: lame } = await client(having(txt(`_svc.${NAME}`, 'value')), () => ({
      isAuthoritative: false,
    }))
    expect(await valuesAt(lame)).toEqual([['value'], 'does not have this zone'])
  })

  test('believes no message that does not answer its question', async () => {
    const forged: Answering[] = [
      () => ({ id: 1, answers: [txt(`_svc.${NAME}`, 'forged')] }),
      (_, type) => ({
        questions: [{ name: 'other.test', type: type as 'TXT' }],
        answers: [txt(`_svc.${NAME}`, 'forged')],
      }),
      () => Buffer.alloc(0),
      () => Buffer.alloc(600, 0xc0),
    ]
    for (const forge of forged) {
      const { client: dns } = await client(having(txt(`_svc.${NAME}`, 'true')), (name, type, transport) =>
        type === 'TXT' ? forge(name, type, transport) : having()(name, type, transport),
      )
      expect(await valuesAt(dns)).toEqual([['true'], 'does not answer'])
    }
    const { client: dns } = await client(
      having(txt('other.example.test', 'foreign'), txt(`_svc.${NAME}`, 'own')),
    )
    expect(await valuesAt(dns)).toEqual([['own'], ['own']])
  })

  test('does not read what a server sends without end in place of an answer', async () => {
    const flood: Answering = (name, type) => ({
      times: OTHER_MESSAGES_MAX + 2,
      questions: [{ name: `x${name}`, type: type as 'TXT' }],
    })
    const { client: dns } = await client(having(txt(`_svc.${NAME}`, 'true')), (name, type, transport) =>
      type === 'TXT' ? flood(name, type, transport) : having()(name, type, transport),
    )
    expect(await valuesAt(dns)).toEqual([['true'], 'cannot be reached (sends other messages)'])
  })

  test('reads an answer of 64 KiB, and ends a server that sends without end', async () => {
    const many = Array.from({ length: 300 }, (_, index) => txt(`_svc.${NAME}`, `${index} ${'x'.repeat(175)}`))
    const { client: dns } = await client(having(...many), (name, type, transport) =>
      type === 'TXT' && transport === 'tcp' ? Buffer.alloc(65_535) : having(...many)(name, type, transport),
    )
    const [full, hostile] = await valuesAt(dns)
    expect(full).toHaveLength(300)
    expect(hostile).toMatch(/^cannot be reached/)
  })

  test('ends when its caller does', async () => {
    const { port } = await startFakeServer(PARENT, () => undefined)
    const dns = new DnsClient({
      resolvers: [`${PARENT}:${port}`],
      port,
      signal: AbortSignal.abort(new Error('ended')),
    })
    await expect(dns.lookUp(NAME, 'A')).rejects.toThrow('ended')
  })
})

test('the resolver says how long it keeps a value, or that there is none', async () => {
  const { client: dns } = await client(having(), having(), (name, type, transport) => {
    if (name === NAME && type === 'A') return { isAuthoritative: false, answers: [a(NAME, '192.0.2.9', 77)] }
    return parent(name, type, transport)
  })
  expect(await dns.cached(NAME, 'A')).toMatchObject({ records: [{ value: '192.0.2.9' }], ttl: 77 })
  expect(await dns.cached(NAME, 'TXT')).toEqual({ records: [], ttl: 30 })
})

test('servers that are named are asked in place of all others', async () => {
  const { host, port } = await startFakeServer(FIRST, (name, type) => ({
    isAuthoritative: false,
    answers: type === 'SOA' ? [soa(name, 1)] : [txt(name, 'value')],
  }))
  const dns = new DnsClient({ servers: [`${host}:${port}`] })
  expect(await dns.lookUp(NAME, 'TXT')).toMatchObject([
    { zone: undefined, answers: [{ records: [{ value: 'value' }] }] },
  ])
  expect([await dns.isApex(NAME), await dns.cached(NAME, 'TXT')]).toEqual([true, undefined])
})

describe.skipIf(findBind9() === undefined)('beside a real bind9', () => {
  test('reads each type of record as it is in the zone', async () => {
    const { port } = await startFakeServer(PARENT, parent)
    const bind9 = await startBind9({
      zone: 'example.test',
      addresses: [FIRST],
      port,
      records: [
        `_svc.shop TXT "svc-" "address=0x1"`,
        'shop A 192.0.2.1',
        'shop AAAA 2001:DB8:0::1',
        'shop CAA 0 issue "letsencrypt.org; accounturi=https://acme.test/1"',
        'www CNAME shop',
      ],
    })
    try {
      const dns = new DnsClient({ resolvers: [`${PARENT}:${port}`], port, timeoutMs: 300 })
      const values = async (name: string, type: 'TXT' | 'A' | 'AAAA' | 'CAA') =>
        (await dns.lookUp(name, type)).at(-1)!.answers[0]!.records.map(({ value }) => value)
      expect(await values(`_svc.${NAME}`, 'TXT')).toEqual(['svc-address=0x1'])
      expect(await values('www.example.test', 'A')).toEqual(['192.0.2.1'])
      expect(await values(NAME, 'AAAA')).toEqual(['2001:db8::1'])
      expect(await values(NAME, 'CAA')).toEqual(['0 issue "letsencrypt.org; accounturi=https://acme.test/1"'])
      expect(await values('none.example.test', 'A')).toEqual([])
    } finally {
      await bind9.close()
    }
  })
})

// Every external provider against a server that answers as its API's reference says.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test as every, expect, vi } from 'vitest'
import { json } from '../../../../dns/test/providers/fakes/fake-api.ts'
import { DIALECTS } from '../../../../dns/test/providers/fakes/index.ts'
import { atDepth, wholeOnly } from '../../../../tools/test-depth.ts'
import { OUTBOUND_RESPONSE_MAX_BYTES } from '../../../src/core/outbound/http-client.ts'
import { openExternalProvider } from '../../../src/features/dns/providers/open-provider.ts'
import { RECORD_JOURNAL_FILE } from '../../../src/features/dns/providers/record-journal.ts'
import { PROVIDERS_WITHOUT_DNSSEC } from '../../../src/features/dns/settings.ts'
import { ROOT_HOST, start } from './harness.ts'

const test = wholeOnly(every, 'variant')

const CHALLENGE = `_acme-challenge.${ROOT_HOST}`
const NONE = { ipv4: [], ipv6: [] }
const V4 = { ipv4: ['192.0.2.1'], ipv6: [] }

const HUGE = `{"a":"${'x'.repeat(OUTBOUND_RESPONSE_MAX_BYTES)}"}`
const PAGE = '<html>Sign in to the network</html>'
const ODD_ANSWERS: readonly string[] = atDepth(['', '[]', 'null', PAGE, HUGE], [PAGE, HUGE])

describe.each(DIALECTS.map((dialect) => [dialect.provider, dialect] as const))('%s', (name, dialect) => {
  test('adds several values at one name, each once, and removes its own alone', async () => {
    const { provider, api } = await start(dialect, {
      before: ({ zone }) => zone.add(CHALLENGE, 'TXT', '"foreign"'),
    })
    await provider.addTxt(CHALLENGE, 'one')
    await provider.addTxt(CHALLENGE, 'two')
    await provider.addTxt(CHALLENGE, 'one')
    expect(api.zone.data(CHALLENGE, 'TXT')).toEqual(['"foreign"', '"one"', '"two"'])
    await provider.removeTxt(CHALLENGE, 'one')
    await provider.removeTxt(CHALLENGE, 'one')
    await provider.removeTxt(CHALLENGE, 'never')
    expect(api.zone.data(CHALLENGE, 'TXT')).toEqual(['"foreign"', '"two"'])
    await provider.removeTxt(CHALLENGE, 'two')
    expect(api.zone.data(CHALLENGE, 'TXT')).toEqual(['"foreign"'])
  })

  test('keeps a value that was there before the relay wanted it', async () => {
    const { provider, api } = await start(dialect, {
      before: ({ zone }) => zone.add(CHALLENGE, 'TXT', '"same"'),
    })
    await provider.addTxt(CHALLENGE, 'same')
    await provider.removeTxt(CHALLENGE, 'same')
    expect(api.zone.data(CHALLENGE, 'TXT')).toEqual(['"same"'])
    expect(api.changes).toEqual([])
  })

  test('makes the addresses of a host, of its wildcard and of the apex equal to those of the relay', async () => {
    const { provider, api } = await start(dialect, {
      before: ({ zone }) => zone.add('www.example.com', 'A', '192.0.2.9'),
    })
    for (const host of [ROOT_HOST, `*.${ROOT_HOST}`, 'example.com']) {
      await provider.setAddresses(host, { ipv4: ['192.0.2.1', '192.0.2.2'], ipv6: ['2001:DB8::1'] })
      await provider.setAddresses(host, { ipv4: ['192.0.2.2', '192.0.2.3'], ipv6: ['2001:db8:0::1'] })
      expect(api.zone.data(host, 'A')).toEqual(['192.0.2.2', '192.0.2.3'])
      expect(api.zone.data(host, 'AAAA')).toEqual(['2001:db8::1'])
      await provider.setAddresses(host, NONE)
    }
    expect(api.zone.records.map(({ data }) => data)).toEqual(['192.0.2.9'])
  })

  test('leaves foreign addresses, and says which one stands in the way', async () => {
    const { provider, api } = await start(dialect, {
      before({ zone }) {
        zone.add(ROOT_HOST, 'A', '198.51.100.7')
        zone.add(ROOT_HOST, 'AAAA', '2001:db8::7')
      },
    })
    const change = provider.setAddresses(ROOT_HOST, V4)
    await expect(change).rejects.toMatchObject({
      fault: 'conflict',
      message: expect.stringContaining('198.51.100.7'),
    })
    await provider.setAddresses(ROOT_HOST, { ipv4: ['198.51.100.7'], ipv6: [] })
    await provider.setAddresses(ROOT_HOST, NONE)
    expect(api.changes).toEqual([])
  })

  test('reads every page', async () => {
    const { provider, api } = await start(dialect, {
      before(api) {
        api.pageSize = 2
        for (const value of ['a', 'b', 'c', 'd', 'e']) api.zone.add(CHALLENGE, 'TXT', `"${value}"`)
      },
    })
    await provider.addTxt(CHALLENGE, 'e')
    await provider.addTxt(CHALLENGE, 'f')
    await provider.removeTxt(CHALLENGE, 'f')
    expect(api.zone.data(CHALLENGE, 'TXT')).toEqual(['"a"', '"b"', '"c"', '"d"', '"e"'])
    expect(api.zone.records).toHaveLength(5)
  })

  test.each(ODD_ANSWERS)('refuses an answer that is not that of the API: %.9s', async (body) => {
    const { provider, api } = await start(dialect)
    await provider.removeTxt(CHALLENGE, 'none')
    api.faults.push({ kind: { status: 200, body }, at: 'read', times: 100 })
    await expect(provider.addTxt(CHALLENGE, 'one')).rejects.toMatchObject({ fault: 'unavailable' })
  })

  test('keeps what somebody else adds between its reading and its change', async () => {
    const { provider, api } = await start(dialect)
    await provider.addTxt(CHALLENGE, 'one')
    const meanwhile = () =>
      void api.zone.add(CHALLENGE, 'TXT', '"theirs"', api.zone.of(CHALLENGE, 'TXT')[0]?.ttl)
    api.faults.push({ kind: 'none', at: 'change', meanwhile })
    await provider.addTxt(CHALLENGE, 'two')
    expect(api.zone.data(CHALLENGE, 'TXT')).toEqual(['"one"', '"theirs"', '"two"'])
    api.faults.push({
      kind: 'none',
      at: 'change',
      meanwhile: () => api.zone.remove(api.zone.of(CHALLENGE, 'TXT')),
    })
    await provider.removeTxt(CHALLENGE, 'one')
    expect(api.zone.data(CHALLENGE, 'TXT')).toEqual([])
  })

  test('says which permission a token lacks that may read, and never shows it', async () => {
    const { provider, api } = await start(dialect, { access: 'read' })
    const error = await provider.addTxt(CHALLENGE, 'one').catch((error: Error) => error)
    expect(error).toMatchObject({
      fault: 'unauthorized',
      message: expect.stringMatching(/^[^\n]*; it needs [^\n]+$/),
    })
    api.access = 'whole'
    await provider.addTxt(CHALLENGE, 'one')
    expect(api.zone.data(CHALLENGE, 'TXT')).toEqual(['"one"'])
  })

  test('logs at the start that a token is wrong, without it, and works when it is right', async () => {
    const { provider, api, lines } = await start(dialect, { access: 'none' })
    const error: unknown = await provider.addTxt(CHALLENGE, 'one').catch((error: unknown) => error)
    expect(error).toMatchObject({ fault: 'unauthorized' })
    const shown = [...lines, `${error}`].join('\n')
    expect(shown).toMatch(/^error .* refuses .*; it needs /m)
    for (const secret of dialect.secrets) expect(shown).not.toContain(secret)
    api.access = 'whole'
    await provider.addTxt(CHALLENGE, 'one')
    expect(api.zone.data(CHALLENGE, 'TXT')).toEqual(['"one"'])
  })

  test('says that the account does not have the zone, until it does', async () => {
    const { provider, api, lines } = await start(dialect, {
      zone: 'elsewhere.test',
    })
    const change = (): Promise<void> => provider.setAddresses(ROOT_HOST, V4)
    await expect(change()).rejects.toMatchObject({
      fault: 'wrong_zone',
      message: expect.stringContaining(ROOT_HOST),
    })
    expect(lines).toEqual([expect.stringMatching(/^error /)])
    api.zone.name = ROOT_HOST
    await change()
    expect(api.zone.data(ROOT_HOST, 'A')).toEqual(['192.0.2.1'])
  })

  test('removes the challenges that a crash left, and no other record', async () => {
    const first = await start(dialect, { before: ({ zone }) => zone.add(CHALLENGE, 'TXT', '"foreign"') })
    await first.provider.addTxt(ROOT_HOST, 'ENS1 0x0')
    await first.provider.setAddresses(ROOT_HOST, V4)
    await first.provider.addTxt(CHALLENGE, 'left')
    // The process ends after the journal names the record, and before the provider has it.
    first.api.faults.push({ kind: 'error', at: 'change', times: 100 })
    await first.provider.addTxt(CHALLENGE, 'never made').catch(() => {})
    first.api.faults.length = 0
    const second = await first.restart()
    await second.setAddresses(ROOT_HOST, { ipv4: ['192.0.2.2'], ipv6: [] })
    const { zone } = first.api
    expect(zone.records.map(({ data }) => data).sort()).toEqual(['"ENS1 0x0"', '"foreign"', '192.0.2.2'])
    await second.removeTxt(ROOT_HOST, 'ENS1 0x0')
    expect(zone.data(ROOT_HOST, 'TXT')).toEqual([])
    const { records } = JSON.parse(await readFile(join(first.identityPath, RECORD_JOURNAL_FILE), 'utf8'))
    expect(records).toEqual([
      { provider: name, zone: 'example.com', name: ROOT_HOST, type: 'A', value: '192.0.2.2' },
    ])
  })

  test('removes the challenges of a crash after a start without the API, each for itself, and keeps one that is wanted', async () => {
    const others = [`_acme-challenge.a.${ROOT_HOST}`, `_acme-challenge.b.${ROOT_HOST}`]
    const first = await start(dialect)
    for (const host of [CHALLENGE, ...others]) await first.provider.addTxt(host, 'left')
    const { api } = first
    // The first search for the zone succeeds, and no removal of the start does.
    api.faults.push({ kind: dialect.refusal('error'), at: 'change', times: 3 })
    const second = await first.restart()
    await vi.waitFor(() => expect(first.lines.join()).toMatch(/challenges of an earlier process are still/), {
      timeout: 60_000,
    })
    expect(api.faults).toEqual([])
    await second.addTxt(CHALLENGE, 'left')
    await vi.waitFor(() => expect(others.map((host) => api.zone.data(host, 'TXT'))).toEqual([[], []]), {
      timeout: 60_000,
    })
    expect(api.zone.data(CHALLENGE, 'TXT')).toEqual(['"left"'])
    await second.removeTxt(CHALLENGE, 'left')
    expect(api.zone.data(CHALLENGE, 'TXT')).toEqual([])
  })

  test('answers for the host when the public DNS leads to its name servers', async () => {
    const resolveNs = vi.fn(async (host: string): Promise<string[]> => {
      if (host === 'example.com') return dialect.nameServers.map((server) => server.toUpperCase())
      throw Object.assign(new Error(host), { code: 'ENODATA' })
    })
    const { provider, api } = await start(dialect, { resolveNs })
    expect(await provider.canAnswer()).toBe(true)
    resolveNs.mockImplementation(async (host) => (host === ROOT_HOST ? ['ns.elsewhere.test'] : []))
    expect(await provider.canAnswer()).toBe(false)
    resolveNs.mockRejectedValue(new Error('no network'))
    expect(await provider.canAnswer()).toBe(false)
    api.close()
  })

  test('waits until the name servers have a value, unless nobody waits', async () => {
    const waitForTxt = vi.fn(async () => {})
    const { provider } = await start(dialect, { waitForTxt })
    await provider.addTxt(CHALLENGE, 'one')
    await provider.addTxt(ROOT_HOST, 'two', undefined, 'taken')
    expect(waitForTxt.mock.calls).toEqual([[CHALLENGE, 'one', expect.any(AbortSignal)]])
  })

  test('enables DNSSEC where the provider can, and tells the DS record', async () => {
    const { provider, api } = await start(dialect)
    const state = provider.dnssec()
    if (PROVIDERS_WITHOUT_DNSSEC.includes(name))
      return await expect(state).rejects.toMatchObject({ fault: 'unsupported' })
    expect(await state).toEqual({
      state: name === 'cloudflare' ? 'pending' : api.zone.dnssec,
      dsRecord: expect.stringMatching(/^\d+ 13 2 [0-9a-fA-F]{64}$/),
      message: 'add the DS record of example.com at its registrar',
    })
    const changes = api.changes.length
    await provider.dnssec()
    expect(api.changes).toHaveLength(changes)
  })

  test('ends what is under way when it is closed, or the caller aborts', async () => {
    const { provider, api } = await start(dialect)
    await provider.removeTxt(CHALLENGE, 'none')
    const abort = new AbortController()
    api.faults.push({ kind: 'silent', times: 100, meanwhile: () => abort.abort() })
    await expect(provider.addTxt(CHALLENGE, 'one', abort.signal)).rejects.toMatchObject({
      fault: 'unavailable',
    })
    api.faults.splice(0, 1, { kind: 'silent', times: 100, meanwhile: () => void provider.close() })
    await expect(provider.addTxt(CHALLENGE, 'two')).rejects.toMatchObject({ fault: 'unavailable' })
    expect(api.zone.records).toEqual([])
  })
})

test.each([
  ['cloudflare', {}, 'CLOUDFLARE_TOKEN'],
  ['cloudflare', { CLOUDFLARE_TOKEN: 'a\nb' }, 'CLOUDFLARE_TOKEN'],
  ['hetzner', {}, 'HETZNER_API_TOKEN or HCLOUD_TOKEN'],
  ['njalla', { NJALLA_TOKEN: '' }, 'NJALLA_TOKEN'],
  ['route53', { AWS_ACCESS_KEY_ID: 'AKIA' }, 'AWS_SECRET_ACCESS_KEY'],
  [
    'route53',
    { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', AWS_HOSTED_ZONE_ID: '../x' },
    'AWS_HOSTED_ZONE_ID',
  ],
  ['vultr', {}, 'VULTR_API_KEY'],
  ['gcloud', { GCP_MANAGED_ZONE: 'a/b' }, 'GCP_MANAGED_ZONE'],
] as const)('%s with %o names %s before it asks anything', async (name, env, setting) => {
  const parts = {
    rootHost: ROOT_HOST,
    identityPath: '/nowhere',
    log: {} as never,
    propagation: { waitForTxt: async () => {} },
  }
  await expect(openExternalProvider(name, { ...parts, env })).rejects.toMatchObject({ setting })
})

test.each(['{', '{"version":2,"records":[]}', json({ version: 1, records: [{ name: 'x' }] }).body])(
  'a damaged journal ends the start and stays: %s',
  async (content) => {
    const [dialect] = DIALECTS
    const { identityPath, restart } = await start(dialect!)
    const file = join(identityPath, RECORD_JOURNAL_FILE)
    await writeFile(file, content)
    await expect(restart()).rejects.toMatchObject({
      name: 'SettingsError',
      message: expect.stringContaining(file),
    })
    expect(await readFile(file, 'utf8')).toBe(content)
  },
)

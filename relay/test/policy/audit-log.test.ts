// audit.jsonl: every change of the policy, with time, address and what changed; private, bounded, and added to only.

import { mkdir, mkdtemp, readdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createLog } from '../../src/core/log/log.ts'
import { AUDIT_FILE_MAX_BYTES, AUDIT_FILES_MAX, AuditLog } from '../../src/core/policy/audit-log.ts'
import { AUDIT_PAGE_BYTES } from '../../src/core/policy/audit-pages.ts'
import { WriteHealth } from '../../src/core/storage/write-health.ts'
import { startTestRelay, type TestRelay } from '../support/relay.ts'

const ADMIN_TOKEN = 'the-administrators-long-token'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-audit-'))
})
afterEach(() => rm(directory, { recursive: true }))

const path = () => join(directory, 'audit.jsonl')
const text = (name = 'audit.jsonl') => readFile(join(directory, name), 'utf8')
const entries = async () =>
  (await text())
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

describe('changes of a relay', () => {
  let relay: TestRelay
  beforeEach(async () => {
    relay = await startTestRelay({ ADMIN_TOKEN, TRUSTED_PROXIES: '127.0.0.1' }, { directory })
  })
  afterEach(() => relay.stop())

  const change = (path: string, body: unknown, from: string) =>
    relay.call('POST', path, body, { Authorization: `Bearer ${ADMIN_TOKEN}`, Forwarded: `for="${from}"` })
  const key = `demo:0x${'ab'.repeat(20)}`
  const settings = {
    approval_mode: 'manual',
    landing_page_enabled: true,
    udp: { enabled: false, max_leases: 0 },
    tcp_port: { enabled: false, max_leases: 3 },
  }

  test('by the API are in the file when they are answered, for its owner alone', async () => {
    await change('/api/policy/leases', { identity_key: key, is_banned: true, bps: 5000 }, '192.0.2.1')
    expect(await entries()).toHaveLength(1)
    await change('/api/policy/ips', { ip: '192.0.2.9', is_banned: true }, '[2001:db8::1]')
    await change('/api/policy', settings, '192.0.2.2')
    await change('/api/policy/ips', { ip: 'nowhere', is_banned: true }, '192.0.2.3')
    await relay.call('POST', '/api/policy/ips', { ip: '192.0.2.9', is_banned: false })
    expect(await entries()).toEqual([
      {
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        address: '192.0.2.1',
        by: 'ADMIN_TOKEN',
        kind: 'lease',
        made: { identity_key: key, is_banned: true, bps: 5000 },
        undo: { identity_key: key, is_banned: false, bps: 0 },
      },
      {
        time: expect.any(String),
        address: '2001:db8::1',
        by: 'ADMIN_TOKEN',
        kind: 'ip',
        made: { ip: '192.0.2.9', is_banned: true },
        undo: { ip: '192.0.2.9', is_banned: false },
      },
      {
        time: expect.any(String),
        address: '192.0.2.2',
        by: 'ADMIN_TOKEN',
        kind: 'settings',
        made: settings,
        undo: expect.objectContaining({ approval_mode: 'auto' }),
      },
    ])
    expect((await stat(path())).mode & 0o777).toBe(0o600)
    expect(await text()).not.toContain(ADMIN_TOKEN)
  })

  test('by hand name each ban whose reason or end was edited', async () => {
    const ban = { is_banned: true, reason: 'spam' }
    await change('/api/policy/ips', { ip: '192.0.2.1', ...ban }, '192.0.2.1')
    await change('/api/policy/ips', { ip: '192.0.2.2', ...ban }, '192.0.2.1')
    const policy = JSON.parse(await text('policy.json'))
    const { at } = policy.ban_details.banned_ips['192.0.2.2']
    policy.ban_details.banned_ips['192.0.2.2'].reason = 'fraud'
    await writeFile(join(directory, 'policy.json'), JSON.stringify(policy))
    await vi.waitFor(async () => expect(await entries()).toHaveLength(3))
    const member = (reason: string) => `192.0.2.2=${JSON.stringify({ reason, at, by: 'ADMIN_TOKEN' })}`
    expect((await entries())[2].made).toEqual({
      ban_details: { added: [member('fraud')], removed: [member('spam')] },
    })
  })

  test('by hand are there with what was edited', async () => {
    await change('/api/policy/ips', { ip: '192.0.2.1', is_banned: true }, '192.0.2.1')
    const policy = JSON.parse(await text('policy.json'))
    const ips = Array.from({ length: 120 }, (_, i) => `198.51.100.${i}`)
    await writeFile(
      join(directory, 'policy.json'),
      JSON.stringify({ ...policy, banned_ips: ips, udp_max_leases: 7, identity_bps: { [key]: 1000 } }),
    )
    await vi.waitFor(async () => expect(await entries()).toHaveLength(2))
    expect((await entries())[1]).toEqual({
      time: expect.any(String),
      address: null,
      by: null,
      kind: 'file',
      made: {
        banned_ips: { added: ips.slice(0, 100), removed: ['192.0.2.1'], more: 20 },
        identity_bps: { added: [`${key}=1000`], removed: [] },
        udp_max_leases: { from: 0, to: 7 },
      },
    })
  })
})

describe('the file', () => {
  let log: string
  let health: WriteHealth
  beforeEach(() => {
    log = ''
    health = new WriteHealth(createLog('error', { write: (line) => (log += line) }))
  })
  afterEach(() => health.close())

  const ADMINISTRATOR = { address: '192.0.2.1', by: 'ADMIN_TOKEN' }
  const ban = (number: number) => {
    const ip = `192.0.2.${number}`
    return { kind: 'ip', made: { ip, is_banned: true }, undo: { ip, is_banned: false } } as const
  }
  const numbers = async () => (await entries()).map(({ made }) => Number(made.ip.split('.')[3]))

  test('is added to by each relay, with what a crash has left of a line as a line of its own', async () => {
    await new AuditLog(directory, health).record(ADMINISTRATOR, ban(1))
    await writeFile(path(), '{"time":"2026-', { flag: 'a' })
    await new AuditLog(directory, health).record(ADMINISTRATOR, ban(2))
    const lines = (await text()).split('\n')
    expect(lines).toHaveLength(4)
    expect([lines[0], lines[2]].map((line) => JSON.parse(line!).made.ip)).toEqual(['192.0.2.1', '192.0.2.2'])
  })

  test('has all of many changes at once, in their order', async () => {
    const audit = new AuditLog(directory, health)
    await Promise.all(Array.from({ length: 200 }, (_, number) => audit.record(ADMINISTRATOR, ban(number))))
    expect(await numbers()).toEqual(Array.from({ length: 200 }, (_, number) => number))
  })

  test('is put aside before it has more than 4 MiB, and of four the oldest is forgotten', async () => {
    const audit = new AuditLog(directory, health)
    for (let number = 1; number <= 6; number++) {
      await audit.record(ADMINISTRATOR, ban(number))
      const { size } = await stat(path())
      await writeFile(path(), `${' '.repeat(AUDIT_FILE_MAX_BYTES - size - 1)}\n`, { flag: 'a' })
    }
    await audit.record(ADMINISTRATOR, ban(7))
    const names = (await readdir(directory)).sort()
    expect(names).toEqual(['audit.jsonl', 'audit.jsonl.1', 'audit.jsonl.2', 'audit.jsonl.3'])
    expect(names).toHaveLength(AUDIT_FILES_MAX)
    expect(await numbers()).toEqual([7])
    expect(await text('audit.jsonl.1')).toContain('192.0.2.6')
    expect(await text('audit.jsonl.3')).toContain('192.0.2.4')
    for (const name of names)
      expect((await stat(join(directory, name))).size).toBeLessThanOrEqual(AUDIT_FILE_MAX_BYTES)
  })

  test('is read from its end, in pages, also when it is put aside between two of them', async () => {
    const audit = new AuditLog(directory, health)
    const note = 'x'.repeat(AUDIT_PAGE_BYTES / 4)
    const long = (number: number) => ({ ...ban(number), undo: { ip: note, is_banned: false } }) as const
    for (let number = 1; number <= 5; number++) await audit.record(ADMINISTRATOR, long(number))
    const read: unknown[] = []
    const first = await audit.page('')
    read.push(...first.entries)
    await rename(path(), `${path()}.1`)
    await audit.record(ADMINISTRATOR, ban(6))
    await writeFile(path(), '{"time":"2026-', { flag: 'a' })
    for (let next = first.next; next !== undefined; ) {
      const page = await audit.page(next)
      read.push(...page.entries)
      next = page.next
    }
    expect(first.entries.length).toBeLessThan(5)
    expect(read.map((entry) => (entry as { made: { ip: string } }).made.ip.split('.')[3])).toEqual([
      '5',
      '4',
      '3',
      '2',
      '1',
    ])
    const [newest] = (await audit.page('')).entries
    expect(newest).toEqual({ at: expect.any(String), ...ADMINISTRATOR, ...ban(6) })
  })

  test('has no page after a cursor that it did not give', async () => {
    await expect(new AuditLog(directory, health).page('../audit')).rejects.toMatchObject({
      code: 'invalid_request',
    })
  })

  test('that cannot be written does not hold up the change: that is told, and what is missing comes later', async () => {
    await mkdir(path())
    const audit = new AuditLog(directory, health)
    for (let number = 1; number <= 1100; number++) void audit.record(ADMINISTRATOR, ban(number % 256))
    await audit.record(ADMINISTRATOR, ban(7))
    expect(health.failing).toEqual(['audit.jsonl'])
    expect(log).toContain('audit.jsonl')
    await rmdir(path())
    await audit.record(ADMINISTRATOR, ban(8))
    const found = await numbers()
    expect(found).toHaveLength(1025)
    expect(found.slice(-2)).toEqual([7, 8])
    expect(health.failing).toEqual([])
  })
})

// Approval and ban flags (per identity key), settings and bans: their effect, and that they survive a restart.

import { mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { normalizeIp } from '../../src/core/client-address/ip-address.ts'
import { createLog } from '../../src/core/log/log.ts'
import { Policy } from '../../src/core/policy/policy.ts'
import { unknownFieldsOf } from '../../src/core/policy/policy-file.ts'
import { DEFAULT_RESERVED_NAMES } from '../../src/core/policy/reserved-names.ts'
import { WriteHealth } from '../../src/core/storage/write-health.ts'

const KEY = `demo:0x${'ab'.repeat(20)}`
const gates = { udp: false, tcp: true }

test('the names of name servers, ns1 and ns2, are names that no site gets', () => {
  expect(DEFAULT_RESERVED_NAMES).toEqual(expect.arrayContaining(['ns1', 'ns2']))
})

describe('Policy', () => {
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'svc-policy-'))
  })
  afterEach(() => rm(directory, { recursive: true }))
  const load = (open = gates) =>
    Policy.load(directory, open, { health: new WriteHealth(createLog('silent')) })
  const file = () => join(directory, 'policy.json')

  test('a first start writes the default policy, with the port gates of the server', async () => {
    const { settings } = await load()
    expect(settings).toEqual({
      approval_mode: 'auto',
      landing_page_enabled: true,
      udp: { enabled: false, max_leases: 0 },
      tcp_port: { enabled: true, max_leases: 0 },
      reserved_names: DEFAULT_RESERVED_NAMES,
    })
    expect(JSON.parse(await readFile(file(), 'utf8'))).toEqual({
      approval_mode: 'auto',
      approved_identity_keys: [],
      denied_identity_keys: [],
      banned_identity_keys: [],
      banned_ips: [],
      banned_relays: [],
      banned_domains: [],
      ban_details: {},
      identity_bps: {},
      udp_enabled: false,
      udp_max_leases: 0,
      tcp_port_enabled: true,
      tcp_port_max_leases: 0,
      landing_page_enabled: true,
      reserved_names: DEFAULT_RESERVED_NAMES,
      pinned_names: {},
      administrators: {},
      invitations: [],
    })
    expect((await stat(file())).mode & 0o777).toBe(0o600)
  })

  test('from then on the file decides', async () => {
    await load()
    expect((await load({ udp: true, tcp: false })).settings.tcp_port.enabled).toBe(true)
  })

  test.each(['{', '{}', '[]', '{"approval_mode":"maybe"}'])('%s is refused and kept', async (text) => {
    await writeFile(file(), text)
    await expect(load()).rejects.toThrow(/policy\.json: is not a policy file/)
    expect(await readFile(file(), 'utf8')).toBe(text)
  })

  test.each([
    ['leaves out', undefined],
    ['writes null for', null],
  ])(
    'a file of another relay of the family that %s what is empty has the values of a first start',
    async (_, empty) => {
      const lists = [
        'approved_identity_keys',
        'denied_identity_keys',
        'banned_identity_keys',
        'banned_ips',
        'identity_bps',
      ]
      const limits = [
        'udp_enabled',
        'udp_max_leases',
        'tcp_port_enabled',
        'tcp_port_max_leases',
        'landing_page_enabled',
      ]
      const fields = Object.fromEntries([...lists, ...limits].map((name) => [name, empty]))
      await writeFile(
        file(),
        JSON.stringify({ ...fields, approval_mode: 'manual', banned_ips: ['192.0.2.1'] }),
      )
      const policy = await load({ udp: true, tcp: true })
      expect(policy.settings).toEqual({
        approval_mode: 'manual',
        landing_page_enabled: true,
        // What the file does not open stays closed.
        udp: { enabled: false, max_leases: 0 },
        tcp_port: { enabled: false, max_leases: 0 },
        reserved_names: DEFAULT_RESERVED_NAMES,
      })
      expect(policy.decisions).toMatchObject({
        approved: [],
        denied: [],
        banned: [],
        banned_ips: ['192.0.2.1'],
        bps: {},
      })
    },
  )

  test('fields that the relay does not know are in the file after every change', async () => {
    const theirs = { quota: { demo: 3 }, motd: 'hello' }
    await writeFile(file(), JSON.stringify({ approval_mode: 'auto', ...theirs }))
    const policy = await load()
    await policy.updateLease({ identity_key: KEY, is_banned: true })
    await policy.updateSettings({ ...policy.settings, approval_mode: 'manual' })
    expect(JSON.parse(await readFile(file(), 'utf8'))).toMatchObject({
      ...theirs,
      banned_identity_keys: [KEY],
    })
    expect(unknownFieldsOf(policy.file)).toEqual(['quota', 'motd'])
  })

  test('is_approved: granted and revoked; in mode auto all are approved', async () => {
    const policy = await load()
    expect(policy.identityStatus(KEY).isApproved).toBe(true)
    await policy.updateSettings({ ...policy.settings, approval_mode: 'manual' })
    expect(policy.identityStatus(KEY).isApproved).toBe(false)
    await policy.updateLease({ identity_key: KEY, is_approved: true })
    expect(policy.identityStatus(KEY).isApproved).toBe(true)
    await policy.updateLease({ identity_key: KEY, is_approved: false })
    expect(policy.identityStatus(KEY).isApproved).toBe(false)
  })

  test('is_denied=true sets denial and revokes approval; false only removes denial', async () => {
    const policy = await load()
    await policy.updateSettings({ ...policy.settings, approval_mode: 'manual' })
    await policy.updateLease({ identity_key: KEY, is_approved: true })
    await policy.updateLease({ identity_key: KEY, is_denied: true })
    expect(policy.identityStatus(KEY)).toMatchObject({ isDenied: true, isApproved: false })
    await policy.updateLease({ identity_key: KEY, is_denied: false })
    expect(policy.identityStatus(KEY)).toMatchObject({ isDenied: false, isApproved: false })
  })

  test('a change on its way to the file is not undone by what the file still says', async () => {
    const policy = await load()
    const saved = policy.updateBan('banned_ips', '192.0.2.1', true)
    const reloaded = policy.reload()
    await Promise.all([saved, reloaded])
    expect(policy.isAnyIpBanned('192.0.2.1')).toBe(true)
    expect(await reloaded).toBe(false)
  })

  test('a change of another machine is not undone by what the file still says', async () => {
    const policy = await load()
    const changes: unknown[] = []
    policy.shareWith({ change: async (edit) => void changes.push(edit) })
    for (let number = 0; number < 10; number++) {
      policy.applyShared({ ...policy.file, banned_ips: [`192.0.2.${number}`] })
      expect(await policy.reload()).toBe(false)
      await policy.settled()
    }
    expect(changes).toEqual([])
    expect(policy.isAnyIpBanned('192.0.2.9')).toBe(true)
  })

  test('a change of another machine that the disk did not take is not undone either', async () => {
    const policy = await load()
    const changes: unknown[] = []
    policy.shareWith({ change: async (edit) => void changes.push(edit) })
    await rename(directory, `${directory}-away`)
    policy.applyShared({ ...policy.file, banned_ips: ['192.0.2.1'] })
    await expect.poll(() => policy.reload().catch(String)).toBe(false)
    await rename(`${directory}-away`, directory)
    expect(await policy.reload()).toBe(false)
    expect(changes).toEqual([])
    expect(policy.isAnyIpBanned('192.0.2.1')).toBe(true)
  })

  test('is_banned and bps: set, removed, and nothing else touched', async () => {
    const policy = await load()
    await policy.updateLease({ identity_key: KEY, is_banned: true, bps: 1000 })
    expect(policy.identityStatus(KEY)).toEqual({
      isApproved: true,
      isBanned: true,
      isDenied: false,
      bps: 1000,
    })
    await policy.updateLease({ identity_key: KEY, is_banned: false })
    expect(policy.identityStatus(KEY)).toMatchObject({ isBanned: false, bps: 1000 })
    await policy.updateLease({ identity_key: KEY, bps: 0 })
    expect(policy.identityStatus(KEY).bps).toBe(0)
    expect(policy.identityStatus('other:0x').isBanned).toBe(false)
  })

  test('changes at once all arrive, and the file holds the last', async () => {
    const policy = await load()
    const ips = Array.from({ length: 50 }, (_, i) => `192.0.2.${i}`)
    await Promise.all(ips.map((ip) => policy.updateBan('banned_ips', ip, true)))
    const restarted = await load()
    expect(ips.every((ip) => restarted.isAnyIpBanned(ip))).toBe(true)
    await restarted.updateBan('banned_ips', '192.0.2.7', false)
    expect((await load()).isAnyIpBanned('192.0.2.7')).toBe(false)
    expect(restarted.isAnyIpBanned(undefined, '192.0.2.8')).toBe(true)
  })
})

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:201', '192.0.2.1'],
  ['2001:DB8:0:0::1', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['192.0.2.256', undefined],
  ['192.0.2', undefined],
  ['example', undefined],
  ['', undefined],
])('address %j is %j', (text, ip) => expect(normalizeIp(text)).toBe(ip))

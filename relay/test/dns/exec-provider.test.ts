// Tests the DNS provider that runs a command, against bind9: its contract, its bounds, and the wait for the name servers.

import { Resolver } from 'node:dns/promises'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { COMMAND_LINE_MAX_CHARS } from '../../../dns/src/exec/limits.ts'
import { type Bind9, findBind9, startBind9 } from '../../../tools/programs/bind9.ts'
import { createLog } from '../../src/core/log/log.ts'
import { createExecProvider } from '../../src/features/dns/exec-provider.ts'
import { Propagation } from '../../src/features/dns/propagation.ts'
import { type DnsProvider, DnsProviderError } from '../../src/features/dns/provider.ts'
import { startDnsProvider } from '../../src/features/dns/start-provider.ts'
import { readSettings, SETTINGS } from '../../src/settings.ts'
import { writeNsupdateCommand } from '../support/nsupdate-command.ts'
import { testProviderContract } from './provider-contract.ts'

const HOST = 'relay.test'
const CHALLENGE = `_acme-challenge.${HOST}`
const NO_BIND9 = findBind9() === undefined ? 'needs apt' : undefined
const TIMEOUT_MS = 120_000
const embedded = (): never => expect.fail('another provider was asked for')
let directory = ''

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-exec-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

testProviderContract('exec', startWithBind9, { skipped: NO_BIND9 })

async function startWithBind9() {
  const bind9 = await startBind9({ zone: HOST })
  const path = await writeNsupdateCommand(await mkdtemp(join(directory, 'command-')), bind9)
  const env = {
    SVC_URL: `https://${HOST}`,
    ACME_DNS_PROVIDER: `exec:${path}`,
    ACME_DNS_SERVERS: bind9.address,
  }
  const wrongKey = join(directory, 'wrong-key')
  await writeFile(wrongKey, (await readFile(bind9.keyFile, 'utf8')).replace(/secret ".{4}/, 'secret "AAAA'))
  const brokenBy = (bind: Pick<Bind9, 'address' | 'keyFile' | 'nsupdate'>) => async () =>
    await provider(await writeNsupdateCommand(await mkdtemp(join(directory, 'broken-')), bind))
  return {
    provider: await startDnsProvider(readSettings(env), { embedded, log: createLog('silent') }),
    host: HOST,
    txt: (name: string) => txtOf(bind9, name),
    addresses: async (name: string) => ({
      ipv4: await noneIfMissing(resolverOf(bind9).resolve4(name)),
      ipv6: await noneIfMissing(resolverOf(bind9).resolve6(name)),
    }),
    addForeign: async (name: string, type: string, value: string) =>
      bind9.update(`add ${name}. 0 ${type} ${value}`),
    faults: {
      'a wrong key': { fault: 'unavailable' as const, provider: brokenBy({ ...bind9, keyFile: wrongKey }) },
      'a server that is not there': {
        fault: 'unavailable' as const,
        provider: brokenBy({ ...bind9, address: '127.0.0.1:1' }),
      },
    },
    close: () => bind9.close(),
  }
}

describe('a command', () => {
  const opened: DnsProvider[] = []
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close()
  })
  const script = async (body: string, timeoutMs?: number): Promise<DnsProvider> => {
    const path = join(directory, 'script')
    await writeFile(path, `#!/bin/sh\n${body}\n`)
    await chmod(path, 0o755)
    const one = await provider(path, timeoutMs)
    opened.push(one)
    return one
  }

  test('gets name and value as they are, and nothing of the relay’s own settings', async () => {
    const seen = join(directory, 'seen')
    process.env.ADMIN_TOKEN = 'secret-of-the-administrator'
    process.env.DNS_TOKEN_OF_THE_OPERATOR = 'kept'
    try {
      const one = await script(`printf '%s|' "$@" > '${seen}'; env >> '${seen}'`)
      await one.addTxt(CHALLENGE, `-$(id) "quoted' ; value`, undefined, 'taken')
    } finally {
      delete process.env.ADMIN_TOKEN
      delete process.env.DNS_TOKEN_OF_THE_OPERATOR
    }
    const text = await readFile(seen, 'utf8')
    expect(text.startsWith(`add-txt|${CHALLENGE}|-$(id) "quoted' ; value|`)).toBe(true)
    expect(text).toContain('DNS_TOKEN_OF_THE_OPERATOR=kept')
    expect(text).not.toContain('secret-of-the-administrator')
  })

  test('says by its exit code what is wrong, and by its first line of error why', async () => {
    const faults = {
      1: 'unavailable',
      10: 'unauthorized',
      11: 'wrong_zone',
      12: 'rate_limited',
      13: 'conflict',
      14: 'unsupported',
    }
    for (const [code, fault] of Object.entries(faults)) {
      const one = await script(`echo 'the zone is not ours' >&2; echo 'more' >&2; exit ${code}`)
      const error = await errorOf(one.removeTxt(CHALLENGE, 'value'))
      expect(error).toMatchObject({
        fault,
        message: expect.stringMatching(/ remove-txt \S+: the zone is not ours$/),
      })
    }
    const mute = await errorOf((await script('exit 7')).setAddresses(HOST, { ipv4: [], ipv6: [] }))
    expect(mute.message).toMatch(/ set-addresses relay\.test: the command ended with 7$/)
    const killed = await errorOf((await script('kill -9 $$')).dnssec())
    expect(killed).toMatchObject({
      fault: 'unavailable',
      message: expect.stringMatching(/ended by a signal$/),
    })
  })

  test('that writes without end fills no memory, and its message stays one short line', async () => {
    const one = await script(
      `head -c 50000000 /dev/zero | tr '\\0' '\\033'; head -c 5000000 /dev/zero | tr '\\0' 'x' >&2; exit 1`,
    )
    const { message } = await errorOf(one.dnssec())
    expect(message.length).toBeLessThan(COMMAND_LINE_MAX_CHARS + 200)
    expect(message).toMatch(/: x+$/)
    const colours = await errorOf((await script(`printf '\\033[31mred\\r\\nmore' >&2; exit 1`)).dnssec())
    expect(colours.message).toMatch(/: \?\[31mred$/)
  })

  test('that hangs is ended with what it started', async () => {
    const pidFile = join(directory, 'pid')
    const one = await script(`trap '' TERM; sleep 300 & echo $! > '${pidFile}'; wait; sleep 300`, 300)
    const error = await errorOf(one.addTxt(CHALLENGE, 'value'))
    expect(error).toMatchObject({ fault: 'unavailable', message: expect.stringMatching(/took too long$/) })
    const pid = Number(await readFile(pidFile, 'utf8'))
    await expect.poll(() => isAlive(pid), { timeout: TIMEOUT_MS }).toBe(false)
  })

  test('that leaves a process behind with its output open does not hold the relay', async () => {
    const one = await script(`sleep 300 & echo 'state=on'; echo 'ds=1 13 2 AB'; echo 'message=fine'`)
    expect(await one.dnssec()).toEqual({ state: 'on', dsRecord: '1 13 2 AB', message: 'fine' })
  })

  test('ends when its caller gives up, and when the relay ends', async () => {
    const one = await script('sleep 300')
    const abort = new AbortController()
    const given = one.addTxt(CHALLENGE, 'value', abort.signal)
    abort.abort(new Error('the caller gave up'))
    await expect(given).rejects.toThrow('the caller gave up')
    const running = one.removeTxt(CHALLENGE, 'value')
    await one.close()
    await expect(running).rejects.toThrow('the relay ends')
  })

  test('that is not there, or cannot be run, is named at the start', async () => {
    await expect(provider(join(directory, 'missing'))).rejects.toThrow(
      /^ACME_DNS_PROVIDER: .*missing does not exist/,
    )
    await expect(provider(directory.concat('/seen/x'))).rejects.toThrow(/cannot be run|does not exist/)
    const path = join(directory, 'no-program')
    await writeFile(path, 'not a program')
    await chmod(path, 0o755)
    expect((await errorOf((await provider(path)).dnssec())).fault).toBe('unavailable')
  })
})

describe.skipIf(NO_BIND9 !== undefined || !hasIpv6Loopback())('the wait for the name servers', () => {
  const records = ['alias CNAME target', 'loop CNAME loop']
  const addresses = ['127.0.0.1', '::1']
  let first: Bind9
  let second: Bind9
  let propagation: Propagation

  beforeAll(async () => {
    first = await startBind9({ zone: HOST, addresses, records })
    const { port } = first
    second = await startBind9({ zone: HOST, addresses: addresses.toReversed(), port, records })
    propagation = new Propagation({ resolvers: [first.address], port })
  })
  afterAll(() => Promise.all([first?.close(), second?.close()]))

  test('finds the zone above the name, and ends when the last server has the value', async () => {
    expect(await propagation.hasNameServers(`a.b.${HOST}`)).toBe(true)
    let isDone = false
    const wait = propagation.waitForTxt(CHALLENGE, 'value').then(() => (isDone = true))
    first.update(`add ${CHALLENGE}. 0 TXT other`, `add ${CHALLENGE}. 0 TXT value`)
    await expect.poll(() => txtOf(first, CHALLENGE)).toHaveLength(2)
    expect(isDone).toBe(false)
    second.update(`add ${CHALLENGE}. 0 TXT value`)
    await wait
  })

  test('follows a CNAME', async () => {
    for (const server of [first, second]) server.update(`add target.${HOST}. 0 TXT "in two" " strings"`)
    await propagation.waitForTxt(`alias.${HOST}`, 'in two strings')
  })

  test('names the server that has not got it, and why', async () => {
    const { port } = first
    const timeoutMs = 4_000
    const impatient = new Propagation({ resolvers: [first.address], port, timeoutMs })
    const silent = new Propagation({ servers: ['127.0.0.1:1'], timeoutMs })
    const without = new Propagation({ resolvers: ['127.0.0.1:1'] })
    first.update(`add only.${HOST}. 0 TXT value`, `add both.${HOST}. 0 TXT value`)
    second.update(`add both.${HOST}. 0 TXT old`)
    const [missing, other, refused, nowhere, loop] = await Promise.all([
      errorOf(impatient.waitForTxt(`only.${HOST}`, 'value')),
      errorOf(impatient.waitForTxt(`both.${HOST}`, 'value')),
      errorOf(silent.waitForTxt(CHALLENGE, 'value')),
      errorOf(impatient.waitForTxt('a.other.test', 'value')),
      errorOf(impatient.waitForTxt(`loop.${HOST}`, 'value')),
    ])
    expect(missing).toMatchObject({ fault: 'not_propagated' })
    expect(missing.message).toMatch(
      /^ns2\.relay\.test does not answer with the new TXT record of only\.relay\.test after .* minutes: it has no such record \(name servers: those of a private zone have to be in ACME_DNS_SERVERS\)$/,
    )
    expect(other.message).toMatch(/other values \(/)
    expect(refused.message).toMatch(/^127\.0\.0\.1:1 .* cannot be reached \(ECONNREFUSED\)$/)
    expect(nowhere.message).toMatch(/^DNS does not answer/)
    expect(loop.fault).toBe('not_propagated')
    expect(await without.hasNameServers(HOST)).toBe(false)
  })

  test('ends when its caller gives up', async () => {
    const abort = new AbortController()
    const wait = propagation.waitForTxt(`never.${HOST}`, 'value', abort.signal)
    abort.abort(new Error('the caller gave up'))
    await expect(wait).rejects.toThrow('the caller gave up')
  })
})

async function provider(path: string, timeoutMs?: number): Promise<DnsProvider> {
  return await createExecProvider({
    path,
    rootHost: HOST,
    propagation: new Propagation(),
    withheld: SETTINGS.map(({ name }) => name),
    timeoutMs,
  })
}

function resolverOf(bind9: Bind9): Resolver {
  const resolver = new Resolver({ timeout: 5_000 })
  resolver.setServers([bind9.address])
  return resolver
}

async function txtOf(bind9: Bind9, name: string): Promise<string[]> {
  const values = await noneIfMissing(resolverOf(bind9).resolveTxt(name))
  return values.map((chunks) => chunks.join(''))
}

async function noneIfMissing<T>(records: Promise<T[]>): Promise<T[]> {
  return await records.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENODATA' || error.code === 'ENOTFOUND') return []
    throw error
  })
}

async function errorOf(promise: Promise<unknown>): Promise<DnsProviderError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(DnsProviderError)
  return error as DnsProviderError
}

/** The second name server has it, since bind9 listens on addresses of interfaces alone. */
function hasIpv6Loopback(): boolean {
  return networkInterfaces().lo?.some(({ address }) => address === '::1') ?? false
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

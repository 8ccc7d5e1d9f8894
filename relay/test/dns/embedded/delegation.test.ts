// The embedded DNS as the Internet sees it: bind9 has the parent zone and delegates to the relay, unbound resolves and
// validates, pebble proves names by it, and a relay publishes its addresses and ENS names there.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { DomainResponse } from '@svc/protocol'
import { isAddress } from 'viem'
import { afterAll, beforeAll, describe, test as every, expect } from 'vitest'
import { freePort } from '../../../../tools/network/free-port.ts'
import { type Bind9, findBind9, startBind9 } from '../../../../tools/programs/bind9.ts'
import { type AcmeServer, hasAcmeServer, startAcmeServer } from '../../../../tools/programs/pebble.ts'
import { wholeOnly } from '../../../../tools/test-depth.ts'
import { createLog } from '../../../src/core/log/log.ts'
import { isDelegatedHere } from '../../../src/features/dns/embedded/delegation.ts'
import { startDns } from '../../../src/features/dns/start-dns.ts'
import { readSettings } from '../../../src/index.ts'
import { type AcmeRelay, acmeEnv, firstAnswer, startAcmeRelay } from '../../certificates/acme/acme-relay.ts'
import { newAccount, relayClient, type TestClient } from '../../support/relay.ts'

const test = wholeOnly(every, 'variant')

const TIMEOUT_MS = 120_000
const PATIENT = { timeout: 60_000, interval: 100 }
const PARENT = 'test'
const HOST = 'relay.test'
const ENS_TEXT = 'ENS1 0x238A8F792dFA6033814B18618aD4100654aeef01'
const RELAY_ADDRESS = `0x${'12'.repeat(20)}`

/** A delegation leads to port 53, of a loopback address that no other test has. */
const isPossible =
  process.platform === 'linux' && process.getuid?.() === 0 && hasAcmeServer() && findBind9() !== undefined
const relayAddress = randomLoopback()

function randomLoopback(): string {
  const byte = (): number => 1 + Math.floor(Math.random() * 250)
  return `127.${byte()}.${byte()}.${byte()}`
}

/** Runs a program of the package bind9. @returns what it writes */
async function run(program: 'dig' | 'delv', ...args: string[]): Promise<string> {
  const { env, pathOf } = findBind9()!
  const child = spawn(pathOf(program), args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  await once(child, 'close')
  return output
}

describe.skipIf(!isPossible)(
  'delegated to the relay (needs root, and Debian’s bind9, unbound, pebble)',
  () => {
    let directory: string
    let parent: Bind9
    let acme: AcmeServer
    let tlsPort: number
    const env = (): Record<string, string> => ({
      PUBLIC_IPS: relayAddress,
      DNS_ADDR: `${relayAddress}:53`,
      ACME_DNS_PROVIDER: 'embedded',
      SOURCE_BUDGET_PER_MINUTE: '1000000',
      RELAY_BUDGET_PER_MINUTE: '1000000',
    })

    beforeAll(async () => {
      directory = await mkdtemp(path.join(tmpdir(), 'svc-delegation-'))
      tlsPort = await freePort()
      const servers = ['ns1', 'ns2'].flatMap((server) => [
        `relay 60 NS ${server}.relay`,
        `${server}.relay 60 A ${relayAddress}`,
      ])
      parent = await startBind9({ zone: PARENT, records: servers })
      acme = await startAcmeServer({ tlsPort, delegating: { [PARENT]: parent.address.replace(':', '@') } })
    })
    afterAll(async () => {
      await Promise.all([acme?.close(), parent?.close()])
      await rm(directory, { recursive: true })
    })

    /** Asks the resolver. @returns the records' data, sorted */
    async function ask(name: string, type: string): Promise<string[]> {
      const output = await run('dig', '@127.0.0.1', '-p', `${acme.resolver.port}`, '+short', name, type)
      return output.split('\n').filter(Boolean).sort()
    }

    test('the provider finds out that the parent zone delegates to it', async () => {
      const settings = readSettings({ ...acmeEnv(acme, tlsPort, directory), ...env() })
      const identity = { address: RELAY_ADDRESS }
      const dns = await startDns({ settings, identity, isManaged: true, log: createLog('silent') })
      try {
        const through = (server: string) => isDelegatedHere(dns.provider, HOST, { resolvers: [server] })
        expect(await through(acme.resolver.address)).toBe(true)
        // The parent's server does not know the relay's names.
        expect(await through(parent.address)).toBe(false)
        const ens = { enabled: false, provider: 'embedded', dnssec_state: 'pending' }
        expect(dns.domain?.()).toMatchObject({ ens })
      } finally {
        await dns.close?.()
      }
    })

    describe('a relay with ENS names, and certificates by dns-01', () => {
      let relay: AcmeRelay
      let client: TestClient
      let anchors: string

      beforeAll(async () => {
        const dns = { ...env(), ENS_GASLESS_ENABLED: 'true', ACME_CHALLENGE: 'dns-01' }
        relay = await startAcmeRelay(acme, tlsPort, path.join(directory, 'relay'), dns)
        client = relayClient(tlsPort, await acme.root(), HOST)
        await firstAnswer(tlsPort)
        anchors = path.join(directory, 'anchors')
        const [tag, algorithm, digest, hash] = (await domain()).ens.ds_record.split(' ')
        const anchor = `"${HOST}." static-ds ${tag} ${algorithm} ${digest} "${hash}";`
        await writeFile(anchors, `trust-anchors { ${anchor} };\n`)
      })
      afterAll(() => relay?.close(), TIMEOUT_MS)

      const domain = async () =>
        (await client.call('GET', '/sdk/domain')).json.data as unknown as DomainResponse
      /** Validates with the DS record that the relay shows. */
      const validated = async (name: string, type: string): Promise<string> =>
        await run('delv', `@${relayAddress}`, '-a', anchors, `+root=${HOST}`, name, type)
      const eventually = async (name: string, type: string, records: string[]): Promise<void> =>
        await expect.poll(() => ask(name, type), PATIENT).toEqual(records)

      test('pebble issues for root host and wildcard by dns-01, and nothing is left', async () => {
        const visitor = client.tls(HOST)
        await once(visitor, 'secureConnect')
        expect(visitor.getPeerX509Certificate()?.subjectAltName).toBe(`DNS:${HOST}, DNS:*.${HOST}`)
        visitor.destroy()
        expect(await ask(`_acme-challenge.${HOST}`, 'TXT')).toEqual([])
      })

      test('root host and any name below it have the public address', async () => {
        await eventually(HOST, 'A', [relayAddress])
        await eventually(`anything.${HOST}`, 'A', [relayAddress])
        expect(await validated(HOST, 'A')).toContain('; fully validated')
      })

      test('its own TXT record is validated with the DS record of GET /sdk/domain', async () => {
        const { ens } = await domain()
        expect(ens).toMatchObject({
          enabled: true,
          verified: false,
          provider: 'embedded',
          dnssec_state: 'pending',
        })
        await eventually(HOST, 'TXT', [`"${ENS_TEXT} ${ens.address}"`])
        expect(await validated(HOST, 'TXT')).toMatch(/; fully validated\n.*"ENS1 /)
        const [tag, resolver, address] = (await ask(HOST, 'TXT'))[0]!.slice(1, -1).split(' ')
        expect([tag, isAddress(resolver!, { strict: true }), isAddress(address!)]).toEqual([
          'ENS1',
          true,
          true,
        ])
      })

      test('both hostnames of a lease have records while it lives', async () => {
        const account = newAccount()
        const address = account.address.toLowerCase()
        const lease = await client.register('demo', { account })
        const hostnames = [lease.hostname, lease.canonical_hostname]
        expect(hostnames).toEqual([`demo.${HOST}`, `demo-${address.slice(2)}.${HOST}`])
        for (const hostname of hostnames) {
          await eventually(hostname, 'TXT', [`"${ENS_TEXT} ${address}"`])
          expect(await ask(hostname, 'A')).toEqual([relayAddress])
          expect(await validated(hostname, 'TXT')).toContain('; fully validated')
        }
        await client.call('POST', '/sdk/unregister', { access_token: lease.access_token })
        for (const hostname of hostnames) await eventually(hostname, 'TXT', [])
        expect(await validated(hostnames[0]!, 'TXT')).toMatch(/negative response, fully validated/)
      })

      test('a lease that expires loses its records', async () => {
        const account = newAccount()
        const { hostname } = await client.register('brief', { account, ttl: 3 })
        await eventually(hostname, 'TXT', [`"${ENS_TEXT} ${account.address.toLowerCase()}"`])
        await eventually(hostname, 'TXT', [])
      })
    })
  },
)

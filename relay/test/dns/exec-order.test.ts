// An operator's command, bind9 and pebble: an order for root and wildcard, with the budget of a relay.

import { X509Certificate } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../tools/network/free-port.ts'
import { type Bind9, findBind9, startBind9 } from '../../../tools/programs/bind9.ts'
import { type AcmeServer, hasAcmeServer, startAcmeServer } from '../../../tools/programs/pebble.ts'
import { createLog } from '../../src/core/log/log.ts'
import { OrderBudget } from '../../src/features/acme/budget.ts'
import { createRequest } from '../../src/features/acme/client.ts'
import { createAcmeAuthority, type RelayAuthority } from '../../src/features/acme/create-authority.ts'
import { TlsAlpnProver } from '../../src/features/acme/tls-alpn.ts'
import { startDnsProvider } from '../../src/features/dns/start-provider.ts'
import { readSettings } from '../../src/settings.ts'
import { newKey } from '../certificates/acme/keys.ts'
import { writeNsupdateCommand } from '../support/nsupdate-command.ts'

const HOST = 'relay.test'
const NAMES = [HOST, `*.${HOST}`]

describe.skipIf(findBind9() === undefined || !hasAcmeServer())('an order by a command', () => {
  let directory = ''
  let bind9: Bind9
  let acme: AcmeServer
  const open: RelayAuthority[] = []
  const ends: unknown[] = []

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'svc-exec-order-'))
    bind9 = await startBind9({ zone: HOST })
    acme = await startAcmeServer({
      tlsPort: await freePort(),
      zones: { [HOST]: bind9.address.replace(':', '@') },
    })
  })
  afterAll(async () => {
    await Promise.all([...open.map((authority) => authority.close()), bind9?.close(), acme?.close()])
    await rm(directory, { recursive: true, force: true })
  })

  async function authorityWith(env: Record<string, string>): Promise<RelayAuthority> {
    const settings = readSettings({
      SVC_URL: `https://${HOST}`,
      IDENTITY_PATH: directory,
      ACME_DIRECTORY: acme.directoryUrl,
      ACME_CA: acme.caFile,
      ACME_CHALLENGE: 'dns-01',
      ACME_DNS_SERVERS: bind9.address,
      ...env,
    })
    const log = createLog('silent')
    const authority = await createAcmeAuthority({
      settings,
      budget: await OrderBudget.open({
        directory,
        rates: settings.acmeRates,
        onOrder: (...end) => void ends.push(end),
        log,
      }),
      tlsAlpn: new TlsAlpnProver(),
      dns: await startDnsProvider(settings, {
        embedded: () => expect.fail('another provider was asked for'),
        log,
      }),
      log,
    })
    open.push(authority)
    return authority
  }

  async function orderOf(names: readonly string[]) {
    return { names, csr: await createRequest(names, newKey()), for: 'root' as const }
  }

  test('gets root and wildcard, and leaves no record behind; the budget counts it', async () => {
    const path = await writeNsupdateCommand(directory, bind9)
    const authority = await authorityWith({
      ACME_DNS_PROVIDER: `exec:${path}`,
      ACME_CERTIFICATES_PER_WEEK: '1',
    })
    const chain = await authority.obtain(await orderOf(NAMES))
    expect(new X509Certificate(chain).subjectAltName).toBe(NAMES.map((name) => `DNS:${name}`).join(', '))
    const resolver = new Resolver()
    resolver.setServers([bind9.address])
    await expect(resolver.resolveTxt(`_acme-challenge.${HOST}`)).rejects.toThrow(/ENOTFOUND|ENODATA/)
    await expect(authority.obtain(await orderOf(NAMES))).rejects.toThrow('ACME_CERTIFICATES_PER_WEEK')
    expect(ends).toEqual([
      ['root', 'issued'],
      ['root', 'rate_limited'],
    ])
  })

  test('whose command fails says which record and why, and pauses the name', async () => {
    const path = await writeNsupdateCommand(directory, { ...bind9, address: '127.0.0.1:1' })
    const authority = await authorityWith({ ACME_DNS_PROVIDER: `exec:${path}` })
    const failed = await authority.obtain(await orderOf([`*.other.${HOST}`])).catch((error: unknown) => error)
    expect(failed).toMatchObject({ fault: 'dns_failed' })
    expect((failed as Error).message).toMatch(
      /_acme-challenge\.other\.relay\.test.*(Communication with 127\.0\.0\.1#1 failed|could not reach)/,
    )
    await expect(authority.obtain(await orderOf([`*.other.${HOST}`]))).rejects.toThrow(
      /the last order failed/,
    )
    expect(await readFile(join(directory, 'acme-budget.json'), 'utf8')).toContain(`*.other.${HOST}`)
  })
})

// The family `domains`: from `publish` to the first visitor who can come to a custom domain, beside the authority's own time.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { ownershipRecordName, ownershipRecordValue } from '@svc/protocol'
import { identityFromKey } from '@svc/sdk-core'
import { publish } from '@svc/sdk-node'
import { type DnsServer, startDnsServer } from '../../tools/dns/dns-server.ts'
import { type AcmeFront, startAcmeFront } from '../../tools/network/acme-front.ts'
import { freePort } from '../../tools/network/free-port.ts'
import { hasAcmeServer, startAcmeServer } from '../../tools/programs/pebble.ts'
import { startTestRelay, type TestRelay } from '../../tools/relay/test-relay.ts'
import { alternateAll, type MeasureAll } from '../lib/alternate.ts'
import { compared, type Entry, limited, missing } from '../lib/entry.ts'
import type { FamilyOptions } from '../lib/family.ts'

const ZONE = 'example.test'
/** The most that the first certificate may take beyond the authority's own time, in milliseconds. */
const BEYOND_MAX_MS = 3_000
const WHOLE = { name: 'publish to online at a custom domain', unit: 'ms', better: 'less' } as const
const PEER = { ...WHOLE, peer: 'pebble’s own time in it', target: null } as const

interface World {
  folder: string
  dns: DnsServer
  front: AcmeFront
  relay: TestRelay
}

export async function* domains({ runs }: FamilyOptions): AsyncGenerator<Entry> {
  if (!hasAcmeServer()) return void (yield missing(PEER, null, 'apt-get install pebble unbound'))
  const [port, folder] = [await freePort(), await mkdtemp(path.join(tmpdir(), 'svc-bench-domains-'))]
  const [dns, acme] = [await startDnsServer(), await startAcmeServer({ tlsPort: port, hosts: [ZONE] })]
  const front = await startAcmeFront(acme)
  const relay = await startTestRelay({ port, env: { CUSTOM_DOMAIN_RESOLVERS: `127.0.0.1:${dns.port}` } })
  const trusted = getCACertificates('default')
  setDefaultCACertificates([...trusted, front.ca])
  try {
    const { first } = await alternateAll(runs, { first: certify({ folder, dns, front, relay }) })
    yield compared(PEER, first.wholeMs, first.pebbleMs)
    yield limited({ ...WHOLE, name: 'the same without pebble’s own time' }, first.beyondMs, BEYOND_MAX_MS)
  } finally {
    setDefaultCACertificates(trusted)
    await relay.stop()
    await Promise.all([front.close(), acme.close(), dns.close()])
    await rm(folder, { recursive: true })
  }
}

/** Each run has another identity, account and domain, whose records are there already. */
function certify({ folder, dns, front, relay }: World): MeasureAll<'wholeMs' | 'pebbleMs' | 'beyondMs'> {
  let count = 0
  return async () => {
    const identity = Uint8Array.from(randomBytes(32))
    const domain = `d${++count}.${ZONE}`
    const { address } = identityFromKey(identity)
    dns.records.set(`${ownershipRecordName(domain)} TXT`, [ownershipRecordValue(address.toLowerCase())])
    dns.records.set(`${domain} A`, ['127.0.0.1'])
    const [begun, pebbleBefore] = [performance.now(), front.pebbleMs]
    const site = await publish({
      relay: relay.url,
      ca: readFileSync(relay.caFile),
      identity,
      identityPath: path.join(folder, `${count}.json`),
      fetch: () => new Response('hello'),
      domains: [domain],
      acme: { agreeTerms: true, directory: front.directoryUrl },
    })
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (site.domains?.[0]?.online) resolve()
      }
      site.addEventListener('domainschange', look)
      look()
    })
    const wholeMs = performance.now() - begun
    const pebbleMs = front.pebbleMs - pebbleBefore
    await site.close()
    return { wholeMs, pebbleMs, beyondMs: wholeMs - pebbleMs }
  }
}

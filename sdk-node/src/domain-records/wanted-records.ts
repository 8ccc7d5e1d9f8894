// The DNS records that lead a custom domain to a site.

import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import type { DnsClient } from '@svc/dns/client'
import { DOMAIN_NAME_MAX_CHARS, ownershipRecordName, ownershipRecordValue } from '@svc/protocol'
import { SvcError } from '@svc/sdk-core'

/** A record in the form of `@svc/dns/providers`: a text, an address, a host without a trailing dot, or `0 issue "…"`. */
export interface WantedRecord {
  type: 'TXT' | 'A' | 'AAAA' | 'CNAME' | 'CAA'
  name: string
  value: string
}

export interface WantedRecords {
  domain: string
  /** The canonical hostname, to which a CNAME leads. */
  canonical: string
  /** The addresses of the relay; empty when they are not known. */
  addresses: readonly WantedRecord[]
  /** The records to set. */
  records: readonly WantedRecord[]
  /** The CNAME that may stand in place of the addresses; undefined where none can be. */
  alternative: WantedRecord | undefined
}

export interface WantedOptions {
  domain: string
  /** The address of the identity. */
  owner: string
  canonical: string
  /** Whether the domain is led by a CNAME, which follows the relay, and lets no CAA record of the domain count. */
  byName: boolean
  /** Values of CAA records that leave the domain to the site's accounts alone. */
  caa: readonly string[]
  client: DnsClient
}

/** @throws SvcError `invalid_option` for what is no domain of the DNS */
export function parseDomain(text: string): string {
  const domain = domainToASCII(text.replace(/\.$/, '')).toLowerCase()
  const isDomain = /^(?=.)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9-]+$/.test(domain)
  if (!isDomain || domain.length > DOMAIN_NAME_MAX_CHARS || isIP(domain) !== 0)
    throw new SvcError('invalid_option', `${text} is no domain, such as shop.example.org`)
  return domain
}

/** @throws Error when the DNS does not answer */
export async function wantedRecords(options: WantedOptions): Promise<WantedRecords> {
  const { domain, owner, canonical, byName, caa, client } = options
  const [addresses, isApex] = await Promise.all([
    addressesOf(domain, canonical, client),
    client.isApex(domain),
  ])
  if (byName && isApex)
    throw new SvcError(
      'invalid_option',
      `${domain} is the top of its zone, where no CNAME can be: leave --cname out`,
    )
  if (addresses.length === 0 && isApex)
    throw new SvcError('invalid_option', `the DNS has no address of ${canonical}: is the relay right?`)
  const cname: WantedRecord = { type: 'CNAME', name: domain, value: canonical }
  const isNamed = byName || addresses.length === 0
  const proof: WantedRecord = {
    type: 'TXT',
    name: ownershipRecordName(domain),
    value: ownershipRecordValue(owner.toLowerCase()),
  }
  const protection = caa.map((value): WantedRecord => ({ type: 'CAA', name: domain, value }))
  return {
    domain,
    canonical,
    addresses,
    records: [proof, ...(isNamed ? [cname] : [...addresses, ...protection])],
    alternative: isNamed || isApex ? undefined : cname,
  }
}

/** The addresses of the relay, as records of the domain. */
async function addressesOf(domain: string, canonical: string, client: DnsClient): Promise<WantedRecord[]> {
  const families = await Promise.all(
    (['A', 'AAAA'] as const).map(async (type) => {
      const steps = await client.lookUp(canonical, type)
      const found = steps.at(-1)!.answers.flatMap(({ records }) => records.filter((one) => one.type === type))
      const values = [...new Set(found.map(({ value }) => value))].sort()
      return values.map((value): WantedRecord => ({ type, name: domain, value }))
    }),
  )
  return families.flat()
}

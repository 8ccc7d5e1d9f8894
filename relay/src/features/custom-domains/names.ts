// Decides which names can be custom domains at all: public names that are nobody else's to serve.

import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { DOMAIN_NAME_MAX_CHARS, ownershipRecordName } from '@svc/protocol'

/** A label of a hostname (RFC 1123 §2.1). */
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
/** The last label of an IPv4 address in one of its forms, which no public name has (RFC 3696 §2). */
const NUMBER = /^(?:\d+|0x[\da-f]*)$/

/**
 * Returns why a name cannot be a custom domain, for people.
 * @param rootHost of the relay
 */
export function refusalOf(domain: string, rootHost: string): string | undefined {
  const name = plainName(domain)
  if (name === rootHost || name.endsWith(`.${rootHost}`)) return 'it is a name of this relay'
  if (domain.includes('*')) return 'a wildcard cannot be a custom domain: name each domain'
  if (isAddress(name)) return 'it is an IP address and not a domain'
  const ascii = domainToASCII(name)
  if (ascii !== domain && ascii !== '' && isHostname(ascii)) return `it has to be written as ${ascii}`
  if (ascii !== domain || !isHostname(domain)) return 'it is not a domain name'
  return undefined
}

/** Returns the same for names at which anybody can register others: `com`, `co.uk`, `github.io`. */
export async function suffixRefusal(domain: string): Promise<string | undefined> {
  const { isPublicSuffix } = await import('./public-suffix.ts')
  return isPublicSuffix(domain) ? 'it is a public suffix, below which anybody can have names' : undefined
}

/** In lower case, without dots at the end. */
function plainName(domain: string): string {
  const name = domain.toLowerCase()
  let end = name.length
  while (name[end - 1] === '.') end -= 1
  return name.slice(0, end)
}

function isAddress(name: string): boolean {
  return isIP(name.replace(/^\[|\]$/g, '')) !== 0 || NUMBER.test(name.slice(name.lastIndexOf('.') + 1))
}

function isHostname(name: string): boolean {
  const isShort = ownershipRecordName(name).length <= DOMAIN_NAME_MAX_CHARS
  const labels = name.split('.')
  return isShort && labels.length > 1 && labels.every((label) => LABEL.test(label))
}

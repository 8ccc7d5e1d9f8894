// Decides which addresses an outbound request may reach: a URL from a stranger must lead to a public address.

import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from '@svc/protocol'
import { OutboundError } from './outbound-error.ts'

/**
 * An AddressRule admits https URLs at public addresses. A request for the operator, and no other, may go to the origins
 * that the operator configured, wherever they are. The rule is part of name resolution: the socket dials the addresses
 * that were checked and does not resolve the name again.
 */
export class AddressRule {
  readonly #configured: ReadonlySet<string>
  readonly #lookup: LookupFunction
  readonly #isAllowed: (address: string) => boolean

  /**
   * @param lookup in the form of `dns.lookup`, which is its default
   * @param isAllowed says which addresses may be dialled: by default, public ones
   */
  constructor(
    configuredOrigins: readonly string[],
    lookup: LookupFunction = systemLookup,
    isAllowed: (address: string) => boolean = isPublicAddress,
  ) {
    this.#configured = new Set(configuredOrigins.map((origin) => new URL(origin).origin))
    this.#lookup = lookup
    this.#isAllowed = isAllowed
  }

  /**
   * The `lookup` option with which a socket to this URL is to be opened.
   * @param isConfigured true when the URL comes from the operator's settings
   * @throws OutboundError when the URL is not https, or names an address that is not public
   */
  lookupFor(url: URL, isConfigured: boolean): LookupFunction {
    if (isConfigured && this.#configured.has(url.origin)) return this.#lookup
    if (url.protocol !== 'https:') throw new OutboundError('invalid_url', 'a URL must begin with https://')
    // a socket does not resolve an address, so it is looked at here
    const host = url.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0 && !this.#isAllowed(host)) throw blocked(host)
    return this.#publicLookup
  }

  readonly #publicLookup: LookupFunction = (hostname, options, callback) => {
    this.#lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, [])
      const addresses = (found as LookupAddress[]).filter(({ address }) => this.#isAllowed(address))
      const [first] = addresses
      if (first === undefined) return callback(blocked(hostname), [])
      if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}

function blocked(host: string): OutboundError {
  return new OutboundError('address_blocked', `${host} has no public address`)
}

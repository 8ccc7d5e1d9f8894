// Decides which addresses an outbound request may reach: a URL from a stranger must lead to a public address.

import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from '@svc/protocol'
import { OutboundError } from './outbound-error.ts'

/** Whether the caller of a request is willing to dial an address. */
export type MayDial = (address: string) => boolean

/**
 * An AddressRule admits https URLs at public addresses. Only a request for the operator may go to the origins that the
 * operator configured, wherever they are. The rule is part of name resolution: the socket dials the addresses that were
 * checked and does not resolve the name again.
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
   * @param isConfigured true when the URL comes from the operator's settings: then the caller is not asked
   * @param mayDial says, of each address that the rule admits, whether the caller dials it
   * @throws OutboundError when the URL is not https, or names an address that is not public, or that the caller does not dial
   */
  lookupFor(url: URL, isConfigured: boolean, mayDial: MayDial = () => true): LookupFunction {
    if (isConfigured && this.#configured.has(url.origin)) return this.#lookup
    if (url.protocol !== 'https:') throw new OutboundError('invalid_url', 'a URL must begin with https://')
    // a socket does not resolve an address, so it is looked at here
    const host = url.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0) this.#requireAllowed(host, [host], mayDial)
    return (hostname, options, callback) => this.#look(hostname, options, callback, mayDial)
  }

  #look(...[hostname, options, callback, mayDial]: [...Parameters<LookupFunction>, MayDial]): void {
    this.#lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, [])
      const addresses = found as LookupAddress[]
      let texts: Set<string>
      try {
        texts = this.#requireAllowed(
          hostname,
          addresses.map(({ address }) => address),
          mayDial,
        )
      } catch (refusal) {
        return callback(refusal as OutboundError, [])
      }
      const dialled = addresses.filter(({ address }) => texts.has(address))
      const first = dialled[0]!
      if (options.all) callback(null, dialled)
      else callback(null, first.address, first.family)
    })
  }

  /** @returns those of the addresses that may be dialled, at least one. @throws OutboundError */
  #requireAllowed(host: string, addresses: readonly string[], mayDial: MayDial): Set<string> {
    const allowed = addresses.filter((address) => this.#isAllowed(address))
    if (allowed.length === 0) throw blocked(host)
    const dialled = allowed.filter((address) => mayDial(address))
    if (dialled.length === 0) throw new OutboundError('address_busy', `${host} is not dialled for now`)
    return new Set(dialled)
  }
}

function blocked(host: string): OutboundError {
  return new OutboundError('address_blocked', `${host} has no public address`)
}

// What the rest of a site sees of its custom domains, whose code only sites with such domains load.

import type { ByteStream } from '../bytes/byte-stream.ts'
import type { OwnCertificate } from '../certificate/server-certificate.ts'
import type { RelayClient } from '../control/relay-client.ts'
import type { TlsStream } from '../tenant/tls-stream.ts'
import type { ParseClientHello } from './client-hello.ts'

/** A GrantedLease is what the domains need of a lease. */
export interface GrantedLease {
  accessToken: string
  /** The protocol extensions of the relay. */
  extensions: ReadonlySet<string>
  /** What the relay says about the domains, unchecked. */
  domains: unknown
}

/** A ServeTls is the engine. It is passed, as the parser is: another importer would split what each page loads. */
export type ServeTls = typeof TlsStream

/** ServedDomains are the custom domains of a site. */
export interface ServedDomains {
  /** What the site asks its relay to lead to it. */
  readonly names: readonly string[]
  /** Says to whom the domains have to belong: their owner is asked to set this address, whatever a relay says. */
  ownedBy(address: string): void
  /** Called when the relay granted or renewed a lease. */
  granted(client: RelayClient, lease: GrantedLease): void
  /** Looks at a visitor's first bytes, and answers one who is an ACME authority. Rejects when the connection breaks. */
  greet(stream: ByteStream, parse: ParseClientHello, server: ServeTls): Promise<GreetedVisitor>
}

/** A GreetedVisitor has the connection of a visitor, with all of its bytes. */
export interface GreetedVisitor {
  stream: ByteStream
  /** The certificate of the domain that the visitor asks for; undefined for other names, and null when the connection is over. */
  certificate: OwnCertificate | null | undefined
}

// The certificates that a host presents, trusted or not.

import type { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { connect } from 'node:tls'
import { SvcError } from '@svc/sdk-core'
import { openThrough } from '../net/forward-proxy.ts'
import { relayTransport } from '../net/relay-transport.ts'

/** The deadline for a host to present its certificates, in milliseconds: a relay lets a visitor wait ten seconds for a site. */
const SHOWN_CHAIN_DEADLINE_MS = 15_000

export interface ShownChain {
  /** The certificates, leaf first, that were sent or are known here. */
  chain: readonly [X509Certificate, ...X509Certificate[]]
  /** OpenSSL's reason to refuse the chain. Undefined when it is trusted. */
  refusal: string | undefined
}

/**
 * Connects to `url` to get its certificates.
 * @param ca PEM; undefined for the system's CAs
 * @param deadlineMs the deadline of the handshake, in milliseconds
 * @param proxy the option of `publish`
 * @throws SvcError `relay_unreachable` when there is no handshake
 */
export async function shownChain(
  url: URL,
  ca: string | Buffer | undefined,
  deadlineMs: number = SHOWN_CHAIN_DEADLINE_MS,
  proxy?: string | URL,
): Promise<ShownChain> {
  const { hostname: host, port } = url
  const { proxyFor, ...tls } = relayTransport(ca, proxy).connect
  const way = proxyFor(url)
  const tunnel = way && (await openThrough(way, url))
  return await new Promise((resolve, reject) => {
    const socket = connect({
      ...tls,
      ...(tunnel && { socket: tunnel.socket }),
      host,
      ...(isIP(host) === 0 && { servername: host }),
      port: Number(port || 443),
      rejectUnauthorized: false,
    })
    const fail = (cause: Error): void => {
      socket.destroy()
      reject(new SvcError('relay_unreachable', `no TLS handshake with ${url.host}`, { cause }))
    }
    const late = (): void => fail(new Error('it took too long'))
    const deadline = setTimeout(late, deadlineMs)
    socket.once('error', fail)
    socket.once('close', () => {
      clearTimeout(deadline)
      fail(new Error('the connection was closed: no site is online there'))
    })
    socket.once('secureConnect', () => {
      const leaf = socket.getPeerX509Certificate()
      if (leaf === undefined) return fail(new Error('it showed no certificate'))
      const { authorized, authorizationError: why } = socket
      resolve({
        chain: chainOf(leaf),
        refusal: authorized ? undefined : String((why as Partial<Error> | null)?.message ?? why),
      })
      socket.destroy()
    })
  })
}

function chainOf(leaf: X509Certificate): [X509Certificate, ...X509Certificate[]] {
  const chain: [X509Certificate, ...X509Certificate[]] = [leaf]
  // A root is its own issuer.
  for (let at = leaf.issuerCertificate; at && !chain.includes(at); at = at.issuerCertificate) {
    if (chain.some(({ fingerprint256 }) => fingerprint256 === at?.fingerprint256)) break
    chain.push(at)
  }
  return chain
}

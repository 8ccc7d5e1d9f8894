// Gives the SDK what Node has: a fetch and a WebSocket that trust a given CA and know `localhost`, and a file for the identity.

import { WEBSOCKET_MESSAGE_MAX_BYTES } from '@svc/protocol'
import { type Gateways, type Platform, type PublishOptions, SvcError } from '@svc/sdk-core'
import { CARRIERS, type CarrierKind } from './carrier/kinds.ts'
import { nativeCarrier } from './carrier/native-carrier.ts'
import { loadIdentityFile } from './identity/identity-file.ts'
import { siteKeysBeside, siteKeysInMemory } from './identity/site-keys.ts'
import { NATIVE_CONNECTIONS_DEFAULT } from './limits.ts'
import { withPeerChain } from './net/peer-chain.ts'
import { relayTransport } from './net/relay-transport.ts'
import { nodeTooOld } from './node-version.ts'
import { nativeTls } from './tls/native-tls.ts'
import { nodeCrypto } from './tls/node-crypto.ts'

export interface NodeOptions {
  /**
   * PEM of the certificate authority to trust instead of the system's, such as that of a development relay.
   * @default the system's authorities
   */
  ca?: string | Buffer | undefined
  /**
   * The URL of an HTTP proxy, through which all connections to the relay go (CONNECT): `http://proxy.example:3128`, with a name and a
   * password in it where the proxy wants them. Empty: none. UDP cannot go through it.
   * @default HTTPS_PROXY of the environment, but for the hosts in NO_PROXY
   */
  proxy?: string | URL | undefined
  /**
   * The file of the identity. The SDK creates it when there is none. Beside it the SDK keeps the keys of the certificates that
   * sites have of their own, `identity-demo@relay.example.pem` for the site `demo`; with a key as `identity` it keeps no file,
   * and each process asks for a certificate of its own.
   * @default identity.json in the working directory
   */
  identityPath?: string | undefined
  /**
   * The carrier by which visitors come from the relay. `native` brings them over a few TLS connections, several on each;
   * where a relay does not list the extension `native_yamux`, each over a connection of its own. `native-sessions` does that
   * with every relay: a visitor costs ten times as much to begin with, and none waits for lost packets of another.
   * `websocket` is that of a page: it passes HTTP proxies.
   * @default websocket; native for `expose`
   */
  carrier?: CarrierKind | undefined
  /**
   * Prefers reverse sessions through a gateway, another relay that the relay chooses, where it has one. The SDK takes a gateway
   * only with a genuine descriptor, and at public addresses; it is direct when there is none, or none works. It needs the carrier
   * `native` or `native-sessions`, and `native` is its default. It goes without a route.
   * @default false
   */
  overlay?: boolean | undefined
  /**
   * Takes gateways at loopback and private addresses, too: for tests on one machine.
   * @default false
   */
  allowLocalGateways?: boolean | undefined
}

/** The names of what only Node has. */
export const NODE_OPTIONS: readonly string[] = Object.keys({
  ca: true,
  proxy: true,
  identityPath: true,
  carrier: true,
  overlay: true,
  allowLocalGateways: true,
} satisfies Record<keyof NodeOptions, true>)

const IDENTITY_PATH = 'identity.json'

/**
 * @param options with `identity` when the caller gave a key, so that nothing of it is written to files
 * @throws SvcError `unsupported_platform` when Node is too old, and `invalid_option` when an option is not valid
 */
export function nodePlatform({
  ca,
  proxy,
  identity,
  identityPath = IDENTITY_PATH,
  overlay = false,
  allowLocalGateways = false,
  carrier = overlay ? 'native' : undefined,
}: NodeOptions & Pick<PublishOptions, 'identity'>): Platform {
  const tooOld = nodeTooOld()
  if (tooOld !== undefined) throw new SvcError('unsupported_platform', tooOld)
  if (carrier !== undefined && !CARRIERS.includes(carrier))
    throw new SvcError(
      'invalid_option',
      `carrier must be one of ${CARRIERS.join(', ')}, not ${String(carrier)}`,
    )
  if (overlay && carrier === 'websocket')
    throw new SvcError('invalid_option', 'overlay needs the carrier native or native-sessions')
  const relay = relayTransport(ca, proxy)
  return {
    fetch: withPeerChain(
      (url, init) => relay.fetch.fetch(url, init),
      () => relay.connect,
    ),
    forgetConnections: () => relay.fetch.forgetConnections(),
    get webSocketOptions() {
      return { agent: relay.webSockets, perMessageDeflate: false, maxPayload: WEBSOCKET_MESSAGE_MAX_BYTES }
    },
    loadIdentity: async (name) => {
      if (name === undefined) return loadIdentityFile(identityPath)
      throw new SvcError('invalid_option', 'identity must be a key of 32 bytes; identityPath names a file')
    },
    siteKeys: identity === undefined ? siteKeysBeside(identityPath) : siteKeysInMemory(),
    tlsCrypto: nodeCrypto,
    endTls: nativeTls(),
    ...((carrier === 'native' || carrier === 'native-sessions') && {
      openCarrier: nativeCarrier(() => relay.connect, carrier === 'native', allowLocalGateways),
      ...(overlay && { gateways: newGateways() }),
      connectionsDefault: NATIVE_CONNECTIONS_DEFAULT,
    }),
  }
}

/** The code for gateways is loaded when a relay names one. Descriptors are compared for the life of the site. */
function newGateways(): Gateways {
  let check: Promise<Gateways['check']> | undefined
  return {
    check: async (...args) => {
      check ??= import('@svc/sdk-core/relays').then(({ createGatewayCheck }) => createGatewayCheck())
      return (await check)(...args)
    },
    open: async (...args) => (await import('@svc/sdk-core/relays')).openGatewayCarrier(...args),
  }
}

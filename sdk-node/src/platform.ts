// Node as a platform: a fetch and a WebSocket that trust a given CA and know `localhost`, and a file for the identity.

import { WEBSOCKET_MESSAGE_MAX_BYTES } from '@svc/protocol'
import { type Gateways, type Platform, type PublishOptions, SvcError } from '@svc/sdk-core'
import { CARRIERS, type CarrierKind } from './carrier/kinds.ts'
import { nativeCarrier } from './carrier/native-carrier.ts'
import { domainStoreBeside, nativeKey } from './identity/domain-store.ts'
import { FileWork } from './identity/file-work.ts'
import { loadIdentityFile } from './identity/identity-file.ts'
import { siteKeysBeside, siteKeysInMemory } from './identity/site-keys.ts'
import { askCaa } from './net/ask-caa.ts'
import { withPeerChain } from './net/peer-chain.ts'
import { relayTransport } from './net/relay-transport.ts'
import { nodeTooOld } from './node-version.ts'
import { nativeTls } from './tls/native-tls.ts'
import { nodeCrypto } from './tls/node-crypto.ts'

/** The default limit of concurrent visitors over native sessions: as many as a relay takes at one TCP port. */
const NATIVE_CONNECTIONS_DEFAULT = 2048

export interface NodeOptions {
  /**
   * PEM of the certificate authority to trust instead of the system's, such as that of a development relay.
   * @default the system's authorities
   */
  ca?: string | Buffer | undefined
  /**
   * The URL of an HTTP proxy for all connections to the relay (CONNECT): `http://proxy.example:3128`, with a user name and
   * password if the proxy needs them. Empty means none. UDP cannot go through it.
   * @default HTTPS_PROXY of the environment, except for the hosts in NO_PROXY
   */
  proxy?: string | URL | undefined
  /**
   * The file of the identity. The SDK creates it if there is none. Beside it, the SDK stores the keys of the certificates that
   * sites own, such as `identity-demo@relay.example.pem` for the site `demo`. With a key as `identity` it stores no files,
   * and each process requests a new certificate.
   * @default identity.json in the working directory
   */
  identityPath?: string | undefined
  /**
   * The carrier that brings visitors from the relay. `native` brings them over a few TLS connections, several on each;
   * if a relay does not list the extension `native_yamux`, each over a separate connection. `native-sessions` does that
   * with every relay: a visitor costs ten times as much to start, but none waits for another's lost packets.
   * `websocket` is a page's carrier: it passes HTTP proxies.
   * @default websocket; native for `expose`
   */
  carrier?: CarrierKind | undefined
  /**
   * Prefers reverse sessions through a gateway, another relay that the relay chooses, if it has one. The SDK accepts a gateway
   * only with a genuine descriptor and at public addresses; it connects directly when none exists or works. It needs the carrier
   * `native` (its default) or `native-sessions`, and excludes a route.
   * @default false
   */
  overlay?: boolean | undefined
  /**
   * Also accepts gateways at loopback and private addresses, for tests on one machine.
   * @default false
   */
  allowLocalGateways?: boolean | undefined
}

/** The names of options that only Node has. */
export const NODE_OPTIONS: readonly string[] = Object.keys({
  ca: true,
  proxy: true,
  identityPath: true,
  carrier: true,
  overlay: true,
  allowLocalGateways: true,
} satisfies Record<keyof NodeOptions, true>)

/** The default of `identityPath`. */
export const IDENTITY_PATH = 'identity.json'

/**
 * @param options including `identity` when the caller passed a key, so that nothing is written to files
 * @throws SvcError `unsupported_platform` when Node is too old, and `invalid_option` when an option is not valid
 */
export function nodePlatform({
  ca,
  proxy,
  identity,
  identityPath: givenPath,
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
  const identityPath = givenPath ?? IDENTITY_PATH
  const files = new FileWork()
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
    siteKeys: identity === undefined ? files.ofKeys(siteKeysBeside(identityPath)) : siteKeysInMemory(),
    // A key that is passed has no file, unless one is named.
    domainStore:
      identity === undefined || givenPath !== undefined
        ? async () => files.ofDomains(domainStoreBeside(identityPath))
        : undefined,
    storesDone: () => files.done(),
    nativeKey,
    askCaa,
    scrypt: async (...given) => (await import('./scrypt.ts')).scrypt(...given),
    tlsCrypto: nodeCrypto,
    endTls: nativeTls(),
    ...((carrier === 'native' || carrier === 'native-sessions') && {
      openCarrier: nativeCarrier(() => relay.connect, carrier === 'native', allowLocalGateways),
      ...(overlay && { gateways: newGateways() }),
      connectionsDefault: NATIVE_CONNECTIONS_DEFAULT,
    }),
  }
}

/** Loads the code for gateways when a relay names one. Descriptors are compared for the life of the site. */
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

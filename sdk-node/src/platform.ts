// Gives the SDK what Node has: a fetch and a WebSocket that trust a given CA and know `localhost`, and a file for the identity.

import { WEBSOCKET_MESSAGE_MAX_BYTES } from '@svc/protocol'
import { type Platform, SvcError } from '@svc/sdk-core'
import { Agent, fetch, type RequestInit } from 'undici'
import { nativeCarrier } from './carrier/native-carrier.ts'
import { loadIdentityFile } from './identity/identity-file.ts'
import { ADDRESS_DEADLINE_MS, NATIVE_CONNECTIONS_DEFAULT } from './limits.ts'
import { localhostLookup } from './net/localhost-lookup.ts'
import { nodeCrypto } from './tls/node-crypto.ts'

export interface NodeOptions {
  /**
   * PEM of the certificate authority to trust instead of the system's, such as that of a development relay.
   * @default the system's authorities
   */
  ca?: string | Buffer | undefined
  /**
   * The file of the identity. The SDK creates it when there is none.
   * @default identity.json in the working directory
   */
  identityPath?: string | undefined
  /**
   * The carrier by which visitors come from the relay. `websocket` brings all over one connection, as in a page: it passes HTTP
   * proxies, and notices a lost network, or a lease that another process took over, soonest. `native` brings each over a TLS
   * connection of its own, so that no visitor holds up another, and nothing is multiplexed or masked.
   * @default websocket; native for `expose`
   */
  carrier?: CarrierKind | undefined
}

/**
 * The carrier `websocket` brings all reverse sessions over one connection, `native` each over a TLS connection of its
 * own.
 */
export type CarrierKind = 'native' | 'websocket'

const IDENTITY_PATH = 'identity.json'

/** @throws SvcError `invalid_option` when an option is not valid */
export function nodePlatform({ ca, identityPath = IDENTITY_PATH, carrier }: NodeOptions): Platform {
  if (carrier !== undefined && carrier !== 'native' && carrier !== 'websocket')
    throw new SvcError('invalid_option', `carrier must be native or websocket, not ${String(carrier)}`)
  const connect = {
    ...(ca !== undefined && { ca }),
    lookup: localhostLookup,
    autoSelectFamilyAttemptTimeout: ADDRESS_DEADLINE_MS,
  }
  let dispatcher = new Agent({ connect })
  return {
    // undici's own types of the same web standard
    fetch: async (url, init) =>
      (await fetch(url, { ...(init as RequestInit), dispatcher })) as unknown as Response,
    forgetConnections: () => {
      // requests under way have deadlines of their own
      dispatcher.close()
      dispatcher = new Agent({ connect })
    },
    webSocketOptions: { ...connect, perMessageDeflate: false, maxPayload: WEBSOCKET_MESSAGE_MAX_BYTES },
    loadIdentity: async (name) => {
      if (name === undefined) return loadIdentityFile(identityPath)
      throw new SvcError('invalid_option', 'identity must be a key of 32 bytes; identityPath names a file')
    },
    tlsCrypto: nodeCrypto,
    ...(carrier === 'native' && {
      openCarrier: nativeCarrier(connect),
      connectionsDefault: NATIVE_CONNECTIONS_DEFAULT,
    }),
  }
}

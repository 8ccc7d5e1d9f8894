// What Node gives to the SDK: a fetch and a WebSocket that trust a given CA and know `localhost`, and a file for the identity.

import { WEBSOCKET_MESSAGE_MAX_BYTES } from '@svc/protocol'
import type { Platform } from '@svc/sdk-browser/platform'
import { Agent, fetch, type RequestInit } from 'undici'
import { loadIdentityFile } from './identity-file.ts'
import { lookup } from './lookup.ts'
import { nodeCrypto } from './tls-crypto.ts'

export interface NodeOptions {
  /** PEM of the certificate authority to trust instead of the system's: that of a development relay. */
  ca?: string | Buffer | undefined
  /** The identity's file, created when there is none. Default: `identity.json` in the working directory. */
  identityPath?: string | undefined
}

const IDENTITY_PATH = 'identity.json'

export function nodePlatform({ ca, identityPath = IDENTITY_PATH }: NodeOptions): Platform {
  const connect = { ...(ca !== undefined && { ca }), lookup }
  let dispatcher = new Agent({ connect })
  return {
    // undici's own types of the same web standard
    fetch: async (url, init) =>
      (await fetch(url, { ...(init as RequestInit), dispatcher })) as unknown as Response,
    forgetConnections: () => {
      // what is under way there has its own deadline
      dispatcher.close()
      dispatcher = new Agent({ connect })
    },
    webSocketOptions: { ...connect, perMessageDeflate: false, maxPayload: WEBSOCKET_MESSAGE_MAX_BYTES },
    loadIdentity: () => loadIdentityFile(identityPath),
    tlsCrypto: nodeCrypto,
  }
}

// The seam between the web and Node: what a site needs of where it runs.

import type { CryptoProvider } from '@svc/tls'
import type { FetchFunction } from './control/client.ts'

export interface Platform {
  fetch: FetchFunction
  /** The network broke: connections that `fetch` keeps are probably dead. Browsers see to that themselves. */
  forgetConnections?(): void
  /** Third argument of the WebSocket constructor, where it takes one. */
  webSocketOptions?: object | undefined
  /** The private key to use when the options name none. */
  loadIdentity(): Promise<Uint8Array>
  /** The TLS engine's primitives; WebCrypto unless given. */
  tlsCrypto?: CryptoProvider | undefined
}

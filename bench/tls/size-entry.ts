// All of the engine that a publishing page uses.
import { boundedSigner, signAlgorithmOf, TicketKeeper, TlsServer } from '@svc/tls'

Object.assign(globalThis, { boundedSigner, signAlgorithmOf, TicketKeeper, TlsServer })

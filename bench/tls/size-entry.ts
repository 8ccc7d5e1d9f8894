// All of the engine that a publishing page uses.
import { boundedSigner, signAlgorithmOf, TicketSealer, TlsServer } from '@svc/tls'

Object.assign(globalThis, { boundedSigner, signAlgorithmOf, TicketSealer, TlsServer })

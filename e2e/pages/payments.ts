// Hands x402's reference client to the specs.
import { createReferencePayer } from '../support/reference-payer.ts'

declare global {
  var buyer: { createReferencePayer: typeof createReferencePayer }
}

globalThis.buyer = { createReferencePayer }

// Hands the specs what sites sell with, and x402's reference client, which pays.
import { publish } from '@svc/sdk-browser'
import { paid } from '@svc/sdk-browser/handlers'
import { createReferencePayer } from '../support/reference-payer.ts'

declare global {
  var payments: {
    publish: typeof publish
    paid: typeof paid
    createReferencePayer: typeof createReferencePayer
  }
}

globalThis.payments = { publish, paid, createReferencePayer }

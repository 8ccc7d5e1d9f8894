// Gives a remote facilitator only the data that it needs.

import type { Facilitator, PaymentRequest } from '@svc/payment/client'
import { hexOf } from '../../bytes/hex.ts'

/** The random key of this process: another one cannot settle a payment that this one settled. */
let secret: Uint8Array<ArrayBuffer> | undefined

/**
 * Hides from the facilitator which page is bought. In place of its URL it gets one that only this process can make:
 * it still distinguishes what a payment was for, and the facilitator refuses the same payment in another process.
 */
export function withHiddenResource(facilitator: Facilitator): Facilitator {
  return {
    supported: () => facilitator.supported(),
    verify: async (request) => facilitator.verify(await hidden(request)),
    settle: async (request) => facilitator.settle(await hidden(request)),
    prepare: (request) => facilitator.prepare(request),
  }
}

async function hidden({ paymentPayload, ...request }: PaymentRequest): Promise<PaymentRequest> {
  const { resource, ...payload } = paymentPayload
  if (resource === undefined) return { ...request, paymentPayload }
  secret ??= crypto.getRandomValues(new Uint8Array(32))
  const text = new TextEncoder().encode(resource.url)
  const digest = await crypto.subtle.digest('SHA-256', new Uint8Array([...secret, ...text]))
  const name = hexOf(new Uint8Array(digest))
  const url = `${new URL(resource.url).origin}/x402/${name}`
  return { ...request, paymentPayload: { ...payload, resource: { url } } }
}

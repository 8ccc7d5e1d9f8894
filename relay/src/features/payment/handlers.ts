// Handles the endpoints of the facilitator. Pages of any origin and other sites call them without a credential.

import {
  PaymentError,
  type PaymentRequest,
  type PrepareRequest,
  type SettleResponse,
  type VerifyResponse,
} from '@svc/payment'
import type { RequestBodies } from '../../core/api/endpoints/body-limits.ts'
import { sendJson } from '../../core/api/http/envelope.ts'
import { PaymentRefusal } from '../../core/api/http/payment-failure.ts'
import { readJson } from '../../core/api/http/read-body.ts'
import type { Handler } from '../../core/api/http/server.ts'
import type { ClientAddresses } from '../../core/client-address/client-addresses.ts'
import { networkOf } from '../../core/client-address/ip-address.ts'
import { RelayError } from '../../core/errors.ts'
import type { RateLimits } from '../../core/rate-limit/client-rate-limits.ts'
import { PAYMENT_BODY, type PaymentEndpointName } from './endpoints.ts'
import type { PaymentQuestion, PaymentResult } from './payment-counts.ts'
import type { RunningFacilitator } from './start-facilitator.ts'

export type PaymentHandlers = Readonly<Record<PaymentEndpointName, Handler>>

export interface PaymentEndpointParts {
  clientAddresses: ClientAddresses
  rateLimits: Pick<RateLimits, 'chargePayment'>
  bodies: RequestBodies
}

/** One answer, and the result that it counts as. */
interface Answered {
  body: unknown
  result: PaymentResult
}

export function createPaymentHandlers(
  running: RunningFacilitator,
  parts: PaymentEndpointParts,
): PaymentHandlers {
  const { facilitator, counts, openPayments } = running
  const { clientAddresses, rateLimits, bodies } = parts
  const handle = (question: PaymentQuestion, ask: (body: unknown) => Promise<Answered>): Handler => {
    return async (request, response) => {
      const source = clientAddresses.ofRequest(request)
      rateLimits.chargePayment(source)
      const end = openPayments.begin(networkOf(source))
      try {
        const body = await readJson(request, response, bodies.limitsOf('none', PAYMENT_BODY, source))
        const answer = await ask(body).catch((error) => {
          counts.requests.add({ question, result: error.code === 'invalid_request' ? 'refused' : 'failed' })
          throw relayErrorOf(error)
        })
        counts.requests.add({ question, result: answer.result })
        sendJson(response, 200, answer.body)
      } finally {
        end()
      }
    }
  }
  return {
    x402Supported: async (_request, response) => sendJson(response, 200, await facilitator.supported()),
    x402Verify: handle('verify', async (body) => verified(await facilitator.verify(body as PaymentRequest))),
    x402Settle: handle('settle', async (body) => {
      const answer = await facilitator.settle(body as PaymentRequest)
      if (answer.success) counts.settled += 1
      return settled(answer)
    }),
    x402Prepare: handle('prepare', async (body) => ({
      body: await facilitator.prepare((body ?? {}) as PrepareRequest),
      result: 'accepted',
    })),
  }
}

function verified(body: VerifyResponse): Answered {
  return { body, result: body.isValid ? 'accepted' : 'refused' }
}

function settled(body: SettleResponse): Answered {
  return { body, result: body.success ? 'accepted' : 'refused' }
}

/** A temporary failure becomes 503, so that the client retries; an invalid request becomes 400. */
function relayErrorOf(error: unknown): unknown {
  if (!(error instanceof PaymentError)) return error
  if (error.code === 'invalid_request')
    return new PaymentRefusal(error.message, error.reason ?? 'invalid_payload')
  return new RelayError('feature_unavailable', error.message, { 'Retry-After': '1' })
}

// The answers that the SDK makes in place of a target.

import type { DirectResponse, Field } from '@svc/sdk-core'
import { TargetFault } from '../http-client/target-fault.ts'

const BAD_GATEWAY = 'The server behind this site does not answer\n'

const causes = new WeakMap<DirectResponse, { cause: unknown }>()

/** Returns the answer of a site whose target does not answer, or answers with an error. */
export function badGateway(cause: unknown): DirectResponse {
  const response = textResponse(502, cause instanceof TargetFault ? cause.visitorText : BAD_GATEWAY)
  causes.set(response, { cause })
  return response
}

/** Returns the error because of which the SDK made a response; undefined for one of the target. */
export function causeOf(response: DirectResponse): unknown {
  return causes.get(response)?.cause
}

export function textResponse(status: number, text: string, fields: readonly Field[] = []): DirectResponse {
  const bytes = new TextEncoder().encode(text)
  const content = { pieces: [bytes], size: bytes.length, done: true }
  return {
    status,
    statusText: '',
    fields: [['content-type', 'text/plain;charset=UTF-8'], ...fields],
    length: bytes.length,
    ready: () => content,
    next: async () => content,
    cancel: () => {},
  }
}

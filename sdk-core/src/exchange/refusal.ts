// The answer that no handler gave: to a request that the SDK refuses, and for a handler that failed.

import type { Field } from '../semantics/fields.ts'
import { PreparedResponse } from './prepared-response.ts'

/**
 * Resolves with a page for a person in a browser, and for all others with the error's words, which tell nothing of the site. A
 * service worker cannot load the page.
 * @param fields those of the request, or as many as were read
 */
export async function refusal(
  error: { status: number; message: string },
  fields: readonly Field[],
  method: string | undefined,
): Promise<PreparedResponse> {
  const response = await import('./refusal-page.ts').then(
    (lazy) => lazy.refusalResponse(error, fields),
    () => new Response(error.message, error),
  )
  return PreparedResponse.prepare(response, method)
}

// Requests to the API of a DNS provider, bounded in time and size.

import type { ApiHttp } from '@svc/dns/providers'

const DEADLINE_MS = 10_000
const BODY_MAX_BYTES: number = 1024 * 1024

export const providerHttp: ApiHttp = async (url, { deadlineMs = DEADLINE_MS, signal, ...request }) => {
  const late = AbortSignal.timeout(deadlineMs)
  try {
    const response = await fetch(url, {
      ...request,
      redirect: 'error',
      signal: AbortSignal.any([late, signal]),
    })
    const chunks: Uint8Array[] = []
    let length = 0
    for await (const chunk of response.body ?? []) {
      length += chunk.length
      if (length > BODY_MAX_BYTES) throw new Error(`the answer has more than ${BODY_MAX_BYTES} bytes`)
      chunks.push(chunk)
    }
    const body = Buffer.concat(chunks).toString()
    return { status: response.status, headers: Object.fromEntries(response.headers), body }
  } catch (error) {
    signal.throwIfAborted()
    if (late.aborted) throw new Error('no answer in time', { cause: error })
    const { cause, message } = error as Error
    throw new Error((cause as Error | undefined)?.message || message, { cause: error })
  }
}

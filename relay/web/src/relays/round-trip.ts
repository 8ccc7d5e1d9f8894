// Measures the round trip to a relay: the time of one small request over an open connection.
import { PATH } from '@svc/protocol'

/** The deadline of one measurement with its connection, in milliseconds. */
const MEASUREMENT_DEADLINE_MS = 5_000
/** The largest answer, in bytes. A relay of this software answers with less than 1 KiB. */
export const ANSWER_MAX_BYTES: number = 64 * 1024

/**
 * Sends two requests. The first opens the connection and checks that a relay answers.
 * @param origin the origin of the relay's URL
 * @param deadlineMs the deadline of both, in milliseconds
 * @returns the duration of the second request, in milliseconds
 * @throws Error when no relay answers in time
 */
export async function measureRoundTrip(
  origin: string,
  deadlineMs: number = MEASUREMENT_DEADLINE_MS,
): Promise<number> {
  const signal = AbortSignal.timeout(deadlineMs)
  await ask(origin, signal)
  const start = performance.now()
  await ask(origin, signal)
  return performance.now() - start
}

async function ask(origin: string, signal: AbortSignal): Promise<void> {
  const response = await fetch(`${origin}${PATH.domain}`, {
    cache: 'no-store',
    credentials: 'omit',
    redirect: 'error',
    referrerPolicy: 'no-referrer',
    signal,
  })
  const answer = JSON.parse(await textOf(response)) as { data?: { protocol_version?: unknown } } | null
  if (!response.ok || typeof answer?.data?.protocol_version !== 'string') throw new Error('no relay answers')
}

/** Reads the whole body, so that the browser keeps the connection. @throws Error when it is too long */
async function textOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for await (const chunk of chunksOf(body)) {
    size += chunk.length
    if (size > ANSWER_MAX_BYTES) throw new Error('the answer is too long')
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** Iterates a stream, which not all browsers support natively. Stopping early cancels the body. */
async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader()
  try {
    for (;;) {
      const { done = true, value } = (await reader?.read()) ?? {}
      if (done || value === undefined) return
      yield value
    }
  } finally {
    void reader?.cancel().catch(() => {})
  }
}

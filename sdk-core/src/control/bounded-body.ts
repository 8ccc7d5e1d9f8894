// Reads the body of an HTTP response up to a limit, whatever its Content-Length claims.

import { SvcError } from '../errors.ts'

/**
 * Reads the body as UTF-8 text.
 * @throws SvcError `unexpected_answer` when it has more than `maxBytes`, or is not UTF-8
 */
export async function readText(response: Pick<Response, 'body'>, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const reader = response.body?.getReader()
  let text = ''
  for (let total = 0; reader !== undefined; ) {
    const { done, value } = await reader.read()
    if (done) break
    total += value.length
    if (total > maxBytes) {
      // The rest is not needed, and a failure to cancel does not matter.
      reader.cancel().catch(() => {})
      throw new SvcError('unexpected_answer', `the relay's answer is longer than ${maxBytes} bytes`)
    }
    text += decode(decoder, value)
  }
  return text + decode(decoder)
}

function decode(decoder: TextDecoder, bytes?: Uint8Array): string {
  try {
    return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true })
  } catch (cause) {
    throw new SvcError('unexpected_answer', "the relay's answer is not UTF-8", { cause })
  }
}

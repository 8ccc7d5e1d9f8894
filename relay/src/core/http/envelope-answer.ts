// Reads what this relay answers, or another server in its place.

import type { IncomingMessage } from 'node:http'

/** The envelope, unchecked: a response without one comes from another server. */
interface AnswerEnvelope {
  ok?: unknown
  data?: unknown
  error?: { message?: string }
}

export function parseEnvelope(text: string): AnswerEnvelope {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

/** @throws Error when the text is longer than `maxChars` */
export async function readBoundedText(response: IncomingMessage, maxChars: number): Promise<string> {
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk
    if (text.length > maxChars) throw new Error('the answer is too long')
  }
  return text
}

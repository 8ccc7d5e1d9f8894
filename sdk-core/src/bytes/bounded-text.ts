// Reads text and JSON from a stream, up to a limit.

/** Resolves with the value, or with undefined when the text is longer than `maxBytes`, not UTF-8, or not JSON. */
export async function readJson(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<unknown> {
  const text = await readText(body, maxBytes)
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Resolves with the text, or with undefined when it is longer than `maxBytes`, or not UTF-8. */
export async function readText(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
): Promise<string | undefined> {
  const reader = body?.getReader()
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  for (let total = 0; reader !== undefined; ) {
    const { done, value } = await reader.read()
    if (done) break
    total += value.length
    if (total > maxBytes) {
      reader.cancel().catch(() => {}) // The rest is not needed, and a failure to cancel does not matter.
      return undefined
    }
    try {
      text += decoder.decode(value, { stream: true })
    } catch {
      return undefined
    }
  }
  try {
    return text + decoder.decode()
  } catch {
    return undefined
  }
}

// The module `/x402/client.js`, with which the checkout page of a site pays. `scripts/client-script.ts` turns it into text.

import { x402Fetch } from './fetch.ts'
import { decodeMessage } from './message.ts'
import { fieldsOf } from './terms.ts'

export * from './index.ts'

/** The globals of a page that a worker does not have. */
interface Page {
  document: { open(): void; write(html: string): void; close(): void }
  location: { replace(url: string): void }
}

/** Pays for a page, and replaces this one with it. */
export async function payAndShow(url: string, onStatus: (text: string) => void): Promise<void> {
  const { document, location } = globalThis as unknown as Page
  const response = await x402Fetch(url, { headers: { Accept: 'text/html,*/*;q=0.8' } }, { onStatus })
  if (response.status === 402) {
    const { error } = fieldsOf(decodeMessage(response.headers.get('payment-required') ?? ''))
    throw new Error(`The payment was not accepted: ${error}`)
  }
  if (!response.ok)
    throw new Error(`The site failed, and nothing was charged for its answer (${response.status})`)
  if (!/^text\/html\b/i.test(response.headers.get('content-type') ?? ''))
    return location.replace(URL.createObjectURL(await response.blob()))
  const html = await response.text()
  document.open()
  document.write(html)
  document.close()
}

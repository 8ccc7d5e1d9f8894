// Publishes from whatever it runs in: a dedicated, a shared or a service worker. Asked by a message with a port.
import { publish } from '@svc/sdk-browser'

interface Asked {
  relay: string
  name: string
}

async function answer({ data, ports: [port] }: MessageEvent<Asked>): Promise<void> {
  const where = globalThis.constructor.name
  try {
    const site = await publish({ ...data, fetch: () => new Response(`hello from a ${where}`) })
    port?.postMessage({ url: site.url, state: site.state })
  } catch (error) {
    port?.postMessage({ error: String(error) })
  }
}

addEventListener('message', (event) => {
  const answered = answer(event)
  // a service worker lives as long as it has something to do
  if ('waitUntil' in event) (event as { waitUntil(promise: Promise<void>): void }).waitUntil(answered)
})
addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports
  if (port) port.onmessage = answer
})

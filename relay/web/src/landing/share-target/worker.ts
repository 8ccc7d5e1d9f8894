// The service worker of the share target (Web Share Target §4): it receives what a phone's share sheet posts, so that nothing of it
// goes to the relay. Its scope is that one path: it sees no other request of these pages.
import { putShared } from './shared.ts'

/** Files of one share: a phone shares a selection of photos. */
const FILES_MAX = 100
/** Bytes of all files of one share, which the browser copies. */
const FILES_MAX_BYTES: number = 256 * 1024 * 1024
/** Characters of a text. */
const TEXT_MAX_CHARS = 100_000
const SEE_OTHER = 303

interface FetchEvent extends Event {
  readonly request: Request
  respondWith(response: Promise<Response>): void
}

addEventListener('fetch', (event) => {
  const { request, respondWith } = event as FetchEvent
  if (request.method === 'POST') respondWith.call(event, receive(request))
})

/** The page looks for what was received, and says so when there is nothing. */
async function receive(request: Request): Promise<Response> {
  try {
    const form = await request.formData()
    const files = form.getAll('files').filter((one) => typeof one !== 'string')
    const bytes = files.reduce((total, { size }) => total + size, 0)
    const texts = ['title', 'text', 'url']
      .map((name) => form.get(name))
      .filter((one) => typeof one === 'string')
    const text = texts.filter(Boolean).join('\n')
    if (files.length <= FILES_MAX && bytes <= FILES_MAX_BYTES && text.length <= TEXT_MAX_CHARS)
      await putShared({ files: files.filter(({ name, size }) => name !== '' || size > 0), text })
  } catch {
    // The page says that it got nothing.
  }
  return new Response(null, { status: SEE_OTHER, headers: { Location: '/?shared' } })
}

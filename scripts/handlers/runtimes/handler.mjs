// The handler of the comparison, which every runtime serves: one path for each feature. It has no imports.

/** "hello" by gzip. */
const GZIP = Uint8Array.from(atob('H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA=='), (character) =>
  character.charCodeAt(0),
)
const EARLY = { status: 202 }

/**
 * @typedef Platform what only the runtime itself has; a member that it lacks is missing
 * @property {(work: Promise<unknown>) => void} [waitUntil]
 * @property {(request: Request) => Response | undefined} [upgrade] answers messages with themselves
 * @property {() => string | undefined} [address] the visitor's
 * @property {typeof Response} [OtherResponse] a Response of another implementation
 */

let kept
let wasAborted = false
let isWorkDone = false

const PATHS = {
  '/text': () => new Response('hello'),
  '/json': () => Response.json({ hello: 1 }),
  '/stream': () => new Response(streamOf('hel', 'lo')),
  '/blob': () => new Response(new Blob(['hello'], { type: 'text/plain' })),
  '/form': () => new Response(new URLSearchParams({ a: '1' })),
  '/cookies': () => {
    const headers = new Headers()
    headers.append('Set-Cookie', 'a=1; Path=/')
    headers.append('Set-Cookie', 'b=2; Path=/')
    return new Response('hello', { headers })
  },
  '/redirect-relative': () => Response.redirect('/x'),
  '/redirect-absolute': () => Response.redirect('https://other.example/x', 307),
  '/error': () => Response.error(),
  '/throw': () => {
    throw new Error('secret')
  },
  '/nothing': () => undefined,
  '/kept': () => {
    kept ??= new Response('hello')
    return kept
  },
  '/broken': () =>
    new Response(
      new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode('hel')),
        pull: (controller) => controller.error(new Error('secret')),
      }),
    ),
  '/204': () => new Response(null, { status: 204 }),
  '/304': () => new Response(null, { status: 304, headers: { ETag: '"a"' } }),
  '/reason': () => new Response('hello', { status: 299, statusText: 'Fine' }),
  '/long': () => new Response('hello', { headers: { 'Content-Length': '9' } }),
  '/short': () => new Response('hello', { headers: { 'Content-Length': '3' } }),
  '/gzip': () => new Response(GZIP, { headers: { 'Content-Encoding': 'gzip' } }),
  '/url': (request) => new Response(request.url),
  '/method': (request) => new Response(request.method),
  '/fields': (request) => new Response(request.headers.get('X-Field')),
  '/read-stream': async (request) => {
    let bytes = 0
    for await (const piece of request.body) bytes += piece.length
    return new Response(`${bytes} bytes`)
  },
  '/read-form': async (request) => {
    const form = await request.formData()
    const file = form.get('file')
    return new Response(`${form.get('a')} ${file.name} ${await file.text()}`)
  },
  '/read-json': async (request) => new Response((await request.json()).hello),
  '/read-text': async (request) => new Response(await request.text()),
  '/early': () => new Response('hello', EARLY),
  '/hang': (request) => {
    wasAborted = false
    request.signal.addEventListener('abort', () => {
      wasAborted = true
    })
    // workerd ends a handler that waits for nothing.
    return new Promise((resolve) => setTimeout(() => resolve(new Response('late')), 30_000))
  },
  '/was-aborted': () => new Response(String(wasAborted)),
  '/work': (_request, { waitUntil }) => {
    if (!waitUntil) return missing()
    waitUntil(Promise.resolve().then(() => (isWorkDone = true)))
    return new Response('hello')
  },
  '/was-done': () => new Response(String(isWorkDone)),
  '/other': (_request, { OtherResponse }) => (OtherResponse ? new OtherResponse('hello') : missing()),
  '/upgrade': (request, { upgrade }) => (upgrade ? upgrade(request) : missing()),
  '/address': (_request, { address }) => (address?.() ? new Response('an address') : missing()),
}

/**
 * @param {Request} request
 * @param {Platform} platform
 */
export function handle(request, platform) {
  return PATHS[new URL(request.url).pathname]?.(request, platform) ?? notFound(request)
}

/** A path that is there and returned nothing has nothing. */
function notFound({ url }) {
  return new URL(url).pathname in PATHS ? undefined : new Response(null, { status: 404 })
}

function missing() {
  return new Response('missing', { status: 501 })
}

function streamOf(...texts) {
  return new ReadableStream({
    pull: (controller) => {
      const text = texts.shift()
      if (text === undefined) controller.close()
      else controller.enqueue(new TextEncoder().encode(text))
    },
  })
}

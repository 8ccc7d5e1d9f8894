// The site `hello` answers browsers with a page, and other clients with a line of text.

/** Answers without counting a visit: browsers ask for it to find out whether they trust the relay. */
export const CHECK_PATH = '/trust'
const NO_CONTENT = 204

let visits = 0

export function helloFromNode(request: Request): Response {
  const { pathname, host } = new URL(request.url)
  if (pathname === CHECK_PATH) return new Response(null, { status: NO_CONTENT })
  if (pathname !== '/') return new Response('Not found\n', { status: 404 })
  visits += 1
  const wantsHtml = request.headers.get('Accept')?.includes('text/html') ?? false
  return wantsHtml ? html(host) : new Response(`Hello, visitor ${visits}, from a handler in Node.\n`)
}

function html(host: string): Response {
  const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>Hello from Node</title>
<style>
  body { display: grid; font: 1rem/1.5 system-ui, sans-serif; margin: 0; min-height: 100vh; place-items: center }
  main { max-width: 34rem; padding: 1.5rem }
  h1 { font-size: clamp(1.75rem, 8vw, 2.75rem); letter-spacing: -.02em; line-height: 1.15; margin: 0 0 .75rem }
</style>
<main>
  <h1>Hello, visitor ${visits}</h1>
  <p>A <code>fetch</code> handler in a Node process wrote this page. TLS ended in that process: the relay passed on
  bytes that it cannot read.</p>
  <p><a href="https://${host.slice(host.indexOf('.') + 1)}/examples/hello/">Publish a page of your own</a></p>
</main>
</html>
`
  return new Response(page, {
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:",
      'Cache-Control': 'no-store',
    },
  })
}

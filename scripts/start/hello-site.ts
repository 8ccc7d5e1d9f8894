// The site `hello` answers browsers with a page, and other clients with a line of text.

import { documentAnswer, isNavigation, lineOrPage } from '@svc/sdk-core'

/** Answers without counting a visit: browsers ask for it to find out whether they trust the relay. */
export const CHECK_PATH = '/trust'
const NO_CONTENT = 204
const NOT_FOUND = 404

let visits = 0

export function helloFromNode(request: Request): Response {
  const { pathname, host } = new URL(request.url)
  if (pathname === CHECK_PATH) return new Response(null, { status: NO_CONTENT })
  if (pathname !== '/') return lineOrPage(request, NOT_FOUND, 'Not found')
  visits += 1
  const headers = { 'Cache-Control': 'no-store', Vary: 'Accept, Sec-Fetch-Mode' }
  if (!isNavigation(request))
    return new Response(`Hello, visitor ${visits}, from a handler in Node.\n`, { headers })
  const main = `<h1>Hello, visitor ${visits}</h1>
<p>A <code>fetch</code> handler in a Node process wrote this page. TLS ended in that process: the relay passed on
bytes that it cannot read.</p>
<p><a class="action" href="https://${host.slice(host.indexOf('.') + 1)}/examples/hello/">Publish a page of your own</a></p>`
  return documentAnswer(200, { title: 'Hello from Node', main }, headers)
}

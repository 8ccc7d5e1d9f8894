// The links' site: an ordinary h3 app with a middleware, a page, JSON and a route with a parameter.
import { H3, HTTPError, html, raw, redirect } from 'h3'
import type { Link, Links } from './links.ts'
import style from './visitor.css?inline'

/** The style sheet and the links are the page's own: nothing else is loaded, nothing runs. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

/** @param followed called when a visitor followed a link */
export function linksApp(links: Links, followed: () => void): H3 {
  const app = new H3()
  app.use((event) => {
    event.res.headers.set('Content-Security-Policy', CONTENT_SECURITY_POLICY)
    event.res.headers.set('X-Content-Type-Options', 'nosniff')
    event.res.headers.set('Cache-Control', 'no-store')
  })
  app.get('/', () => page(links.all()))
  app.get('/style.css', (event) => {
    event.res.headers.set('Content-Type', 'text/css')
    return style
  })
  app.get('/api/links', () => links.all())
  app.get('/to/:path', ({ context }) => {
    const link = links.follow(context.params?.path ?? '')
    if (!link) throw new HTTPError({ status: 404, message: 'There is no such link' })
    followed()
    return redirect(link.url)
  })
  return app
}

function page(links: readonly Link[]): ReturnType<typeof html> {
  return html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/style.css">
<title>Links</title>
<main>
  <h1>Links</h1>
  <ul class="links">
    ${raw(links.map((link) => html`<li><a href="/to/${link.path}">${link.title}</a></li>`.body).join('\n'))}
  </ul>
  ${links.length === 0 ? raw('<p class="quiet">None yet.</p>') : ''}
</main>
</html>`
}

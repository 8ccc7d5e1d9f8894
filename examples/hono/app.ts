// The guestbook's site: an ordinary Hono app with middleware, a form, a cookie, JSON and server-sent events.
import { withCookies } from '@svc/sdk-browser/handlers'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { generateCookie, getCookie } from 'hono/cookie'
import { csrf } from 'hono/csrf'
import { secureHeaders } from 'hono/secure-headers'
import { streamSSE } from 'hono/streaming'
import type { Guestbook } from './book.ts'
import { bookPage } from './page.ts'
import style from './visitor.css?inline'
import script from './visitor.ts?script'

/** A filled-in form, in bytes. */
const FORM_MAX_BYTES: number = 8 * 1024
/** Visitors who see new entries at once; the others do when they load the page again. */
const FOLLOWERS_MAX = 50
/** Seconds for which a visitor's name is remembered: a month. */
const NAME_MAX_AGE_S: number = 30 * 24 * 60 * 60

const OWN = ["'self'"]
const headers = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    baseUri: ["'none'"],
    connectSrc: OWN,
    formAction: OWN,
    frameAncestors: ["'none'"],
    imgSrc: ['data:'],
    scriptSrc: OWN,
    styleSrc: OWN,
  },
  // It would hold for whatever else this hostname serves, long after this page is closed.
  strictTransportSecurity: false,
})

export function guestbookApp(book: Guestbook): Hono {
  const app = new Hono()
  app.use(headers, csrf(), bodyLimit({ maxSize: FORM_MAX_BYTES }))

  app.get('/', (c) => c.html(bookPage(book.entries, getCookie(c, 'name', 'host'))))
  app.get('/style.css', (c) => c.body(style, { headers: { 'Content-Type': 'text/css' } }))
  app.get('/script.js', (c) => c.body(script, { headers: { 'Content-Type': 'text/javascript' } }))
  app.get('/api/entries', (c) => c.json(book.entries))

  app.post('/entries', async (c) => {
    const { name, text } = await c.req.parseBody()
    const entry = book.add(String(name ?? ''), String(text ?? ''))
    if (!entry) return c.text('Write a name and a few words\n', 400)
    const options = { httpOnly: true, maxAge: NAME_MAX_AGE_S, prefix: 'host', sameSite: 'Lax' } as const
    // Not setCookie: a Response that a page makes drops cookies, so they are added to the finished one.
    return withCookies(c.redirect('/', 303), [generateCookie('name', entry.name, options)])
  })

  let followers = 0
  app.get('/live', (c) => {
    if (followers >= FOLLOWERS_MAX) return c.text('Too many follow already\n', 503)
    followers += 1
    return streamSSE(c, async (stream) => {
      let wake = (): void => {}
      const stop = book.follow(() => wake())
      stream.onAbort(() => wake())
      // Says no more than that there is news: who reads slowly gets it once, and nothing queues.
      for (let news = Promise.resolve(); !stream.aborted; await news) {
        news = new Promise((resolve) => {
          wake = resolve
        })
        await stream.writeSSE({ data: String(book.entries[0]?.id ?? 0) })
      }
      stop()
      followers -= 1
    })
  })
  return app
}

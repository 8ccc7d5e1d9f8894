// Nothing of others is loaded, and no inline script runs.
import type { MiddlewareHandler } from 'astro'

const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

export const onRequest: MiddlewareHandler = async (_, next) => {
  const response = await next()
  response.headers.set('Content-Security-Policy', CONTENT_SECURITY_POLICY)
  return response
}

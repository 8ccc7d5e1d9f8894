// What a handler behind a sign-in says to pages of other origins before anybody has signed in (Fetch standard, "HTTP CORS protocol").

import type { DirectlyHandled } from './direct.ts'

/** The key of what a handler says to pages of other origins without being called. */
export const CROSS_ORIGIN: unique symbol = Symbol('answers of a handler to pages of other origins')

/** A CrossOrigin speaks for a handler that is not called, because the visitor has not signed in. */
export interface CrossOrigin {
  /** Returns the answer to a preflight, which carries no credentials. Undefined for any other request, and without a rule for it. */
  preflight(request: Request): Response | undefined
  /** Returns a refusal that pages of the allowed origins can read. */
  readable(request: Request, refusal: Response): Response
}

/** A CrossOriginHandler is a handler that may say what pages of other origins may do. */
export interface CrossOriginHandler extends DirectlyHandled {
  [CROSS_ORIGIN]?: CrossOrigin | undefined
}

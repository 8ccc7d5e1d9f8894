// Request and Response for a page that is a server: they keep the headers that a browser's own ones drop.
//
// A browser's Request is made to be sent and its Response to be received, so their constructors silently drop Cookie,
// Host, Origin and User-Agent from requests and Set-Cookie from responses (Fetch standard, "forbidden request-header" and
// "forbidden response-header name"). A `Headers` object that stands alone keeps them all, so each object here has one.

import { blobLengths, contentOf, withHeaders, withMethod } from '@svc/sdk-core/fetch-request'
import { isBlob, isRequest } from '@svc/sdk-core/platform-objects'

type Installed = { native: Natives; ours: Natives }
type Natives = { Request: typeof Request; Response: typeof Response }

/** The default status of Response.redirect: 302. */
const FOUND = 302

let installed: Installed | undefined

/**
 * Replaces the global Request and Response, once. Their instances, `instanceof`, `clone()`, `new Response(body,
 * response)`, `new Request(request, init)`, `Response.json()` and `Response.redirect()` work as the platform's do,
 * and keep all headers. `fetch` sends and receives as before.
 */
export function installGlobals(): void {
  if (installed) return
  const native: Natives = { Request: globalThis.Request, Response: globalThis.Response }
  const ours: Natives = { Request: unguardedRequest(native), Response: unguardedResponse(native) }
  installed = { native, ours }
  Object.assign(globalThis, ours)
}

/** Puts the platform's own Request and Response back, unless other code has replaced them since. */
export function removeGlobals(): void {
  if (!installed) return
  const { native, ours } = installed
  installed = undefined
  if (globalThis.Request === ours.Request) globalThis.Request = native.Request
  if (globalThis.Response === ours.Response) globalThis.Response = native.Response
}

function unguardedRequest(native: Natives): typeof Request {
  class UnguardedRequest extends native.Request {
    // Here and below, null means no `init`, as in the standard.
    constructor(...args: [input: RequestInfo | URL, init?: RequestInit | null]) {
      const [input, init] = args
      const source = isRequest(input) ? input : undefined
      const fields = new Headers(init?.headers ?? source?.headers)
      // The source has a body that this platform's Request cannot hold.
      const content = source && init?.body === undefined ? contentOf(source) : undefined
      super(...(args as [RequestInfo, RequestInit]))
      addContentType(fields, super.headers)
      withHeaders(this, fields, content)
      if (source && init?.method === undefined) withMethod(this, source.method)
    }
  }
  return instancesOf(native.Request, UnguardedRequest)
}

function unguardedResponse(native: Natives): typeof Response {
  class UnguardedResponse extends native.Response {
    constructor(body?: BodyInit | null, init?: ResponseInit | null) {
      const fields = new Headers(init?.headers)
      super(body, init ?? {})
      addContentType(fields, super.headers)
      own(this, fields)
      if (isBlob(body)) blobLengths.set(this.body!, body.size)
    }

    override clone(): Response {
      const length = blobLengths.get(this.body!)
      const clone = adopt(super.clone(), new Headers(this.headers))
      if (length !== undefined) for (const { body } of [this, clone]) blobLengths.set(body!, length)
      return clone
    }

    static override redirect(url: string | URL, status = FOUND): Response {
      const response = native.Response.redirect(url, status)
      return adopt(response, new Headers(response.headers))
    }

    static override json(data: unknown, init: ResponseInit | null = null): Response {
      const fields = new Headers(init?.headers)
      const response = native.Response.json(data, init ?? {})
      addContentType(fields, response.headers)
      return adopt(response, fields)
    }
  }

  function adopt(response: Response, fields: Headers): Response {
    return own(Object.setPrototypeOf(response, UnguardedResponse.prototype), fields)
  }
  return instancesOf(native.Response, UnguardedResponse)
}

function own(response: Response, fields: Headers): Response {
  return Object.defineProperty(response, 'headers', { value: fields, enumerable: true, configurable: true })
}

/** Adds the Content-Type that the constructor took from the body, when the caller gave none. */
function addContentType(fields: Headers, native: Headers): void {
  const type = native.get('content-type')
  if (type !== null && !fields.has('content-type')) fields.set('content-type', type)
}

/** Makes `instanceof` true also for objects that `fetch` returns. Subclasses keep the ordinary `instanceof`. */
function instancesOf<T extends abstract new (...args: never[]) => object>(native: T, ours: T): T {
  const ordinary = Function.prototype[Symbol.hasInstance]
  return Object.defineProperties(ours, {
    name: { value: native.name, configurable: true },
    length: { value: native.length, configurable: true },
    [Symbol.hasInstance]: {
      value(this: unknown, value: unknown): boolean {
        return this === ours ? value instanceof native : ordinary.call(this, value)
      },
    },
  })
}

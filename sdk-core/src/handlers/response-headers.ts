// Gives a Response unguarded headers: in a page, those of the constructor drop what only a server may send.

/** @returns `response` itself, whose headers, also on clones, are now `headers` */
export function withHeaders(response: Response, headers: Headers): Response {
  const { clone } = response // of whatever class it is
  return Object.defineProperties(response, {
    headers: { value: headers, enumerable: true, configurable: true },
    clone: {
      value: () => withHeaders(clone.call(response), new Headers(headers)),
      configurable: true,
    },
  })
}

// Says what a value is by what it can do: a polyfill, an iframe and a library have classes of their own, so that `instanceof` fails.

/** Says whether a value calls itself `brand`, in whatever realm it was made. */
function isA(brand: string, value: unknown): boolean {
  return Object.prototype.toString.call(value) === `[object ${brand}]`
}

/** Returns whether the value is a Uint8Array, or of a class that extends it. */
export function isBytes(value: unknown): value is Uint8Array {
  return isA('Uint8Array', value)
}

/** Returns whether the value is an ArrayBuffer. */
export function isArrayBuffer(value: unknown): value is ArrayBuffer {
  return isA('ArrayBuffer', value)
}

/** Returns whether the value is a Blob or a File. */
export function isBlob(value: unknown): value is Blob {
  return isA('Blob', value) || isA('File', value)
}

/** Returns whether the value is a Request. */
export function isRequest(value: unknown): value is Request {
  return isA('Request', value)
}

/** Returns whether the value is a URL. */
export function isUrl(value: unknown): value is URL {
  return isA('URL', value)
}

/** Returns whether the value is a socket of the platform, which that of `ws` is not. */
export function isPlatformWebSocket(value: unknown): value is WebSocket {
  return isA('WebSocket', value)
}

/** Returns whether the value has what the SDK uses of a Response. */
export function isResponse(value: unknown): value is Response {
  const { status, headers } = (value ?? {}) as Partial<Response>
  return typeof status === 'number' && typeof headers?.get === 'function'
}

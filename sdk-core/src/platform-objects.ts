// Type checks by capability: polyfills, iframes and libraries have classes of their own, so `instanceof` fails.

/** Returns whether the value's `toStringTag` is `brand`, in any realm. */
function isA(brand: string, value: unknown): boolean {
  return Object.prototype.toString.call(value) === `[object ${brand}]`
}

/** Returns whether the value is a Uint8Array, or of a subclass. */
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

/** Returns whether the value is the platform's own WebSocket, not one of `ws`. */
export function isPlatformWebSocket(value: unknown): value is WebSocket {
  return isA('WebSocket', value)
}

/** Returns whether the value has the members of a Response that the SDK uses. */
export function isResponse(value: unknown): value is Response {
  const { status, headers } = (value ?? {}) as Partial<Response>
  return typeof status === 'number' && typeof headers?.get === 'function'
}

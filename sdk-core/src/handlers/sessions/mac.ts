// Message authentication codes (HMAC, RFC 2104, with SHA-256) under the key of one handler.

const encoder = new TextEncoder()

/** A Mac returns the authentication code of a list of texts. */
export type Mac = (...texts: readonly string[]) => Promise<Uint8Array>

/** @param secret the key, which is copied */
export function macWith(secret: Uint8Array): Mac {
  const copy = Uint8Array.from(secret)
  let key: Promise<CryptoKey> | undefined
  return async (...texts) => {
    key ??= crypto.subtle.importKey('raw', copy, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
    // JSON delimits the texts.
    return new Uint8Array(await crypto.subtle.sign('HMAC', await key, encoder.encode(JSON.stringify(texts))))
  }
}

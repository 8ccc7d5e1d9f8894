// Seals what the engine must not read, under a key from the machines' secret: AES-256-GCM (NIST SP 800-38D).

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

export class Seal {
  readonly #key: Buffer

  constructor(secret: string) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', 'svc cluster files v1', KEY_BYTES))
  }

  /** @param name what the text is, which opens under the same name alone @returns base64 */
  close(name: string, text: string): string {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce).setAAD(Buffer.from(name))
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64')
  }

  /** @throws Error for what was not sealed with the same secret, under the same name */
  open(name: string, sealed: string): string {
    const bytes = Buffer.from(sealed, 'base64')
    const nonce = bytes.subarray(0, NONCE_BYTES)
    const decipher = createDecipheriv(ALGORITHM, this.#key, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(-TAG_BYTES))
    const text = bytes.subarray(NONCE_BYTES, -TAG_BYTES)
    return Buffer.concat([decipher.update(text), decipher.final()]).toString()
  }
}

// The error of HPACK.

/** An HpackError says that a header block cannot be decoded, and so no later one on its connection. */
export class HpackError extends Error {
  override readonly name = 'HpackError'

  constructor() {
    super('The header block cannot be decoded')
  }
}

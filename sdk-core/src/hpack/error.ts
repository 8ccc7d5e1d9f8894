// The one error of HPACK.

/** A header block cannot be decoded: nothing on its connection can be decoded any more. */
export class HpackError extends Error {
  override readonly name = 'HpackError'

  constructor() {
    super('The header block cannot be decoded')
  }
}

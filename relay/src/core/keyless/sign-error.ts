// The error of `/v1/sign`, which responds with `{error}` outside the envelope.

export type SignStatus = 400 | 403 | 405 | 415 | 500

export class SignError extends Error {
  override readonly name = 'SignError'
  readonly status: SignStatus

  constructor(status: SignStatus, message: string) {
    super(message)
    this.status = status
  }
}

// The answers to visitors who have to sign in with a wallet.

import { isGrpc } from '../../semantics/grpc.ts'
import { grpcRefusal } from '../grpc-refusal.ts'
import { jsonAnswer, textAnswer } from '../sessions/answers.ts'

/** The path of the sign-in page and prefix of its other paths. Requests for them do not reach the handler. */
export const SIGN_IN_PATH = '/.svc/wallet'

/** Returns the field that each 401 must have (RFC 9110 §15.5.2). Browsers do not know the scheme, so they show no dialog. */
export function challengeField(origin: string): Record<string, string> {
  return { 'WWW-Authenticate': `SIWE sign-in="${origin}${SIGN_IN_PATH}"` }
}

/** Returns the answer to a program without a session: that of gRPC to a call, JSON if it accepts that, otherwise a line of text. */
export function signInRequired(request: Request, origin: string): Response {
  const link = `${origin}${SIGN_IN_PATH}`
  const message = `This site is for visitors who sign in with a wallet: ${link}`
  if (isGrpc([...request.headers])) return grpcRefusal('unauthenticated', message)
  const headers = challengeField(origin)
  if (/json/i.test(request.headers.get('accept') ?? ''))
    return jsonAnswer(401, { error: 'unauthorized', message, sign_in: link }, { headers })
  return textAnswer(401, message, headers)
}

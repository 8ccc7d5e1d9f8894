// The paths of the sign-in: the page, the challenge, the answer to it, and the sign-out.

import { readJson } from '../../bytes/bounded-text.ts'
import { checksumAddress } from '../../identity/key.ts'
import { TokenBucket } from '../../timers/token-bucket.ts'
import { errorAnswer, jsonAnswer, textAnswer } from '../sessions/answers.ts'
import type { LiveSessions } from '../sessions/live-sessions.ts'
import type { Mac } from '../sessions/mac.ts'
import { isForeign } from '../sessions/origin-checks.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { challengeField, SIGN_IN_PATH } from './answers.ts'
import { type ChallengeRefusal, Challenges } from './challenges.ts'
import { BODY_MAX_BYTES, CHALLENGE_MS, CHECKS_BURST, CHECKS_PER_S } from './limits.ts'
import type { CheckedOptions } from './options.ts'
import { signInPage } from './sign-in-page.ts'
import { Contracts, isWalletsSignature } from './signature.ts'

type Action = (origin: string, request: Request) => Promise<Response>

const ADDRESS = /^0x[\da-f]{40}$/i

const REFUSALS: Readonly<Record<ChallengeRefusal, string>> = {
  not_issued: 'This is not a message that this site asked anybody to sign. Begin again.',
  expired: `The message was signed too late: it is good for ${CHALLENGE_MS / 60_000} minutes. Begin again.`,
  used: 'This message was used already. Begin again.',
}

/** SignIn answers all requests for the paths of the sign-in. */
export class SignIn {
  readonly #wallets: ReadonlySet<string>
  readonly #challenges: Challenges
  readonly #contracts: Contracts | undefined
  readonly #sessions: Sessions
  readonly #live: LiveSessions
  /** A separate budget, so that a flood with other addresses does not affect listed wallets. */
  readonly #checksOfListed = new TokenBucket(CHECKS_BURST, CHECKS_PER_S)
  readonly #checksOfOthers = new TokenBucket(CHECKS_BURST, CHECKS_PER_S)
  readonly #actions: Readonly<Record<string, Action>> = {
    challenge: (origin, request) => this.#challenge(origin, request),
    'sign-in': (origin, request) => this.#signIn(origin, request),
    'sign-out': (origin, request) => this.#signOut(origin, request),
  }

  constructor({ wallets, rpc, chainId }: CheckedOptions, mac: Mac, sessions: Sessions, live: LiveSessions) {
    this.#wallets = wallets
    this.#challenges = new Challenges(mac, chainId)
    this.#contracts = rpc && new Contracts(rpc)
    this.#sessions = sessions
    this.#live = live
  }

  async answer(request: Request): Promise<Response> {
    const { pathname, origin, host } = new URL(request.url)
    const { method } = request
    if (pathname === SIGN_IN_PATH) {
      if (method !== 'GET' && method !== 'HEAD') return wrongMethod('GET, HEAD')
      return signInPage(request, (await this.#sessions.of(request, host))?.subject)
    }
    const name = pathname.slice(SIGN_IN_PATH.length + 1)
    if (!Object.hasOwn(this.#actions, name)) return errorAnswer(404, 'not_found', 'There is nothing here.')
    if (method !== 'POST') return wrongMethod('POST')
    if (isForeign(request, origin))
      return errorAnswer(403, 'forbidden', 'This request comes from a page of another site.')
    return this.#actions[name]!(origin, request)
  }

  async #challenge(origin: string, request: Request): Promise<Response> {
    const { address } = await fieldsOf(request)
    if (typeof address !== 'string' || !ADDRESS.test(address))
      return errorAnswer(400, 'invalid_address', 'address has to be 0x and 40 hexadecimal digits, in JSON.')
    const message = await this.#challenges.issue(origin, address)
    return message === undefined ? tooMany() : jsonAnswer(200, { message })
  }

  async #signIn(origin: string, request: Request): Promise<Response> {
    const { message, signature } = await fieldsOf(request)
    if (typeof message !== 'string' || typeof signature !== 'string')
      return errorAnswer(400, 'invalid_request', 'message and signature have to be texts, in JSON.')
    const found = await this.#challenges.find(origin, message)
    if ('refusal' in found) return refused(origin, REFUSALS[found.refusal])
    const { address } = found
    const isListed = this.#wallets.has(address.toLowerCase())
    const bucket = isListed ? this.#checksOfListed : this.#checksOfOthers
    if (!bucket.take() || !this.#challenges.use(found)) return tooMany()
    // Without the wallet's signature, nobody learns whether it is on the list.
    const contracts = isListed ? this.#contracts : undefined
    const isTheirs = await isWalletsSignature(message, signature, address, contracts).catch(() => undefined)
    if (isTheirs === undefined)
      return errorAnswer(503, 'unavailable', 'The site cannot check contract wallets now. Try again later.', {
        'Retry-After': '5',
      })
    if (!isTheirs) return refused(origin, `The wallet ${address} did not sign this message.`)
    if (!isListed)
      return errorAnswer(
        403,
        'wallet_not_listed',
        `The wallet ${address} is not on the list of this site. Choose another account in your wallet, or ask the owner of the site.`,
      )
    const { cookie } = await this.#sessions.begin(new URL(origin).host, address.toLowerCase())
    return jsonAnswer(200, { address }, { cookies: [cookie] })
  }

  async #signOut(origin: string, request: Request): Promise<Response> {
    const session = await this.#sessions.of(request, new URL(origin).host)
    if (!session) return refused(origin, 'Nobody is signed in.')
    const cookie = this.#sessions.end(session)
    this.#live.end(session.id)
    return jsonAnswer(200, { address: checksumAddress(session.subject) }, { cookies: [cookie] })
  }
}

/** Resolves with the fields of a JSON object, or none if the body is not one. A page of another origin cannot send this type without a preflight. */
async function fieldsOf(request: Request): Promise<Record<string, unknown>> {
  if (!/^application\/json\b/i.test(request.headers.get('content-type') ?? '')) return {}
  const value = await readJson(request.body, BODY_MAX_BYTES)
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function refused(origin: string, message: string): Response {
  return errorAnswer(401, 'unauthorized', message, challengeField(origin))
}

function tooMany(): Response {
  const message = 'Too many visitors sign in at this moment. Try again in a few seconds.'
  return errorAnswer(429, 'rate_limited', message, { 'Retry-After': '1' })
}

function wrongMethod(allowed: string): Response {
  return textAnswer(405, `This path takes ${allowed}`, { Allow: allowed })
}

// The rules on the direct path, which makes no Request and no Response.

import type { DirectExchange, DirectHandler, DirectRequest, DirectResponse } from '../exchange/direct.ts'
import type { BodyBatch } from '../exchange/response-body.ts'
import { type Field, valuesOf } from '../semantics/fields.ts'
import { AnswerDeadline, LATE } from './answer-deadline.ts'
import { type RuleRefusal, TIMED_OUT, TOO_LARGE, toDirect } from './answers.ts'
import { type Decision, decide, requestFields } from './decision.ts'
import type { ParsedRules } from './parse.ts'
import { WatchedBody } from './watched-body.ts'

/**
 * Decides about a request on the direct path.
 * @returns undefined when a rule answers it, or when it needs a Request
 */
export function exchangeByRules(
  rules: ParsedRules,
  direct: DirectHandler,
  request: DirectRequest,
): DirectExchange | undefined {
  const { method, url, fields, body: content } = request
  const field = (name: string): string | undefined => valuesOf(fields, name).join(', ') || undefined
  const decision = decide(rules, { method, url, isUpgrade: false, field })
  if (decision.answer) return undefined
  const { maxBytes, responseMs, edit } = decision
  const deadline = new AnswerDeadline(responseMs)
  const isWatched = maxBytes !== undefined || responseMs !== undefined
  const body = content && isWatched ? new WatchedBody(content, maxBytes, () => deadline.begin()) : undefined
  const exchange = direct({
    ...request,
    url: decision.url ?? url,
    target: decision.url ? undefined : request.target,
    fields: requestFields(decision, fields),
    body: body ?? content,
  })
  return exchange && (edit || isWatched) ? new RuledExchange(exchange, decision, deadline, body) : exchange
}

class RuledExchange implements DirectExchange {
  readonly #exchange: DirectExchange
  readonly #decision: Decision
  readonly #deadline: AnswerDeadline
  readonly #body: WatchedBody | undefined

  constructor(
    exchange: DirectExchange,
    decision: Decision,
    deadline: AnswerDeadline,
    body: WatchedBody | undefined,
  ) {
    this.#exchange = exchange
    this.#decision = decision
    this.#deadline = deadline
    this.#body = body
  }

  async respond(): Promise<DirectResponse> {
    try {
      const response = await this.#deadline.outcome(this.#exchange.respond())
      if (response === LATE) return this.#refuse(TIMED_OUT)
      if (this.#body?.isTooLarge) return this.#refuse(TOO_LARGE)
      const { edit } = this.#decision
      return edit ? new EditedResponse(response, edit(response.fields)) : response
    } catch (error) {
      if (this.#body?.isTooLarge) return this.#refuse(TOO_LARGE)
      throw error
    }
  }

  cancel(reason: unknown): void {
    this.#exchange.cancel(reason)
  }

  #refuse(refusal: RuleRefusal): DirectResponse {
    this.#exchange.cancel(new Error(refusal.text))
    const answer = this.#decision.refuse(refusal)
    const fields = this.#decision.edit?.(answer.fields) ?? answer.fields
    return toDirect({ ...answer, fields })
  }
}

class EditedResponse implements DirectResponse {
  readonly fields: Field[]
  readonly #response: DirectResponse

  constructor(response: DirectResponse, fields: Field[]) {
    this.#response = response
    this.fields = fields
  }

  get status(): number {
    return this.#response.status
  }

  get statusText(): string {
    return this.#response.statusText
  }

  get length(): number | undefined {
    return this.#response.length
  }

  get trailers(): readonly Field[] | undefined {
    return this.#response.trailers
  }

  ready(): BodyBatch {
    return this.#response.ready()
  }

  next(): Promise<BodyBatch> {
    return this.#response.next()
  }

  cancel(reason: unknown): void {
    this.#response.cancel(reason)
  }
}

// The answers that the SDK makes in place of a target.

import { type DirectRequest, type DirectResponse, type Field, lineOrPageContent } from '@svc/sdk-core'
import { TargetFault } from '../http-client/target-fault.ts'

const BAD_GATEWAY = 'The server behind this site does not answer'

const causes = new WeakMap<DirectResponse, { cause: unknown }>()

/** What an answer is for. */
type Asked = Pick<DirectRequest, 'url' | 'fields'>

/** Returns the answer of a site whose target does not answer, or answers with an error. */
export function badGateway(cause: unknown, asked?: Asked): DirectResponse {
  const response = lineOrPageResponse(
    502,
    cause instanceof TargetFault ? cause.visitorText : BAD_GATEWAY,
    asked,
  )
  causes.set(response, { cause })
  return response
}

/** Returns one sentence as a page to a person in a browser, and as a line of text to a program, and to a request that is not given. */
export function lineOrPageResponse(
  status: number,
  text: string,
  asked: Asked | undefined,
  more: readonly Field[] = [],
): DirectResponse {
  if (!asked) return textResponse(status, `${text}\n`, more)
  const { content, fields } = lineOrPageContent(text, asked, status)
  return directResponse(status, content, [...fields, ...more])
}

/** Returns the error because of which the SDK made a response; undefined for one of the target. */
export function causeOf(response: DirectResponse): unknown {
  return causes.get(response)?.cause
}

export function textResponse(status: number, text: string, fields: readonly Field[] = []): DirectResponse {
  return directResponse(status, text, [['content-type', 'text/plain;charset=UTF-8'], ...fields])
}

function directResponse(status: number, text: string, fields: Field[]): DirectResponse {
  const bytes = new TextEncoder().encode(text)
  const content = { pieces: [bytes], size: bytes.length, done: true }
  return {
    status,
    statusText: '',
    fields,
    length: bytes.length,
    ready: () => content,
    next: async () => content,
    cancel: () => {},
  }
}

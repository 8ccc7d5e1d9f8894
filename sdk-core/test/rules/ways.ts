// Asks a handler with rules as the server does: by the direct path, or with a Request.

import { DIRECT, type DirectlyHandled, type DirectRequest } from '../../src/exchange/direct.ts'
import type { TrafficRules } from '../../src/rules/options.ts'
import { withRules } from '../../src/rules/with-rules.ts'
import type { Field } from '../../src/semantics/fields.ts'
import { info } from '../handlers/ask.ts'

export const SITE = 'https://site.example'
export type Way = 'direct' | 'Request'
export const WAYS: readonly Way[] = ['direct', 'Request']

/** Seen is what the handler got. */
interface Seen {
  path: string
  method: string
  fields: Field[]
  content: string
}

/** Result is what the visitor got, and what the handler did. */
interface Result {
  status: number
  fields: Field[]
  text: string
  seen: Seen | undefined
}

export interface Question {
  method?: string
  path?: string
  fields?: Field[]
  /** The pieces of the content. */
  content?: string[] | undefined
}

/** Asks for a path. The handler reads the content, and answers with `answered`. */
export async function ask(
  way: Way,
  rules: TrafficRules,
  { method = 'GET', path = '/', fields = [], content }: Question = {},
  answered: Field[] = [],
): Promise<Result> {
  let seen: Seen | undefined
  const handler: DirectlyHandled = async (request) => {
    const { pathname, search } = new URL(request.url)
    const text = await request.text()
    seen = { path: pathname + search, method: request.method, fields: [...request.headers], content: text }
    return new Response('handled', {
      headers: answered.map(([name, value]): [string, string] => [name, value]),
    })
  }
  if (way === 'direct')
    handler[DIRECT] = (request) => ({
      respond: async () => {
        let text = ''
        for (let bytes = await request.body?.next(); bytes; bytes = await request.body?.next())
          text += new TextDecoder().decode(bytes)
        const { pathname, search } = request.url
        seen = {
          path: request.target ?? pathname + search,
          method: request.method,
          fields: [...request.fields],
          content: text,
        }
        return responseOf('handled', answered)
      },
      cancel: () => {},
    })
  const ruled = withRules(handler, rules)
  const result = await (way === 'direct'
    ? askDirectly(ruled, { method, path, fields, content })
    : askRequest(ruled, { method, path, fields, content }))
  return { ...result, seen }
}

function responseOf(text: string, fields: Field[]): Awaited<ReturnType<Exchange['respond']>> {
  const bytes = new TextEncoder().encode(text)
  const batch = { pieces: [bytes], size: bytes.length, done: true }
  return {
    status: 200,
    statusText: '',
    fields,
    length: bytes.length,
    ready: () => batch,
    next: async () => batch,
    cancel: () => {},
  }
}

type Exchange = NonNullable<ReturnType<NonNullable<DirectlyHandled[typeof DIRECT]>>>
type Asked = Required<Omit<Question, 'content'>> & Pick<Question, 'content'>

async function askDirectly(handler: DirectlyHandled, asked: Asked): Promise<Omit<Result, 'seen'>> {
  const { method, path, fields, content } = asked
  const pieces = content?.values()
  const body: DirectRequest['body'] = pieces && {
    next: async () => {
      const { value } = pieces.next()
      return value === undefined ? undefined : new TextEncoder().encode(value)
    },
  }
  const exchange = handler[DIRECT]!({ method, url: new URL(SITE + path), target: path, fields, body })
  if (!exchange) return askRequest(handler, asked)
  const response = await exchange.respond()
  const ready = response.ready().pieces
  const text = ready.map((piece) => new TextDecoder().decode(piece)).join('')
  return { status: response.status, fields: response.fields, text }
}

async function askRequest(
  handler: DirectlyHandled,
  { method, path, fields, content }: Asked,
): Promise<Omit<Result, 'seen'>> {
  const headers = fields.map(([name, value]): [string, string] => [name, value])
  const body =
    content &&
    new ReadableStream({
      start(controller) {
        for (const piece of content) controller.enqueue(new TextEncoder().encode(piece))
        controller.close()
      },
    })
  const request = new Request(SITE + path, { method, headers, ...(body && { body, duplex: 'half' }) })
  const response = await handler(request, info)
  return { status: response.status, fields: [...response.headers], text: await response.text() }
}

/** Returns the values of a field. */
export function valuesOf(fields: readonly Field[], name: string): string[] {
  return fields.filter((field) => field[0] === name).map(([, value]) => value)
}

// What a feature is to the comparison: how a server is asked for it, and what of the answer counts.
import { type Answer, ask, type Server } from './ask.ts'

export type Runtime = 'Deno.serve' | 'Bun.serve' | 'workerd'

export interface Feature {
  name: string
  /** Asks for it; the result is what counts of the answers, in words that are equal where the servers do the same. */
  observe(server: Server): Promise<string>
  /** Why others differ; a run fails where a difference has no reason, or a reason no difference. */
  why?: Partial<Record<Runtime, string>>
}

export interface Get {
  method?: string
  /** Lines of the head, after Host. */
  lines?: readonly string[]
  body?: string
}

/** A request of HTTP/1.1 after which the server closes the connection. */
export function requestOf(
  { host }: Server,
  target: string,
  { method = 'GET', lines = [], body }: Get,
): string {
  const length = body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  const head = [`${method} ${target} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...lines, ...length]
  return `${head.join('\r\n')}\r\n\r\n${body ?? ''}`
}

/** Status, the fields named, and the body of one answer. */
export function get(target: string, fields: readonly string[] = [], how: Get = {}): Feature['observe'] {
  return async (server) => words(server, await ask(server, requestOf(server, target, how)), fields)
}

export function words({ host }: Server, answer: Answer, names: readonly string[]): string {
  if (answer.status === 0) return 'closes without an answer'
  const fields = names.flatMap((name) => {
    const values = answer.fields.filter(([other]) => other === name).map(([, value]) => inForm(name, value))
    return [`${name}: ${values.join(' + ').replaceAll(host, 'HOST') || 'none'}`]
  })
  const text = answer.body.toString().replaceAll(host, 'HOST')
  const body = answer.status >= 400 ? errorBody(text) : JSON.stringify(text)
  const end = answer.isWhole ? [] : ['cut']
  return [...answer.interim, answer.status, ...fields, text === '' ? 'no body' : body, ...end].join(', ')
}

/** Error pages differ in their words: whether they show the error counts. */
function errorBody(text: string): string {
  if (text === 'missing') return text
  return text.includes('secret') ? 'a body with the error' : 'a body without the error'
}

/** Case and spaces in media types say nothing. */
function inForm(name: string, value: string): string {
  return name === 'content-type' ? value.toLowerCase().replaceAll(' ', '') : value
}

// The page of an answer that no handler gave: for a request that the SDK refuses, and for a handler that failed. Most visitors
// never see one, so this code is loaded on demand.

import { isShown, pageContent } from '../handlers/line-or-page.ts'
import { nextStep } from '../handlers/next-step.ts'
import { type Field, valuesOf } from '../semantics/fields.ts'

/** Titles in words for people. Others are the words of the error. */
const TITLES: Readonly<Record<number, string>> = {
  400: 'This site cannot read the request',
  408: 'The request took too long',
  413: 'That is too much at once',
  414: 'The address is too long',
  421: 'This is not the site that you asked for',
  426: 'This address is for WebSockets',
  431: 'Your browser sent too much with the request',
  500: 'This site could not answer',
}
const MISDIRECTED_REQUEST = 421
const UPGRADE_REQUIRED = 426

/** @param fields those of the request, or as many as were read */
export function refusalResponse(
  { status, message }: { status: number; message: string },
  fields: readonly Field[],
): Response {
  const headers = new Headers()
  // The WebSocket version that the SDK supports (RFC 6455 §4.2.2).
  if (status === UPGRADE_REQUIRED) headers.set('Sec-WebSocket-Version', '13')
  const init = { status, statusText: message, headers }
  if (!isShown(fields)) return new Response(message, init)
  const text = TITLES[status] ?? message.charAt(0).toUpperCase() + message.slice(1)
  const page = pageContent({ text, next: nextStep(status), host: hostOf(status, fields) })
  for (const [name, value] of page.fields) headers.set(name, value)
  return new Response(page.content, init)
}

/** Returns the host to lead back to, unless the request named none or that of another site. */
function hostOf(status: number, fields: readonly Field[]): string | undefined {
  const [host, ...others] = valuesOf(fields, 'host')
  if (host === undefined || others.length > 0 || status === MISDIRECTED_REQUEST) return undefined
  return URL.parse(`https://${host}`)?.host
}

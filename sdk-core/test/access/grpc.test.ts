// gRPC calls at the gate: nothing of the handler begins before the check, and one that wants a Request gets it.

import { expect, it } from 'vitest'
import { openGate } from '../../src/access/index.ts'
import { DIRECT, type DirectlyHandled, type DirectRequest } from '../../src/exchange/direct.ts'
import type { Field } from '../../src/semantics/fields.ts'

const BEARER = 'a-token-that-nobody-can-guess'
const TOKEN: Field = ['authorization', `Bearer ${BEARER}`]

/** A call with the content `one`. */
function call(fields: Field[]): DirectRequest {
  const left = ['one'].values()
  const next = async (): Promise<Uint8Array | undefined> => {
    const { value } = left.next()
    return value === undefined ? undefined : new TextEncoder().encode(value)
  }
  const url = new URL('https://site.example/test.Echo/Unary')
  return { method: 'POST', url, fields: [['content-type', 'application/grpc'], ...fields], body: { next } }
}

async function asked(
  handler: DirectlyHandled,
  fields: Field[],
): Promise<{ status: number; fields: Field[]; text: string }> {
  const guarded = (await openGate({ bearer: BEARER }, undefined)).before(handler)
  const response = await guarded[DIRECT]!(call(fields))!.respond()
  let text = ''
  for (let batch = response.ready(); ; batch = await response.next()) {
    for (const piece of batch.pieces) text += new TextDecoder().decode(piece)
    if (batch.done) return { status: response.status, fields: response.fields, text }
  }
}

it.each<[string, Field[]]>([
  ['no token', []],
  ['a wrong token', [['authorization', `Bearer ${BEARER}x`]]],
])(
  'a stranger with %s begins nothing: neither a recorder nor the target learns of the call',
  async (_, fields) => {
    const seen: unknown[] = []
    const handler: DirectlyHandled = (request) => {
      seen.push(request)
      return new Response('secret')
    }
    handler[DIRECT] = (request) => {
      seen.push(request)
      return undefined
    }
    const { status, text } = await asked(handler, fields)
    expect([status, text, seen]).toEqual([401, expect.not.stringContaining('secret'), []])
  },
)

it('a handler without a direct path for the call gets a Request with the content, without the token', async () => {
  const handler: DirectlyHandled = async (request) =>
    new Response(`${await request.text()} ${request.headers.get('authorization')}`, {
      headers: { 'x-from': 'handler' },
    })
  handler[DIRECT] = () => undefined
  const { status, fields, text } = await asked(handler, [TOKEN])
  expect([status, text]).toEqual([200, 'one null'])
  expect(fields).toContainEqual(['x-from', 'handler'])
})

it('what is no gRPC call goes through the gate as a Request', async () => {
  const guarded = (await openGate({ bearer: BEARER }, undefined)).before(
    Object.assign(() => new Response(), { [DIRECT]: () => undefined }),
  )
  const { url, method } = call([])
  expect(guarded[DIRECT]!({ url, method, fields: [TOKEN], body: undefined })).toBeUndefined()
})

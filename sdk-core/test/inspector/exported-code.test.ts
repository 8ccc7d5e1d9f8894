// Programs that send a request again, run by their own languages: what they send is exactly the request.

import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { exported } from '../../src/inspector/exported-code.ts'
import { content, entry, type Given } from './entries.ts'

interface Sent {
  method: string
  url: string
  headers: [string, string][]
  body: number[]
}

const HOSTILE = "\"); evil(\"'''\\\n\t%s {} é 𝒳 \u2028"
const BINARY = Uint8Array.from({ length: 256 }, (_, index) => index)

async function runFetch(code: string): Promise<Sent> {
  let sent: Sent | undefined
  const fetch = (
    url: string,
    init: { method: string; headers?: [string, string][]; body?: string | Uint8Array },
  ) => {
    const { method, headers = [], body = '' } = init
    sent = {
      method,
      url,
      headers,
      body: [...(typeof body === 'string' ? new TextEncoder().encode(body) : body)],
    }
  }
  await new Function('fetch', `return (async () => {\n${code}\n})()`)(fetch)
  return sent!
}

/** Runs it with a module `requests` that prints what it gets. */
function runPython(code: string): Sent {
  const fake = [
    'import sys, types, json',
    'requests = types.ModuleType("requests")',
    'def request(method, url, headers={}, data=b""):',
    '    print(json.dumps({"method": method, "url": url, "headers": list(headers.items()), "body": list(data)}))',
    'requests.request = request',
    'sys.modules["requests"] = requests',
  ].join('\n')
  return JSON.parse(execFileSync('python3', ['-c', `${fake}\n${code}`]).toString())
}

function recorded(given: Given & { method?: string; url?: string }): Parameters<typeof exported>[0] {
  const { method = 'POST', url = 'https://site.example/a?b=1' } = given
  return entry({ method, url, request: content(given) })
}

test.each([
  ['text', 'a\nb'],
  ['hostile text', HOSTILE],
  ['bytes', BINARY],
  ['nothing', ''],
])('%s as content', async (_, body) => {
  const made = recorded({
    body,
    headers: [
      ['x-a', 'one "two" \\'],
      ['host', 'other'],
      ['content-length', '1'],
    ],
  })
  const expected = {
    method: 'POST',
    url: 'https://site.example/a?b=1',
    headers: [['x-a', 'one "two" \\']],
    body: [...made.request.body],
  }
  expect(await runFetch(exported(made, 'fetch', true))).toEqual(expected)
  expect(runPython(exported(made, 'python', true))).toEqual(expected)
})

test('a field that comes several times', async () => {
  const made = recorded({
    headers: [
      ['x-a', '1'],
      ['x-a', '2'],
      ['cookie', 'a=1'],
      ['cookie', 'b=2'],
    ],
  })
  expect((await runFetch(exported(made, 'fetch', true))).headers).toHaveLength(4)
  expect(runPython(exported(made, 'python', true)).headers).toEqual([
    ['x-a', '1, 2'],
    ['cookie', 'a=1; b=2'],
  ])
})

test.each(['curl', 'fetch', 'python'] as const)('%s has secrets only when they are asked for', (format) => {
  const made = recorded({
    url: 'https://site.example/?token=s3cret',
    headers: [['authorization', 'Bearer s3cret']],
  })
  expect(exported(made, format, false)).not.toContain('s3cret')
  expect(exported(made, format, true).match(/s3cret/g)).toHaveLength(2)
})

test.each(['curl', 'fetch', 'python'] as const)(
  '%s of a content that was not kept whole is refused',
  (format) => {
    expect(() => exported(recorded({ body: 'a', bodyBytes: 2 }), format, false)).toThrow('only 1 bytes')
  },
)

// JSON from outside (RFC 8259): what is refused, with which code, and that hostile text costs little.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJson } from '../src/api/json.ts'
import { RelayError } from '../src/errors.ts'

const codeOf = (text: string): string | undefined => {
  try {
    parseJson(text)
    return undefined
  } catch (error) {
    return error instanceof RelayError ? error.code : String(error)
  }
}

describe('parseJson', () => {
  test.each([
    '',
    '{',
    '{"a":1',
    '{"a" 1}',
    '{"a":1,}',
    "{'a':1}",
    '{"a":01}',
    '{"a":NaN}',
    '{"a":"\u0000"}',
    '{"a":"\\x"}',
    '"',
    '"\\',
    '}{',
    ']',
    'nul',
    '{} {}',
  ])('%j is invalid_json', (text) => {
    expect(codeOf(text)).toBe('invalid_json')
  })

  test.each([
    '{"a":1,"a":1}',
    '{"a":1,"\\u0061":2}',
    '{"b":{"a":1,"c":[{"a":1}],"a" \n:2}}',
    '[{"":1,"":2}]',
    '{"__proto__":1,"__proto__":2}',
  ])('§4: %s has a name twice', (text) => {
    expect(codeOf(text)).toBe('invalid_json')
  })

  test.each([
    '{"a":{"a":"a"},"b":["a","a",{"a":1},{"a":2}]}',
    '{"a":"\\"a\\":","b":"{\\"b\\":1,\\"b\\":2}"}',
    '{"a\\\\":1,"a":2}',
  ])('%s has none', (text) => {
    expect(parseJson(text)).toEqual(JSON.parse(text))
  })

  test('32 levels, not 33, also when they are never closed', () => {
    const nested = (depth: number) => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`
    expect(codeOf(nested(32))).toBeUndefined()
    expect(codeOf(`[${nested(32)}]`)).toBe('invalid_request')
    expect(codeOf('['.repeat(4 << 20))).toBe('invalid_request')
  })

  test('reads what JSON.parse reads, unless a name comes twice or it is too deep', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        expect(parseJson(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  test('is never surprised: any text gives a value or one of the two codes', () => {
    const token = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      ':',
      ',',
      '\\',
      'a',
      '\\u0061',
      ' ',
      '1',
      'null',
      '\ud800',
    )
    fc.assert(
      fc.property(fc.array(token, { maxLength: 60 }), (tokens) => {
        expect([undefined, 'invalid_json', 'invalid_request']).toContain(codeOf(tokens.join('')))
      }),
      { numRuns: 2000 },
    )
  })
})

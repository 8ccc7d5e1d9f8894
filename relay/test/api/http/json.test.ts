// JSON from outside (RFC 8259): what is refused, with which code, and that hostile text costs little.

import { describe, expect, test } from 'vitest'
import fc from '../../../../tools/fast-check.ts'
import { atDepth } from '../../../../tools/test-depth.ts'
import { memberWithin, parseJson } from '../../../src/core/api/http/json.ts'
import { RelayError } from '../../../src/core/errors.ts'

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

  test('32 levels, not 33, also when they are never closed (protocol §2.2.3)', () => {
    const nested = (depth: number) => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`
    expect(codeOf(nested(32))).toBeUndefined()
    expect(codeOf(`[${nested(32)}]`)).toBe('invalid_request')
    expect(codeOf('['.repeat(4 << 20))).toBe('invalid_request')
  })

  test('512 values, not 513, whatever they are (protocol §2.2.3)', () => {
    expect(codeOf(`[${Array(511).fill(1)}]`)).toBeUndefined()
    expect(codeOf(`[${Array(512).fill(1)}]`)).toBe('invalid_request')
    const members = Array.from({ length: 600 }, (_, i) => `"${i}":1`)
    expect(codeOf(`{${members.slice(0, 511)}}`)).toBeUndefined()
    expect(codeOf(`{${members}}`)).toBe('invalid_request')
    expect(codeOf(`[${'[],'.repeat(300)}1]`)).toBe('invalid_request')
    expect(codeOf(`["${',{['.repeat(1000)}"]`)).toBeUndefined()
  })

  test('reads what JSON.parse reads, unless a name comes twice or it is too deep', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (text) => {
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
      { numRuns: atDepth(2000, 400) },
    )
  })
})

describe('memberWithin', () => {
  test.each([
    ['{"token":"abc"', 'abc'],
    ['{"token" : "abc","x":{"y":[', 'abc'],
    ['{"a":{"token":"no"},"b":["token","no"],"\\u0074oken":"a\\"b\\\\","c', 'a"b\\'],
    ['{"a":"{\\"token\\":\\"no\\"}","token":"yes"}', 'yes'],
  ])('of %s is found', (text, value) => {
    expect(memberWithin(text, 'token')).toBe(value)
  })

  test.each([
    '',
    '{"token":"abc',
    '{"token":"abc\\"',
    '{"token":',
    '{"token"',
    '{"token":1,"x":"abc"}',
    '{"token":{"x":"abc"}}',
    '{"x":"token"}',
    '["token","abc"]',
    '[{"token":"abc"}]',
    '{"a":{"token":"abc"}}',
  ])('of %s is not there', (text) => {
    expect(memberWithin(text, 'token')).toBeUndefined()
  })

  test('reads what JSON.parse reads', () => {
    const value = fc.oneof(fc.string(), fc.jsonValue({ maxDepth: 2 }))
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('token', 'a', '"', '\\', 'token"'), value), (object) => {
        const own = Object.hasOwn(object, 'token') ? object.token : undefined
        expect(memberWithin(JSON.stringify(object), 'token')).toBe(typeof own === 'string' ? own : undefined)
      }),
    )
  })
})

// Which URLs in header fields are of the target's own origin, and what they become on either side.

import { describe, expect, test } from 'vitest'
import type { Field } from '../../src/semantics/fields.ts'
import { fieldsForTarget, fieldsForVisitor, type OriginView } from '../../src/semantics/origin-view.ts'

const visited = new URL('https://demo.example:4430/')
const address = new URL('http://localhost:3000/')
/** The target believes in its own address, in the visited host without TLS, and in a host that was chosen for it. */
const REWRITTEN: OriginView = { visited, address, believed: address }
const PLAIN: OriginView = { visited, address, believed: new URL('http://demo.example:4430') }
const PRESERVED: OriginView = { visited, address, believed: visited }
const CHOSEN: OriginView = { visited, address, believed: new URL('http://app.test') }

const toVisitor = (name: string, value: string, view = REWRITTEN): string | undefined =>
  fieldsForVisitor([[name, value]], view)[0]?.[1]
const toTarget = (field: Field, view = REWRITTEN): string => fieldsForTarget([field], view)[0]![1]

describe('a response', () => {
  test.each([
    ['location', 'http://localhost:3000/a?b#c', 'https://demo.example:4430/a?b#c'],
    ['location', 'https://localhost:3000', 'https://demo.example:4430'],
    ['location', 'HTTP://LOCALHOST:3000/A', 'https://demo.example:4430/A'],
    ['location', 'http://127.0.0.1:3000/', 'https://demo.example:4430/'],
    ['location', 'http://[::1]:3000/', 'https://demo.example:4430/'],
    ['location', '//localhost:3000/a', '//demo.example:4430/a'],
    ['content-location', 'http://localhost:3000/a', 'https://demo.example:4430/a'],
    ['refresh', '5; url=http://localhost:3000/a', '5; url=https://demo.example:4430/a'],
    ['refresh', '5;URL="http://localhost:3000/a"', '5;URL="https://demo.example:4430/a"'],
    ['refresh', '5; url=//localhost:3000/a', '5; url=//demo.example:4430/a'],
    [
      'link',
      '<http://localhost:3000/2>; rel="next", <https://cdn.example/a.css>; rel=preload, </b>; rel=prev',
      '<https://demo.example:4430/2>; rel="next", <https://cdn.example/a.css>; rel=preload, </b>; rel=prev',
    ],
    ['access-control-allow-origin', 'http://localhost:3000', 'https://demo.example:4430'],
    ['Location', 'http://localhost:3000/', 'https://demo.example:4430/'],
    ['sourcemap', 'http://localhost:3000/a.js.map', 'https://demo.example:4430/a.js.map'],
    [
      'content-security-policy',
      "default-src 'self'; connect-src ws://localhost:3000 http://localhost:3000;report-uri http://localhost:3000/r",
      "default-src 'self'; connect-src wss://demo.example:4430 https://demo.example:4430;report-uri https://demo.example:4430/r",
    ],
    [
      'www-authenticate',
      'Bearer realm="http://localhost:3000/token",service="registry"',
      'Bearer realm="https://demo.example:4430/token",service="registry"',
    ],
    ['hx-location', '{"path":"http://localhost:3000/a"}', '{"path":"https://demo.example:4430/a"}'],
  ])('%s: %s', (name, value, mapped) => {
    expect(toVisitor(name, value)).toBe(mapped)
  })

  test.each([
    ['location', '/a//b'],
    ['location', 'a?next=//localhost:3000/'],
    ['location', 'https://login.example/?redirect_uri=http://localhost:3000/cb'],
    ['location', 'http://localhost:3001/'],
    ['location', 'http://localhost.example:3000/'],
    ['location', 'http://localhost:3000@other.example/'],
    ['location', 'http://user@localhost:3000/'],
    ['location', 'xhttp://localhost:3000/'],
    ['location', 'http://other.example:3000/'],
    ['location', 'http://[nonsense/'],
    ['access-control-allow-origin', '*'],
    ['access-control-allow-origin', 'null'],
    ['access-control-allow-origin', 'https://other.example'],
    ['ETag', '"http://localhost:3000/"'],
  ])('%s: %s stays as it is', (name, value) => {
    expect(toVisitor(name, value)).toBe(value)
  })

  test.each([
    ['without TLS', 'http://demo.example:4430/a'],
    ['with the port of the target', 'http://demo.example:3000/a'],
    ['with no port', 'http://demo.example/a'],
    ['as it is', 'https://demo.example:4430/a'],
  ])('a target that knows the visited host names it %s', (_, value) => {
    for (const view of [PRESERVED, PLAIN])
      expect(toVisitor('location', value, view)).toBe('https://demo.example:4430/a')
  })

  test('a host that was chosen for the target is the target', () => {
    expect(toVisitor('location', 'http://app.test/a', CHOSEN)).toBe('https://demo.example:4430/a')
    expect(toVisitor('location', 'http://app.test:8080/a', CHOSEN)).toBe('http://app.test:8080/a')
  })

  test('other ways to the target are left out', () => {
    for (const name of ['alt-svc', 'Alt-Svc'])
      expect(fieldsForVisitor([[name, 'h3=":443"']], PRESERVED)).toEqual([])
  })

  test.each([
    ['a=http://localhost:3000', 'a=http://localhost:3000'],
    ['a=1; Path=/; Secure; HttpOnly', 'a=1; Path=/; Secure; HttpOnly'],
    ['a=1; Domain=localhost; Path=/', 'a=1; Path=/'],
    ['a=1; domain = .LOCALHOST', 'a=1'],
    ['a=1; Domain=127.0.0.1', 'a=1'],
    ['a=1; Domain=demo.example', 'a=1; Domain=demo.example'],
    ['a=1; Domain=.example', 'a=1; Domain=.example'],
    ['a=1; Domain=other.example', 'a=1; Domain=other.example'],
    ['a=1; SameSite=None', 'a=1; SameSite=None; Secure'],
    ['a=1; SameSite=None; Secure', 'a=1; SameSite=None; Secure'],
    ['a=1; SameSite=Lax', 'a=1; SameSite=Lax'],
  ])('Set-Cookie: %s', (value, mapped) => {
    expect(toVisitor('set-cookie', value)).toBe(mapped)
  })

  test('a Domain of the host that was chosen, or above it, goes', () => {
    expect(toVisitor('set-cookie', 'a=1; Domain=.app.test', CHOSEN)).toBe('a=1')
    expect(toVisitor('set-cookie', 'a=1; Domain=test', CHOSEN)).toBe('a=1')
  })
})

describe('a request', () => {
  test.each([
    ['origin', 'https://demo.example:4430', 'http://localhost:3000'],
    [
      'referer',
      'https://demo.example:4430/a?b=https://demo.example:4430/',
      'http://localhost:3000/a?b=https://demo.example:4430/',
    ],
    ['destination', 'https://demo.example:4430/b', 'http://localhost:3000/b'],
    ['if', '<https://demo.example:4430/a> (<urn:uuid:1>)', '<http://localhost:3000/a> (<urn:uuid:1>)'],
    ['hx-current-url', 'https://demo.example:4430/a', 'http://localhost:3000/a'],
  ])('%s: %s', (name, value, mapped) => {
    expect(toTarget([name, value])).toBe(mapped)
    expect(toTarget([name, value], PRESERVED)).toBe(value)
  })

  test.each([
    ['origin', 'null'],
    ['origin', 'https://other.example'],
    ['origin', 'http://demo.example:4430'],
    ['origin', 'https://demo.example'],
    ['origin', 'http://localhost:3000'],
    ['referer', 'https://other.example/?https://demo.example:4430/'],
    ['cookie', 'a=https://demo.example:4430/'],
    ['authorization', 'OAuth realm="https://demo.example:4430/"'],
  ])('%s: %s stays as it is', (name, value) => {
    expect(toTarget([name, value])).toBe(value)
  })

  test('a target that does not know of TLS gets the visited host without it', () => {
    expect(toTarget(['origin', 'https://demo.example:4430'], PLAIN)).toBe('http://demo.example:4430')
  })
})

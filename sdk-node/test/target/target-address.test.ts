// Targets as users write them.

import { describe, expect, it } from 'vitest'
import { parseHttpTarget, parseTcpTarget } from '../../src/target/target-address.ts'

describe('a TCP target', () => {
  it.each([
    [25565, 'localhost', 25565],
    ['25565', 'localhost', 25565],
    ['db.internal:5432', 'db.internal', 5432],
    ['127.0.0.1:1', '127.0.0.1', 1],
    ['[::1]:65535', '::1', 65535],
  ])('%s', (target, host, port) => {
    expect(parseTcpTarget('tcp', target)).toEqual({ host, port })
  })

  it.each([
    0,
    65536,
    -1,
    1.5,
    '',
    'host',
    'host:',
    ':80',
    'host:0',
    'host:80/path',
    'a:b@host:80',
    'tcp://host:80',
    '::1',
  ])('%s is none', (target) => {
    expect(() => parseTcpTarget('tcp', target)).toThrow(expect.objectContaining({ code: 'invalid_option' }))
  })
})

describe('an HTTP target', () => {
  it.each([
    [3000, 'http://localhost:3000/'],
    ['3000', 'http://localhost:3000/'],
    ['127.0.0.1:8080', 'http://127.0.0.1:8080/'],
    ['[::1]:8080', 'http://[::1]:8080/'],
    ['https://a.example/base', 'https://a.example/base'],
    [new URL('http://a.example'), 'http://a.example/'],
    ['grpc://50051', 'h2c://localhost:50051/'],
    ['grpc://127.0.0.1:50051', 'h2c://127.0.0.1:50051/'],
    ['h2c://a.example/base', 'h2c://a.example/base'],
    [new URL('h2c://[::1]:8080'), 'h2c://[::1]:8080/'],
    ['unix:/run/app.sock', 'unix:/run/app.sock'],
    ['unix:///run/app.sock', 'unix:/run/app.sock'],
    [new URL('unix:/run/a b'), 'unix:/run/a%20b'],
    ['unix:/run/100%', 'unix:/run/100%25'],
  ])('%s', (target, url) => {
    expect(parseHttpTarget(target).href).toBe(url)
  })

  it.each([
    0,
    'http://',
    'ftp://a.example',
    'http://a:b@a.example',
    'http://a.example?q',
    'http://a.example#f',
    'a b',
    'a.example',
    'grpc://',
    'h2c://a:b@a.example',
    'unix:',
    'unix:app.sock',
    'unix:/run/a?b',
    'unix://host/app.sock',
  ])('%s is none', (target) => {
    expect(() => parseHttpTarget(target)).toThrow(expect.objectContaining({ code: 'invalid_option' }))
  })
})

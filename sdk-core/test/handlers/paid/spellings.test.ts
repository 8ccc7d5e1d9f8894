// No spelling of a path goes around its price: each server's way to read a path is tried against each way to write it.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { atDepth } from '../../../../tools/test-depth.ts'
import { parsePrices } from '../../../src/handlers/paid/options.ts'
import { smallestUnits } from '../../../src/payer/amount.ts'

/** Seed of the targets that `npm test` tries. */
const SEED = 402

const PAY_TO = `0x${'5e'.repeat(32)}`

function pricesOf(...paths: string[]) {
  const routes = paths.map((path, at) => ({ path, amount: `0.0${at + 1}` }))
  return parsePrices({ payTo: PAY_TO, network: 'sui:testnet', routes })
}

/** @returns the amount that a visitor would pay who requests this target */
function priceOf(prices: ReturnType<typeof pricesOf>, target: string): string {
  const found = prices.find(new URL(`https://a.example${target}`).pathname, 'GET', () => undefined)
  return typeof found === 'string' ? found : found.amount
}

describe('one path in other words', () => {
  const prices = pricesOf('/shop/paid', '/caf\u00e9')

  test.each([
    '/shop/paid',
    '/shop/paid/',
    '/shop/paid/below',
    '/shop/paid?x=/free',
    '//shop//paid',
    '/./shop/./paid',
    '/x/../shop/paid',
    '/shop/%70aid',
    '/shop/%70%61%69%64',
    '/%73hop%2fpaid',
    '/%73hop%2Fpaid',
    '/shop%5cpaid',
    '/shop\\paid',
    '/shop;a=b/paid;c',
    '/shop/paid;/x',
    '/shop/x/..;/paid',
    '/shop/x/..;a=b/paid',
    '/shop/%2e/paid',
    '/x/%2e%2e/shop/paid',
    '/x/..%2fshop/paid',
    '/x%2f..%2fshop%2fpaid',
    '/x/%252e%252e/shop/paid',
    '/shop/%2570aid',
    '/shop/%25252525252570aid',
    '/SHOP/Paid',
    '/shop/paid.',
    '/shop/paid%20',
    '/shop/paid%00.txt',
    '/shop/paid%3f',
    '/shop/paid%23x',
    '/shop/paid/%252e%252e/free',
    '/shop/paid/..%2ffree',
    '/shop/%ef%bd%90aid',
    '/shop//%252e%252e/shop/paid',
    '/shop/x//%252e%252e/%252e%252e/paid',
  ])('%s has the price', (target) => expect(priceOf(prices, target)).toBe('0.01'))

  test.each(['/caf\u00e9', '/caf%C3%A9', '/caf%c3%a9/x', '/CAF%C3%89', '/cafe%CC%81'])('%s, too', (target) =>
    expect(priceOf(prices, target)).toBe('0.02'),
  )

  test.each([
    '/',
    '/shop',
    '/shop/',
    '/shop/paids',
    '/shop/pai',
    '/shop/free',
    '/shop/paid/../free',
    '/paid',
    '/x?/shop/paid',
  ])('%s is free', (target) => expect(priceOf(prices, target)).toBe('free'))

  test('a path that may mean more than anybody means is refused', () => {
    expect(priceOf(prices, `/shop/%${'25'.repeat(100)}70aid`)).toBe('unclear')
  })

  test('a path that may mean two things costs what the dearer one does', () => {
    const dear = pricesOf('/a', '/a/dear')
    expect(priceOf(dear, '/a/x')).toBe('0.01')
    expect(priceOf(dear, '/a/x%2f..%2fdear')).toBe('0.02')
    expect(priceOf(dear, '/a/dear%2f..%2fx')).toBe('0.02')
    expect(priceOf(pricesOf('/'), '/anything%2f..')).toBe('0.01')
  })

  test('a long path is judged in a moment', () => {
    for (const part of ['/%252e%252e', '/a;b', '//', '%2f', '/%25'])
      expect(priceOf(prices, `/shop/paid${part.repeat(10_000)}`)).toMatch(/0\.01|unclear/)
  })
})

/** The ways in which servers read a path, each from the path that a parsed URL has. */
const decode = (path: string): string => {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
const READERS: ((path: string) => string)[] = [
  (path) => path,
  decode,
  (path) => decode(decode(path)),
  (path) => decode(path).replaceAll('\\', '/'),
  (path) => path.replace(/;[^/]*/g, ''),
  (path) => decode(path.replace(/;[^/]*/g, '')),
  (path) => decode(path).replace(/;[^/]*/g, ''),
  (path) => decode(path).replace(/\0.*$/, ''),
]
const CLEANERS: ((path: string) => string)[] = [
  (path) => path,
  (path) => path.replace(/\/+/g, '/'),
  (path) =>
    new URL(
      `https://a.example${path.startsWith('/') ? path.replaceAll('?', '%3F').replaceAll('#', '%23') : '/'}`,
    ).pathname,
  (path) =>
    new URL(
      `https://a.example/${path.replace(/^\/+/, '').replace(/\/+/g, '/').replaceAll('?', '%3F').replaceAll('#', '%23')}`,
    ).pathname,
  (path) => path.toLowerCase(),
]

test('whatever a server makes of a path, it is paid when it leads to the paid one', () => {
  const prices = pricesOf('/a/paid')
  const part = fc.constantFrom(
    ...[
      'a',
      'paid',
      'PAID',
      '%70aid',
      '%2570aid',
      'b',
      '/',
      '//',
      '%2f',
      '%5c',
      '\\',
      '.',
      '..',
      '%2e',
      '%2e%2e',
      '%252e%252e',
    ],
    ...[
      ';',
      ';x=/',
      '%3b',
      '%00',
      '%20',
      '%',
      '%2',
      '%25',
      '?',
      '/a/',
      '/paid',
      '..;',
      '%2F..%2F',
      '%c3%a9',
      '%ff',
    ],
  )
  const target = fc.array(part, { maxLength: 12 }).map((parts) => `/${parts.join('')}`)
  const around = fc.tuple(target, target).map(([before, after]) => `${before}/a/paid${after}`)
  fc.assert(
    fc.property(fc.oneof(target, around), (requested) => {
      const url = URL.parse(`https://a.example${requested}`)
      if (!url) return
      const isPaid = prices.find(url.pathname, 'GET', () => undefined) !== 'free'
      for (const read of READERS)
        for (const clean of CLEANERS) {
          const served = clean(read(url.pathname)).replace(/\/+$/, '')
          const leads = served === '/a/paid' || served.startsWith('/a/paid/')
          expect(!leads || isPaid, `${requested} is served as ${served}`).toBe(true)
        }
    }),
    // The slice draws the same targets each time; the whole depth looks for new ones.
    { numRuns: atDepth(50_000, 1_500), ...atDepth({}, { seed: SEED }) },
  )
})

describe('amounts', () => {
  test.each([
    ['0.01', '10000'],
    ['1', '1000000'],
    ['1.5', '1500000'],
    ['0.123456', '123456'],
    ['18446744073709.551615', '18446744073709551615'],
  ])('%s is %s units', (text, units) => expect(smallestUnits(text, 6)).toBe(units))

  test.each([
    '',
    '.5',
    '5.',
    '-1',
    '+1',
    '1e3',
    '01',
    '0',
    '0.000000',
    '1,5',
    ' 1',
    '0x1',
    'NaN',
    'Infinity',
    '0.0000001',
    '0.0100000',
    '18446744073709.551616',
    '9'.repeat(1_000_000),
    0.01 as never,
    undefined as never,
  ])('%s is refused', (text) => expect(() => smallestUnits(text, 6)).toThrow('amount'))

  test('back and forth, nothing is lost', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }), (units) => {
        const digits = String(units).padStart(7, '0')
        expect(smallestUnits(`${digits.slice(0, -6)}.${digits.slice(-6)}`, 6)).toBe(String(units))
      }),
      { numRuns: atDepth(10_000, 500) },
    )
  })
})

describe('options that are wrong', () => {
  const right = { payTo: PAY_TO, network: 'sui:testnet' as const, routes: [{ path: '/a', amount: '0.01' }] }
  test.each([
    ['payTo', { payTo: '0x5e' }],
    ['payTo', { payTo: 'somebody' }],
    ['payTo', { payTo: undefined as never }],
    ['network', { network: 'eip155:1' as never }],
    ['routes', { routes: [] }],
    ['routes', { routes: undefined as never }],
    ['path', { routes: [{ path: 'a', amount: '1' }] }],
    ['path', { routes: [{ path: '/a/../b', amount: '1' }] }],
    ['path', { routes: [{ path: '/a?b', amount: '1' }] }],
    ['path', { routes: [{ path: '/a/*', amount: '1' }] }],
    ['/x402/prepare', { routes: [{ path: '/x402/prepare', amount: '1' }] }],
    ['methods', { routes: [{ path: '/a', methods: [], amount: '1' }] }],
    ['methods', { routes: [{ path: '/a', methods: ['GET POST'], amount: '1' }] }],
    [
      'two prices',
      {
        routes: [
          { path: '/a', amount: '1' },
          { path: '/A/', methods: ['GET'], amount: '2' },
        ],
      },
    ],
    ['amount', { routes: [{ path: '/a', amount: 0.01 as never }] }],
    ['0.01', { routes: [{ path: '/a', amount: '0.001' }] }],
  ])('%s', (name, change) => {
    expect(() => parsePrices({ ...right, ...change })).toThrow(
      expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining(name) }),
    )
  })
})

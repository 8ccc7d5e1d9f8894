// HPACK against the examples of RFC 7541 Appendix C, against Node's own, and against those who send it broken or large.

import { describe, expect, test } from 'vitest'
import { HpackDecoder } from '../../src/hpack/decoder.ts'
import { HpackEncoder } from '../../src/hpack/encoder.ts'
import { HpackError } from '../../src/hpack/error.ts'
import { decodeHuffman } from '../../src/hpack/huffman.ts'
import { HEADER_TABLE_BYTES } from '../../src/hpack/limits.ts'

type Fields = [name: string, value: string][]

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'))

function decode(decoder: HpackDecoder, block: Uint8Array): Fields {
  const fields: Fields = []
  decoder.decode(block, (name, value) => fields.push([name, value]))
  return fields
}

/** The octets from 0 to 255 as hpack 4.2.0, of Python's Hyper project, encodes them. */
const EVERY_OCTET: string =
  '/8f//Y///+L///4////k///+X///5v///n///+j//+r////z///6f///q////9///+v///7P///t///+7///7////w////H///8v' +
  '////v///z////T///9f///2////f///+P///5////r///+1P4/n/r/yr8f6/r+/n/f0suwAImWm3HXn7n3//IP+/8/9Q3b1/BhxY' +
  '8mXNn0adWvZt3b+HHl+c/3/3//w/+f/kX/9HGSQss05unWimo9faxCbe/jz69//7/n/7/9////z//m//9L//n//6P//T//9T//1f' +
  '//s//+t//9r//7f//3P//u///e///r//+////Z///b//6///4P//7v//w///i///H//+T//uf/+x//+X//2f//zf//n///v//9r/' +
  '/u//9P//t//+5//+j//9P//e///V//7v//vf//4f/9///3///1///s//8H//h//+D//xf//t//+H//93//7//+r//4v//j//+T//' +
  '+H//y///N///H///g///4f/+v//j//8///8v//o///2f//8X///H///yf//97///v///8v//+P//+3//l//4///+b///wf//+H//' +
  '/n///8X//+X//k//8v///R///0////7///4////J///5f/+z///P//t//83//0//+f//0f//z//+r//6///93//+////T///X///' +
  'q///p///1///+b///s///7f///P///6P///T///6v///X////3///s///9v///u///9////w///7vw=='

const FIRST: Fields = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':path', '/'],
  [':authority', 'www.example.com'],
]
const SECOND: Fields = [...FIRST, ['cache-control', 'no-cache']]
const THIRD: Fields = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/index.html'],
  [':authority', 'www.example.com'],
  ['custom-key', 'custom-value'],
]

describe('RFC 7541 Appendix C', () => {
  test.each<[string, string, Fields]>([
    [
      'C.2.1 literal with indexing',
      '400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572',
      [['custom-key', 'custom-header']],
    ],
    ['C.2.2 literal without indexing', '040c 2f73 616d 706c 652f 7061 7468', [[':path', '/sample/path']]],
    ['C.2.3 literal never indexed', '1008 7061 7373 776f 7264 0673 6563 7265 74', [['password', 'secret']]],
    ['C.2.4 indexed', '82', [[':method', 'GET']]],
  ])('%s', (_, block, fields) => {
    expect(decode(new HpackDecoder(), hex(block))).toEqual(fields)
  })

  test.each([
    [
      'C.3 requests without Huffman coding',
      [
        '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
        '8286 84be 5808 6e6f 2d63 6163 6865',
        '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
      ],
    ],
    [
      'C.4 requests with Huffman coding',
      [
        '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
        '8286 84be 5886 a8eb 1064 9cbf',
        '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
      ],
    ],
  ])('%s', (_, blocks) => {
    const decoder = new HpackDecoder()
    expect(blocks.map((block) => decode(decoder, hex(block)))).toEqual([FIRST, SECOND, THIRD])
  })

  test('C.6 responses with Huffman coding, in a table of 256 octets that evicts', () => {
    const decoder = new HpackDecoder()
    // The table's size is agreed on outside of the example: 3fe101 makes it 256.
    const first =
      '3fe101 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3'
    const date: Fields[number] = ['date', 'Mon, 21 Oct 2013 20:13:21 GMT']
    const location: Fields[number] = ['location', 'https://www.example.com']
    expect(decode(decoder, hex(first))).toEqual([
      [':status', '302'],
      ['cache-control', 'private'],
      date,
      location,
    ])
    expect(decode(decoder, hex('4883 640e ffc1 c0bf'))).toEqual([
      [':status', '307'],
      ['cache-control', 'private'],
      date,
      location,
    ])
    const third =
      '88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07'
    expect(decode(decoder, hex(third))).toEqual([
      [':status', '200'],
      ['cache-control', 'private'],
      ['date', 'Mon, 21 Oct 2013 20:13:22 GMT'],
      location,
      ['content-encoding', 'gzip'],
      ['set-cookie', 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'],
    ])
    // Three entries are left in it: the fourth was evicted.
    expect(decode(decoder, hex('be bf c0')).map(([name]) => name)).toEqual([
      'set-cookie',
      'content-encoding',
      'date',
    ])
    expect(() => decode(decoder, hex('c1'))).toThrow('header block')
  })
})

describe('a block that cannot be decoded', () => {
  test.each([
    ['index 0', '80'],
    ['an index behind the tables', 'be'],
    ['a name behind the tables', '7e 01 61'],
    ['an integer that does not end', 'ff ffff ffff ffff ff7f'],
    ['an integer that is cut', 'ff'],
    ['a string that is cut', '00 05 6162'],
    ['a literal without a value', '00 01 61'],
    ['§4.2 a table size behind a field', '82 3f00'],
    ['§4.2 a table larger than was allowed', '3f e2 1f'],
    ['§5.2 EOS in a string', '00 84 ffff fffc 00'],
    ['§5.2 padding of a whole octet', '00 82 1fff 00'],
    ['§5.2 padding of zeros', '00 81 18 00'],
  ])('%s', (_, block) => {
    expect(() => decode(new HpackDecoder(), hex(block))).toThrow(HpackError)
  })
})

test('§5.2 every octet in Huffman code', () => {
  const every = String.fromCharCode(...Array.from({ length: 256 }, (_, octet) => octet))
  expect(decodeHuffman(Buffer.from(EVERY_OCTET, 'base64'))).toBe(every)
  expect(decodeHuffman(new Uint8Array(0))).toBe('')
})

describe('§4.4 the table', () => {
  test('is emptied by an entry that does not fit, and that is no error', () => {
    const decoder = new HpackDecoder()
    decode(decoder, hex('4001 6101 62'))
    expect(decode(decoder, hex('be'))).toEqual([['a', 'b']])
    const long = 'x'.repeat(HEADER_TABLE_BYTES)
    const block = Buffer.concat([hex('4001 61 7f 81 1f'), Buffer.from(long)])
    expect(decode(decoder, block)).toEqual([['a', long]])
    expect(() => decode(decoder, hex('be'))).toThrow()
  })

  test('never holds more than its size, however much is put in', () => {
    const decoder = new HpackDecoder()
    // One octet and 32 of overhead: 124 of them fit into 4096, and have the indices 62 to 185.
    for (let i = 0; i < 1000; i++) decode(decoder, hex('4001 6100'))
    expect(decode(decoder, hex('ff 3a'))).toEqual([['a', '']])
    expect(() => decode(decoder, hex('ff 3b'))).toThrow('header block')
  })
})

describe('the encoder', () => {
  const response: Fields = [
    [':status', '200'],
    ['content-type', 'text/html'],
    ['x-custom', 'gr\xfc\xdfe'],
    ['content-length', '5'],
    ['set-cookie', 'a=b'],
  ]

  test('is understood, and what repeats takes an octet', () => {
    const encoder = new HpackEncoder()
    const decoder = new HpackDecoder()
    const first = encoder.encode(response)
    const second = encoder.encode(response)
    expect(decode(decoder, first)).toEqual(response)
    expect(decode(decoder, second)).toEqual(response)
    // Three are indexed; lengths and cookies are literals with an indexed name.
    expect(second.length).toBe(3 + 4 + 6)
  })

  test('§7.1.3 never puts a cookie into the table', () => {
    const [pattern] = new HpackEncoder().encode([['set-cookie', 'a=b']])
    expect(pattern! & 0xf0).toBe(0x10)
  })

  test('§4.2 tells of a smaller table, and uses none when there is none', () => {
    const encoder = new HpackEncoder()
    const decoder = new HpackDecoder()
    decode(decoder, encoder.encode(response))
    encoder.resize(0)
    encoder.resize(100)
    const block = encoder.encode(response)
    expect([...block.subarray(0, 3)]).toEqual([0x20, 0x3f, 69])
    expect(decode(decoder, block)).toEqual(response)
    encoder.resize(0)
    for (let i = 0; i < 2; i++) expect(decode(decoder, encoder.encode(response))).toEqual(response)
    expect(encoder.encode(response)[0]).toBe(0x88)
  })

  test('and the decoder agree about the table, whatever goes through it', () => {
    const encoder = new HpackEncoder()
    const decoder = new HpackDecoder()
    for (let i = 0; i < 500; i++) {
      const fields: Fields = [
        [`x-${i % 37}`, 'v'.repeat(i % 61)],
        ['x-same', 'same'],
        [`y-${i % 11}`, String(i)],
      ]
      expect(decode(decoder, encoder.encode(fields))).toEqual(fields)
      if (i % 100 === 99) encoder.resize(4096 - i)
    }
  })
})

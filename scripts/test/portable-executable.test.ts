// The signature of a Windows executable is taken off whole: PE/COFF, "Optional Header Data Directories".
import { expect, test } from 'vitest'
import { stripSignature } from '../binaries/portable-executable.ts'

const HEADER_AT = 128
const CODE_BYTES = 512
const CERTIFICATES = HEADER_AT + 24 + 112 + 4 * 8

/** @returns a header of a 64-bit program without sections, and `signature` behind it */
function executable(signature: Buffer, more: Buffer = Buffer.alloc(0)): Buffer {
  const code = Buffer.alloc(CODE_BYTES)
  code.write('MZ')
  code.writeUInt32LE(HEADER_AT, 0x3c)
  code.write('PE\0\0', HEADER_AT)
  code.writeUInt16LE(0x20b, HEADER_AT + 24)
  code.writeUInt32LE(signature.length > 0 ? CODE_BYTES : 0, CERTIFICATES)
  code.writeUInt32LE(signature.length, CERTIFICATES + 4)
  return Buffer.concat([code, signature, more])
}

test('a signature is gone with its entry, and nothing else is', () => {
  expect(stripSignature(executable(Buffer.alloc(64, 1)))).toEqual(executable(Buffer.alloc(0)))
})

test('a file without one stays as it is', () => {
  expect(stripSignature(executable(Buffer.alloc(0)))).toEqual(executable(Buffer.alloc(0)))
})

test.each([
  [
    'the signature of the Windows executable is not at its end',
    executable(Buffer.alloc(64), Buffer.alloc(1)),
  ],
  ['this is no 64-bit Windows executable', Buffer.alloc(CODE_BYTES)],
])('%s', (message, file) => {
  expect(() => stripSignature(file)).toThrow(message)
})

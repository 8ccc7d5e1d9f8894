// The ad hoc signature of Mach-O files, read back as xnu reads it: osfmk/kern/cs_blobs.h, mach-o/loader.h.
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { signMachO } from '../binaries/mach-o/sign.ts'

const PAGE_BYTES = 4096
const COMMANDS_AT = 32
const LINKEDIT_BYTES = 100

/** @returns a file with `__TEXT` of two pages, whose one section begins at `section`, and `__LINKEDIT` after it */
function machO(section: number = PAGE_BYTES, textOffset = 0): Buffer {
  const file = Buffer.alloc(2 * PAGE_BYTES + LINKEDIT_BYTES, 0xa5)
  file.fill(0, 0, PAGE_BYTES)
  const commands = [
    segment('__TEXT', textOffset, 2 * PAGE_BYTES, section),
    segment('__LINKEDIT', 2 * PAGE_BYTES, LINKEDIT_BYTES),
  ]
  const bytes = Buffer.concat(commands)
  for (const [index, number] of [0xfeedfacf, 0x0100000c, 0, 2, commands.length, bytes.length].entries())
    file.writeUInt32LE(number, index * 4)
  bytes.copy(file, COMMANDS_AT)
  return file
}

function segment(name: string, offset: number, bytes: number, section?: number): Buffer {
  const command = Buffer.alloc(72 + (section === undefined ? 0 : 80))
  command.writeUInt32LE(0x19, 0)
  command.writeUInt32LE(command.length, 4)
  command.write(name, 8, 'latin1')
  command.writeBigUInt64LE(BigInt(offset), 40)
  command.writeBigUInt64LE(BigInt(bytes), 48)
  if (section === undefined) return command
  command.writeUInt32LE(1, 64)
  command.writeUInt32LE(section, 72 + 48)
  return command
}

/** @returns the load commands, each from its `cmd` on */
function commandsOf(file: Buffer): Buffer[] {
  const found: Buffer[] = []
  let at = COMMANDS_AT
  for (let left = file.readUInt32LE(16); left > 0; left -= 1) {
    const length = file.readUInt32LE(at + 4)
    found.push(file.subarray(at, at + length))
    at += length
  }
  expect(at - COMMANDS_AT).toBe(file.readUInt32LE(20))
  return found
}

describe('a signed file', () => {
  const signed = signMachO(machO(), 'svc')
  const [, linkedit, signature] = commandsOf(signed)
  const codeBytes = signature!.readUInt32LE(8)
  const blob = signed.subarray(codeBytes)
  const directory = blob.subarray(blob.readUInt32BE(16))

  test('has a load command for the signature, which is the end of __LINKEDIT and of the file', () => {
    expect(signature!.readUInt32LE(0)).toBe(0x1d)
    expect(codeBytes % 16).toBe(0)
    expect(codeBytes + signature!.readUInt32LE(12)).toBe(signed.length)
    expect(Number(linkedit!.readBigUInt64LE(40) + linkedit!.readBigUInt64LE(48))).toBe(signed.length)
    expect(Number(linkedit!.readBigUInt64LE(32))).toBeGreaterThanOrEqual(signed.length - 2 * PAGE_BYTES)
  })

  test('has one CodeDirectory, ad hoc, under the name of the program', () => {
    expect([blob.readUInt32BE(0), blob.readUInt32BE(4), blob.readUInt32BE(8)]).toEqual([
      0xfade0cc0,
      blob.length,
      1,
    ])
    expect(directory.readUInt32BE(0)).toBe(0xfade0c02)
    expect(directory.readUInt32BE(4)).toBe(directory.length)
    expect(directory.readUInt32BE(12) & 0x2).toBe(0x2)
    expect(directory.toString('latin1', directory.readUInt32BE(20)).split('\0')[0]).toBe('svc')
    // codeLimit; hash size, SHA-256, no platform, pages of 2 ** 12
    expect(directory.readUInt32BE(32)).toBe(codeBytes)
    expect([...directory.subarray(36, 40)]).toEqual([32, 2, 0, 12])
    // the executable segment: __TEXT, of a main program
    expect([64, 72, 80].map((at) => Number(directory.readBigUInt64BE(at)))).toEqual([0, 2 * PAGE_BYTES, 1])
  })

  test('has the hash of each page before the signature', () => {
    const hashes = directory.subarray(directory.readUInt32BE(16))
    const pages = [0, 1, 2].map((page) =>
      signed.subarray(page * PAGE_BYTES, Math.min((page + 1) * PAGE_BYTES, codeBytes)),
    )
    expect(directory.readUInt32BE(28)).toBe(pages.length)
    expect(hashes).toEqual(Buffer.concat(pages.map((page) => createHash('sha256').update(page).digest())))
  })

  test('is the same when it is signed again', () => {
    expect(signMachO(signed, 'svc').equals(signed)).toBe(true)
  })
})

test.each([
  ['this is no 64-bit Mach-O file', Buffer.from('MZ')],
  ['has no room for a signature', machO(COMMANDS_AT + 72 + 80 + 72 + 15)],
  ['__LINKEDIT is not the last segment', machO(PAGE_BYTES, 3 * PAGE_BYTES)],
])('%s', (message, file) => {
  expect(() => signMachO(file, 'svc')).toThrow(message)
})

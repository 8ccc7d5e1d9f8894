// Makes the embedded signature of a Mach-O file: a SuperBlob with one CodeDirectory, ad hoc, as Apple's linker does
// (xnu, osfmk/kern/cs_blobs.h). All numbers of it are big-endian.
import { createHash } from 'node:crypto'

const MAGIC_SUPER_BLOB = 0xfade0cc0
const MAGIC_CODE_DIRECTORY = 0xfade0c02
const SLOT_CODE_DIRECTORY = 0
/** The version whose header ends with the executable segment. */
const VERSION = 0x20400
/** CS_ADHOC and CS_LINKER_SIGNED: there is no certificate, and tools may replace the signature. */
const FLAGS = 0x2 | 0x20000
const HASH_TYPE_SHA256 = 2
const HASH_BYTES = 32
const PAGE_BITS = 12
const PAGE_BYTES: number = 1 << PAGE_BITS
/** CS_EXECSEG_MAIN_BINARY. */
const EXECUTABLE_SEGMENT_MAIN = 1n
const SUPER_BLOB_BYTES = 20
const CODE_DIRECTORY_BYTES = 88

interface SignedCode {
  /** Name of the program. */
  identifier: string
  /** Bytes of the file before the signature. */
  codeBytes: number
  /** Place of the segment `__TEXT` in the file. */
  text: { offset: bigint; bytes: bigint }
}

/** @returns how long the signature will be; code of any content has one of the same length */
export function signatureBytes({ identifier, codeBytes }: SignedCode): number {
  return hashOffset(identifier) + SUPER_BLOB_BYTES + Math.ceil(codeBytes / PAGE_BYTES) * HASH_BYTES
}

/** @param code the file up to its signature, as it will be */
export function makeSignature(signed: SignedCode, code: Uint8Array): Buffer {
  const { identifier, codeBytes, text } = signed
  const signature = Buffer.alloc(signatureBytes(signed))
  const write = (numbers: number[], at: number): void => {
    for (const [index, number] of numbers.entries()) signature.writeUInt32BE(number, at + index * 4)
  }
  write([MAGIC_SUPER_BLOB, signature.length, 1, SLOT_CODE_DIRECTORY, SUPER_BLOB_BYTES], 0)
  const directory = signature.subarray(SUPER_BLOB_BYTES)
  const slots = Math.ceil(codeBytes / PAGE_BYTES)
  const header = [
    MAGIC_CODE_DIRECTORY,
    directory.length,
    VERSION,
    FLAGS,
    hashOffset(identifier),
    CODE_DIRECTORY_BYTES,
    0,
    slots,
    codeBytes,
  ]
  write(header, SUPER_BLOB_BYTES)
  const afterHeader = header.length * 4
  directory.set([HASH_BYTES, HASH_TYPE_SHA256, 0, PAGE_BITS], afterHeader)
  directory.writeBigUInt64BE(text.offset, CODE_DIRECTORY_BYTES - 24)
  directory.writeBigUInt64BE(text.bytes, CODE_DIRECTORY_BYTES - 16)
  directory.writeBigUInt64BE(EXECUTABLE_SEGMENT_MAIN, CODE_DIRECTORY_BYTES - 8)
  directory.write(`${identifier}\0`, CODE_DIRECTORY_BYTES, 'latin1')
  for (let slot = 0; slot < slots; slot += 1) {
    const page = code.subarray(slot * PAGE_BYTES, Math.min((slot + 1) * PAGE_BYTES, codeBytes))
    directory.set(createHash('sha256').update(page).digest(), hashOffset(identifier) + slot * HASH_BYTES)
  }
  return signature
}

/** @returns where the hashes begin in the CodeDirectory */
function hashOffset(identifier: string): number {
  return CODE_DIRECTORY_BYTES + Buffer.byteLength(identifier, 'latin1') + 1
}

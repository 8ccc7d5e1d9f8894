// Signs a Mach-O executable ad hoc, which macOS wants of each program on Apple silicon: no tool of npm or Debian can.
import { makeSignature, signatureBytes } from './code-directory.ts'
import { LINKEDIT, LOAD_COMMAND, type MachO, readMachO, TEXT } from './read-mach-o.ts'

/** Signatures begin at a multiple of it. */
const SIGNATURE_ALIGNMENT = 16
/** Bytes of a page on Apple silicon, the largest of the platforms. */
const VM_PAGE_BYTES = 0x4000
/** LC_CODE_SIGNATURE: cmd, cmdsize, dataoff, datasize. */
const SIGNATURE_COMMAND_BYTES = 16

/** Offsets in a header, and in the commands. */
const AT = {
  commandCount: 16,
  commandBytes: 20,
  vmBytes: 32,
  fileBytes: 48,
  dataOffset: 8,
  dataBytes: 12,
} as const

/**
 * Replaces the signature, or adds one.
 * @param identifier name of the program
 * @throws Error when the file is no 64-bit Mach-O executable, or has no room for another load command
 */
export function signMachO(file: Buffer, identifier: string): Buffer {
  const macho = readMachO(file)
  const linkedit = segment(macho, LINKEDIT)
  const codeBytes = macho.signature?.dataOffset ?? aligned(file.length, SIGNATURE_ALIGNMENT)
  const { fileOffset, fileBytes } = segment(macho, TEXT)
  const signed = { identifier, codeBytes, text: { offset: fileOffset, bytes: fileBytes } }
  const length = signatureBytes(signed)
  const result = Buffer.alloc(codeBytes + length)
  file.copy(result, 0, 0, Math.min(codeBytes, file.length))
  const at = macho.signature?.at ?? addCommand(macho, result)
  result.writeUInt32LE(codeBytes, at + AT.dataOffset)
  result.writeUInt32LE(length, at + AT.dataBytes)
  const linkeditBytes = BigInt(result.length) - linkedit.fileOffset
  result.writeBigUInt64LE(linkeditBytes, linkedit.at + AT.fileBytes)
  result.writeBigUInt64LE(BigInt(aligned(Number(linkeditBytes), VM_PAGE_BYTES)), linkedit.at + AT.vmBytes)
  makeSignature(signed, result).copy(result, codeBytes)
  return result
}

/** @returns where the command LC_CODE_SIGNATURE is */
function addCommand(macho: MachO, result: Buffer): number {
  if (macho.commandsEnd + SIGNATURE_COMMAND_BYTES > macho.firstSection)
    throw new Error('the Mach-O file has no room for a signature')
  result.writeUInt32LE(macho.commandCount + 1, AT.commandCount)
  result.writeUInt32LE(result.readUInt32LE(AT.commandBytes) + SIGNATURE_COMMAND_BYTES, AT.commandBytes)
  result.writeUInt32LE(LOAD_COMMAND.codeSignature, macho.commandsEnd)
  result.writeUInt32LE(SIGNATURE_COMMAND_BYTES, macho.commandsEnd + 4)
  return macho.commandsEnd
}

function segment(macho: MachO, name: string): MachO['segments'][number] {
  const found = macho.segments.find((one) => one.name === name)
  if (found === undefined) throw new Error(`the Mach-O file has no segment ${name}`)
  const isLast = macho.segments.every(({ fileOffset }) => fileOffset <= found.fileOffset)
  if (name === LINKEDIT && !isLast) throw new Error(`${LINKEDIT} is not the last segment of the Mach-O file`)
  return found
}

function aligned(bytes: number, alignment: number): number {
  return Math.ceil(bytes / alignment) * alignment
}

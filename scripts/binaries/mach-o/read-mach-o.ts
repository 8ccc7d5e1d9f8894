// Reads the header and the load commands of a 64-bit Mach-O file (Apple's mach-o/loader.h).

const MAGIC_64 = 0xfeedfacf
const HEADER_BYTES = 32
const SEGMENT_HEADER_BYTES = 72
const SECTION_BYTES = 80
const COMMAND_BYTES_MIN = 8

export const LOAD_COMMAND = { segment64: 0x19, codeSignature: 0x1d } as const
export const TEXT = '__TEXT'
export const LINKEDIT = '__LINKEDIT'

interface Segment {
  name: string
  /** Where the load command is. */
  at: number
  fileOffset: bigint
  fileBytes: bigint
}

export interface MachO {
  commandCount: number
  /** Where the load commands end. */
  commandsEnd: number
  /** Where the first section begins, which bounds the load commands. */
  firstSection: number
  segments: Segment[]
  /** Place of the load command, and of what it names; undefined when the file is not signed. */
  signature: { at: number; dataOffset: number } | undefined
}

/** @throws Error when it is no such file */
export function readMachO(file: Buffer): MachO {
  if (file.length < HEADER_BYTES || file.readUInt32LE(0) !== MAGIC_64)
    throw new Error('this is no 64-bit Mach-O file')
  const commandCount = file.readUInt32LE(16)
  const commandsEnd = HEADER_BYTES + file.readUInt32LE(20)
  const macho: MachO = {
    commandCount,
    commandsEnd,
    firstSection: file.length,
    segments: [],
    signature: undefined,
  }
  let at = HEADER_BYTES
  for (let index = 0; index < commandCount; index += 1) {
    const command = file.readUInt32LE(at)
    const bytes = file.readUInt32LE(at + 4)
    if (bytes < COMMAND_BYTES_MIN || at + bytes > commandsEnd)
      throw new Error('a load command of the Mach-O file is longer than all of them')
    if (command === LOAD_COMMAND.segment64) readSegment(macho, file, at)
    if (command === LOAD_COMMAND.codeSignature)
      macho.signature = { at, dataOffset: file.readUInt32LE(at + 8) }
    at += bytes
  }
  return macho
}

function readSegment(macho: MachO, file: Buffer, at: number): void {
  const [name = ''] = file.toString('latin1', at + 8, at + 24).split('\0', 1)
  macho.segments.push({
    name,
    at,
    fileOffset: file.readBigUInt64LE(at + 40),
    fileBytes: file.readBigUInt64LE(at + 48),
  })
  const sections = file.readUInt32LE(at + 64)
  for (let index = 0; index < sections; index += 1) {
    const offset = file.readUInt32LE(at + SEGMENT_HEADER_BYTES + index * SECTION_BYTES + 48)
    // Sections without content, such as __bss, have no place in the file.
    if (offset > 0) macho.firstSection = Math.min(macho.firstSection, offset)
  }
}
